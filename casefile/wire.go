package casefile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// VerbsIoctl is RDMA_VERBS_IOCTL (include/uapi/rdma/rdma_user_ioctl_cmds.h).
const VerbsIoctl = 0xc0181b01

// The sizes of struct ib_uverbs_ioctl_hdr and struct ib_uverbs_attr.
const (
	HdrLen  = 24
	AttrLen = 16
)

// Command is the number that ioctl(2) is called with.
func (a *Ioctl) Command(env Env) (uint32, error) {
	if a.Cmd.Kind == Absent {
		return VerbsIoctl, nil
	}
	r, err := a.Cmd.Resolve(env)
	return uint32(r.N), err
}

// Bytes lays out the header and the attributes for a case of that driver. It
// also returns what each attribute's data is, for Report and for the names of
// the buffers to report.
func (a *Ioctl) Bytes(driver string, env Env) ([]byte, []Resolved, error) {
	b := make([]byte, HdrLen+AttrLen*len(a.Attrs))
	if err := a.putHdr(b, driver, env); err != nil {
		return nil, nil, err
	}
	data := make([]Resolved, len(a.Attrs))
	for i := range a.Attrs {
		var err error
		if data[i], err = a.Attrs[i].put(b[HdrLen+AttrLen*i:], env); err != nil {
			return nil, nil, fmt.Errorf("attrs[%d]: %w", i, err)
		}
	}
	return b, data, nil
}

func (a *Ioctl) putHdr(b []byte, driver string, env Env) error {
	h := &a.Hdr
	reserved1, err := h.Reserved1.Resolve(env)
	if err != nil {
		return fmt.Errorf("reserved1: %w", err)
	}
	id, ok := DriverID(driver)
	if !ok {
		return fmt.Errorf("no driver %q", driver)
	}
	numAttrs, err := counted("num_attrs", h.NumAttrs, len(a.Attrs))
	if err != nil {
		return err
	}
	length, err := counted("length", h.Length, len(b))
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	le.PutUint16(b[0:], length)
	le.PutUint16(b[2:], h.ObjectID)
	le.PutUint16(b[4:], h.MethodID)
	le.PutUint16(b[6:], numAttrs)
	le.PutUint64(b[8:], reserved1.N)
	le.PutUint32(b[16:], or(h.DriverID, id))
	le.PutUint32(b[20:], or(h.Reserved2, 0))
	return nil
}

// counted is what the case gives for a member of the header, or else what was
// counted, which 16 bits must hold.
func counted(member string, given *uint16, n int) (uint16, error) {
	if given == nil && n > math.MaxUint16 {
		return 0, fmt.Errorf("%s would be %d, and has 16 bits: give one in hdr", member, n)
	}
	return or(given, uint16(n)), nil
}

// or is what p points to, or def.
func or[T any](p *T, def T) T {
	if p != nil {
		return *p
	}
	return def
}

func (at *Attr) put(b []byte, env Env) (Resolved, error) {
	le := binary.LittleEndian
	le.PutUint16(b[0:], at.ID)
	le.PutUint16(b[2:], or(at.Len, uint16(len(at.Inline))))
	le.PutUint16(b[4:], at.Flags)
	le.PutUint16(b[6:], at.Reserved)
	if at.Enum != nil {
		b[6], b[7] = *at.Enum, byte(at.Reserved)
	}
	if len(at.Inline) > 0 {
		copy(b[8:AttrLen], at.Inline)
		return Resolved{N: le.Uint64(b[8:])}, nil
	}
	r, err := at.Data.Resolve(env)
	le.PutUint64(b[8:], r.N)
	return r, err
}

// Report is the attributes of the answer: after is the header and attributes
// as they stand in user memory after the call, as far as they are mapped (nil
// when the case gave an address of its own), and data what Bytes returned. Data
// is reported as Any when an address or a descriptor was given and stands there
// unchanged, and when it was changed and a descriptor is saved from it.
func (a *Ioctl) Report(after []byte, data []Resolved) []GotAttr {
	fd := make([]bool, len(a.Attrs))
	for _, ref := range a.SaveFD {
		if ref.Buf == "" {
			fd[ref.Attr] = true
		}
	}
	var out []GotAttr
	for i := range a.Attrs {
		o := HdrLen + AttrLen*i
		if o+AttrLen > len(after) {
			break
		}
		n := binary.LittleEndian.Uint64(after[o+8:])
		g := GotAttr{Uint(uint64(binary.LittleEndian.Uint16(after[o+4:]))), "0x" + strconv.FormatUint(n, 16)}
		if changed := n != data[i].N; !changed && data[i].Varies || changed && fd[i] {
			g.Data = Any
		}
		out = append(out, g)
	}
	return out
}

// Bytes lays out what write(2) is given, and returns the buffers whose
// addresses are in it.
func (a *Write) Bytes(env Env) (b []byte, bufs []string, err error) {
	b = append([]byte{}, a.Data...)
	for i := range a.Reloc {
		r, err := a.Reloc[i].Value.Resolve(env)
		if err != nil {
			return nil, nil, fmt.Errorf("reloc[%d]: %w", i, err)
		}
		a.Reloc[i].put(b, r.N)
		bufs = append(bufs, r.Bufs...)
	}
	return b, bufs, nil
}
