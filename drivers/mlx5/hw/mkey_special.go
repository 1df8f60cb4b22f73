package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// The keys that every device has, by their numbers in the answer of
// QUERY_SPECIAL_CONTEXTS. They are of no domain, and give local access only.
var specialKeys = []struct {
	number     ifc.Field
	privileged bool
	key        *mkey
}{
	// The null memory region of users: writes are lost, reads give zeros.
	{ifc.Must("query_special_contexts_out").Field("dump_fill_mkey"), false,
		&mkey{mode: modeDrop, everything: true, rights: localRead | localWrite}},
	// What the driver has in place of memory that is to be paged in: it never is.
	{ifc.Must("query_special_contexts_out").Field("null_mkey"), false,
		&mkey{mode: modeAbsent, everything: true, rights: localRead | localWrite}},
	// The reserved local key: all of the bus, for the driver's own queue pairs.
	{ifc.Must("query_special_contexts_out").Field("resd_lkey"), true,
		&mkey{mode: modePA, everything: true, rights: localRead | localWrite}},
}

// special finds such a key for a user, nil if it is none that he may use. The
// key that ends a scatter list is none to reach memory with.
func (d *Device) special(key uint32, privileged bool) *mkey {
	numbers := d.cfg.Profile.image("query_special_contexts_out")
	for _, s := range specialKeys {
		if uint64(key) == s.number.Get(numbers) && key != 0 && (privileged || !s.privileged) {
			return s.key
		}
	}
	return nil
}
