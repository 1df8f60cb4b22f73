package spec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/watchdog"
)

func TestKeyLayout(t *testing.T) {
	l := loadFacts(t).KeyLayout
	require.Equal(t, "0xffffffff", l["key_err"])
	for name, got := range map[string]int{
		"attr_bits": AttrKeyBits, "method_bits": MethodKeyBits, "object_bits": ObjKeyBits,
		"ns_flag": NSFlag, "bkey_len": BkeyLen,
		"core_objects_max": ObjKeyNumCore, "driver_objects_max": ObjKeyNumDriver,
		"core_method_slots": MethodKeyNumCore, "driver_methods_max": MethodKeyNumDriver,
		"write_method": MethodIsWrite >> MethodKeyShift, "write_ex_method": MethodIsWriteEx >> MethodKeyShift,
	} {
		require.EqualValues(t, l[name], got, name)
	}
	// How many ids the functions accept, counted.
	count := func(key func(uint16) uint32, ns int) (n int) {
		for id := range NSFlag {
			if key(uint16(ns|id)) != KeyErr {
				n++
			}
		}
		return n
	}
	require.EqualValues(t, l["core_objects_max"], count(KeyObj, 0))
	require.EqualValues(t, l["driver_objects_max"], count(KeyObj, NSFlag))
	require.EqualValues(t, l["core_method_ids_max"], count(KeyIoctlMethod, 0))
	require.EqualValues(t, l["driver_methods_max"], count(KeyIoctlMethod, NSFlag))
	require.EqualValues(t, l["core_attr_ids_max"], count(KeyAttr, 0))
	require.EqualValues(t, l["driver_attr_ids_max"], count(KeyAttr, NSFlag))
}

func TestKeysAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		name string
		got  uint32
		want uint32
	}{
		{"first object", KeyObj(0), 0},
		{"last core object", KeyObj(19), 19 << 11},
		{"beyond core objects", KeyObj(20), KeyErr},
		{"first driver object", KeyObj(0x1000), 20 << 11},
		{"last driver object", KeyObj(0x100B), 31 << 11},
		{"beyond driver objects", KeyObj(0x100C), KeyErr},
		{"a namespace that does not exist", KeyObj(0x2000), KeyErr},
		{"two namespace bits", KeyObj(0x3000), KeyErr},
		{"highest id", KeyObj(0xFFFF), KeyErr},
		{"first method", KeyIoctlMethod(0), 1 << 6},
		{"last core method", KeyIoctlMethod(20), 21 << 6},
		{"beyond core methods", KeyIoctlMethod(21), KeyErr},
		{"first driver method", KeyIoctlMethod(0x1000), 22 << 6},
		{"last driver method", KeyIoctlMethod(0x1007), 29 << 6},
		{"beyond driver methods", KeyIoctlMethod(0x1008), KeyErr},
		{"highest method id", KeyIoctlMethod(0xFFFF), KeyErr},
		{"first attribute", KeyAttr(0), 1},
		{"last core attribute", KeyAttr(31), 63},
		{"beyond core attributes", KeyAttr(32), KeyErr},
		{"first driver attribute", KeyAttr(0x1000), 2},
		{"last driver attribute", KeyAttr(0x101E), 62},
		{"beyond driver attributes", KeyAttr(0x101F), KeyErr},
		{"highest attribute id", KeyAttr(0xFFFF), KeyErr},
		{"first write", KeyWriteMethod(0), 30 << 6},
		{"last write", KeyWriteMethod(63), 30<<6 | 63},
		{"beyond writes", KeyWriteMethod(64), KeyErr},
		{"first extended write", KeyWriteExMethod(0), 31 << 6},
		{"beyond extended writes", KeyWriteExMethod(64), KeyErr},
		{"first attribute of a method", KeyAttrsStart(3<<11 | 1<<6), 3<<11 | 1<<6 | 1},
		{"method of an attribute", KeyAttrToIoctlMethod(3<<11 | 1<<6 | 5), 3<<11 | 1<<6},
	} {
		require.Equal(t, c.want, c.got, c.name)
	}
}

// Each kind of key is one kind only, whatever the key.
func TestKindsOfKeysExclude(t *testing.T) {
	for key := range uint32(1 << (ObjKeyBits + ObjKeyShift)) {
		n := 0
		for _, is := range []func(uint32) bool{IsObject, IsIoctlMethod, IsWriteMethod, IsWriteExMethod, IsAttr} {
			if is(key) {
				n++
			}
		}
		// An attribute of no method is no kind at all.
		if key&MethodKeyMask == 0 && key&AttrKeyMask != 0 {
			require.Zero(t, n, "%#x", key)
		} else {
			require.Equal(t, 1, n, "%#x", key)
		}
	}
}

func TestFormatKey(t *testing.T) {
	for want, key := range map[string]uint32{
		"obj 3":                         KeyObj(UVERBS_OBJECT_CQ),
		"obj 0x1001":                    KeyObj(MLX5_IB_OBJECT_DEVX_OBJ),
		"obj 3 method 0":                KeyObj(UVERBS_OBJECT_CQ) | KeyIoctlMethod(UVERBS_METHOD_CQ_CREATE),
		"obj 3 method 0 attr 7":         KeyObj(UVERBS_OBJECT_CQ) | KeyIoctlMethod(UVERBS_METHOD_CQ_CREATE) | KeyAttr(UVERBS_ATTR_CREATE_CQ_EVENT_FD),
		"obj 3 method 0 attr 0x1000":    KeyObj(UVERBS_OBJECT_CQ) | KeyIoctlMethod(UVERBS_METHOD_CQ_CREATE) | KeyAttr(UVERBS_ATTR_UHW_IN),
		"obj 14 method 0x1001":          KeyObj(UVERBS_OBJECT_DM) | KeyIoctlMethod(MLX5_IB_METHOD_DM_QUERY),
		"obj 3 write 18":                KeyObj(UVERBS_OBJECT_CQ) | KeyWriteMethod(IB_USER_VERBS_CMD_CREATE_CQ),
		"obj 3 write_ex 57":             KeyObj(UVERBS_OBJECT_CQ) | KeyWriteExMethod(IB_USER_VERBS_EX_CMD_MODIFY_CQ),
		"error":                         KeyObj(20) | KeyIoctlMethod(0),
		"obj 0 attr key 5 of no method": KeyObj(0) | 5,
	} {
		require.Equal(t, want, FormatKey(key))
	}
}

// FuzzKeys: what the ids are is lost only where a function says KeyErr, and a
// key with an error in it is beyond every key that can exist.
func FuzzKeys(f *testing.F) {
	f.Add(uint16(3), uint16(0), uint16(0))
	f.Add(uint16(19), uint16(20), uint16(31))
	f.Add(uint16(0x100B), uint16(0x1007), uint16(0x101E))
	f.Add(uint16(0xFFFF), uint16(0xFFFF), uint16(0xFFFF))
	f.Fuzz(func(t *testing.T, object, method, attr uint16) {
		watchdog.On(t)
		o, m, a := KeyObj(object), KeyIoctlMethod(method), KeyAttr(attr)
		key := o | m | a
		if o == KeyErr || m == KeyErr || a == KeyErr {
			if key>>(ObjKeyShift+ObjKeyBits) == 0 {
				t.Fatalf("%#x %#x %#x: key %#x could be stored", object, method, attr, key)
			}
			if FormatKey(key) != "error" {
				t.Fatalf("%#x: %s", key, FormatKey(key))
			}
			return
		}
		if ObjectID(key) != object || MethodID(key) != method || AttrID(key) != attr {
			t.Fatalf("%#x %#x %#x came back as %s", object, method, attr, FormatKey(key))
		}
		if !IsObject(o) || !IsIoctlMethod(o|m) || !IsAttr(key) {
			t.Fatalf("%#x %#x %#x: key %#x is not of the kind it was made as", object, method, attr, key)
		}
		if KeyAttrToIoctlMethod(key) != o|m {
			t.Fatalf("%#x: method key %#x", key, KeyAttrToIoctlMethod(key))
		}
		if b := BkeyAttr(a); b >= BkeyLen || AttrID(b+1) != attr {
			t.Fatalf("attribute %#x has bit %d", attr, b)
		}
	})
}

// FuzzIoctlHdr: decoding loses no bit.
func FuzzIoctlHdr(f *testing.F) {
	f.Add([]byte("0123456789abcdef01234567"), []byte("0123456789abcdef"))
	f.Fuzz(func(t *testing.T, hdr, attr []byte) {
		watchdog.On(t)
		var hb, hb2 [IoctlHdrSize]byte
		copy(hb[:], hdr)
		h := DecodeIoctlHdr(&hb)
		h.Encode(&hb2)
		if hb != hb2 {
			t.Fatalf("%x became %x", hb, hb2)
		}
		var ab, ab2 [IoctlAttrSize]byte
		copy(ab[:], attr)
		a := DecodeIoctlAttr(&ab)
		a.Encode(&ab2)
		if ab != ab2 {
			t.Fatalf("%x became %x", ab, ab2)
		}
	})
}
