package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// The contexts in the memory keys' commands.
var (
	mkeyIn     = ifc.Must("create_mkey_in").Field("memory_key_mkey_entry")
	mkeyOut    = ifc.Must("query_mkey_out").Field("memory_key_mkey_entry")
	mkeyNumber = ifc.Must("create_mkey_out").Field("mkey_index")
)

// mkey is a memory key: its context (mkc) as it was given.
type mkey struct{ ctx []byte }

func createMKey(d *Device, c *command) *refusal {
	n, r := d.add(kindMKey, c.uid, &mkey{append([]byte(nil), mkeyIn.Bytes(c.in)...)})
	if r != nil {
		return r
	}
	mkeyNumber.Set(c.out, uint64(n))
	return nil
}

func queryMKey(d *Device, c *command) *refusal {
	o, ok := d.find(kindMKey, c.number(kindMKey, 8), c.uid, toRead)
	if !ok {
		return noSuchObject
	}
	copy(mkeyOut.Bytes(c.out), o.as.(*mkey).ctx)
	return nil
}
