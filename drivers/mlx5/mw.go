package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// mwType2 is IB_MW_TYPE_2.
const mwType2 = 2

// mwRespSize is the length of the answer: comp_mask and response_length.
const mwRespSize = 8

// allocMW makes a memory window: a key for pieces of other keys' memory. It
// models mlx5_ib_alloc_mw in drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-mw/…, mlx5-odp/key-no-memory, mlx5-cmd/….
func (d *Device) allocMW(mw *core.MW, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_alloc_mw").Leave()
	var req spec.Mlx5AllocMW
	buf := spec.Bytes(&req)
	if !udata.CopyFrom(buf[:min(udata.InLen, uint64(len(buf)))]) {
		return rule.MLX5MWRequestFault
	}
	if req.CompMask != 0 || req.Reserved1 != 0 || req.Reserved2 != 0 {
		return rule.MLX5MWReserved
	}
	if n := uint64(len(buf)); udata.InLen > n && !udata.IsCleared(n, udata.InLen-n) {
		return rule.MLX5MWTail
	}
	if t.Fail(trace.Alloc, "create_mkey_in") {
		return rule.MLX5MWNoMemory
	}
	key, err := d.createMWKey(t, mw, mwEntries(req.NumKlms))
	if err != nil {
		return err
	}
	resp := make([]byte, mwRespSize)
	n := min(udata.OutLen, mwRespSize)
	le.PutUint32(resp[4:], uint32(n))
	if n > 0 && !udata.CopyTo(resp[:n]) {
		d.destroyMkey(t, key) // as the kernel does
		return rule.MLX5MWResponseFault
	}
	k, err := d.odpKeys.store(t, odpKey{key: key, entries: mwEntries(req.NumKlms)})
	if err != nil {
		d.destroyMkey(t, key) // as the kernel does
		return err
	}
	mw.RKey, mw.Driver = key, k
	return nil
}

// mwEntries is how many pieces a window has room for: as many as it is asked for,
// rounded up to 4.
func mwEntries(asked uint8) int { return int(alignUp(uint64(max(asked, 1)), 4)) }

// createMWKey makes the key of a window with room for that many pieces.
func (d *Device) createMWKey(t *trace.Task, mw *core.MW, entries int) (uint32, error) {
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 0)
	defer d.giveBack(m)
	ctx := mkcIn.Bytes(m.in)
	mkc.free.Set(ctx, 1)
	mkc.octos.Set(ctx, uint64(entries))
	mkc.pd.Set(ctx, uint64(toPD(mw.PD).pdn()))
	mkc.umrEn.Set(ctx, 1)
	mkc.lr.Set(ctx, 1)
	mkc.accessMode10.Set(ctx, mkcAccessModeKLMs)
	mkc.enRInval.Set(ctx, bit(mw.Type == mwType2))
	mkc.qpn.Set(ctx, mkcAnyQPN)
	return d.createMkey(t, m)
}

// deallocMW models mlx5_ib_dealloc_mw in drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-cmd/….
func (d *Device) deallocMW(task *process.Task, mw *core.MW) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_dealloc_mw").Leave()
	d.odpKeys.erase(mw.Driver.(*odpKey))
	return d.destroyMkey(t, mw.RKey)
}
