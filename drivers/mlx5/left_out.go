package mlx5

// kernelObjects is how many objects some part of the kernel has on a device.
type kernelObjects struct{ pds, keys, cqs, qps int }

func (o kernelObjects) plus(p kernelObjects) kernelObjects {
	return kernelObjects{o.pds + p.pds, o.keys + p.keys, o.cqs + p.cqs, o.qps + p.qps}
}

// What parts of the kernel that are left out here have when users come. All that
// users see of it is that the numbers are taken.
var (
	// ib_mad and the queue pair for management: ib_mad_port_open in
	// drivers/infiniband/core/mad.c, mlx5_ib_create_gsi in
	// drivers/infiniband/hw/mlx5/gsi.c.
	management = kernelObjects{pds: 1, keys: 1, cqs: 2, qps: 1}
	// The key of all memory that goes with a protection domain of the kernel, for the
	// domain in devResources: __ib_alloc_pd in drivers/infiniband/core/verbs.c.
	domainKey = kernelObjects{keys: 1}
	// The queue pair that changes keys, of a device whose lists it cannot write:
	// mlx5r_umr_init and mlx5r_umr_resource_init in drivers/infiniband/hw/mlx5/umr.c.
	keyChanges = kernelObjects{pds: 1, keys: 1, cqs: 1, qps: 1}
)

// networkDriver is what the Ethernet driver has: mlx5e_create_mdev_resources in
// drivers/net/ethernet/mellanox/mlx5/core/en_common.c; in en_main.c
// mlx5e_open_drop_rq and, for each completion vector, mlx5e_open_queues.
func networkDriver(vectors int) kernelObjects {
	return kernelObjects{pds: 1, keys: 1, cqs: 1 + 5*vectors}
}

// leftOut returns how many objects are left out, as hw.Config has it, and how many
// keys mlx5_ib has made of those.
func (c *Config) leftOut() (taken map[string]int, keys int) {
	ib := management.plus(domainKey)
	if c.Profile.Cap("umr_modify_entity_size_disabled") != 0 {
		ib = ib.plus(keyChanges)
	}
	all := ib.plus(networkDriver(c.CompVectors))
	return map[string]int{"pd": all.pds, "mkey": all.keys, "cq": all.cqs, "qp": all.qps}, ib.keys
}
