package kernel

import "uverbsim/spec"

// Sizes of the kernel's struct bundle_priv on a 64-bit machine, in bytes.
const (
	bundlePrivSize   = 464 // whole, with its buffer of 32 u64
	bundlePrivHead   = 208 // up to that buffer
	sizeofUverbsAttr = 16
	bundleSpare      = 256 // what a bundle on the heap has beyond its need
	bundleAlign      = 8   // of its size
)

// finalize computes what the parser needs of each method and builds the tables
// of write() commands. It models uapi_finalize.
func (api *API) finalize() error {
	maxWrite, maxWriteEx := uint32(0), uint32(0)
	for key, elm := range api.radix.From(0) {
		switch {
		case spec.IsIoctlMethod(key):
			if err := api.finalizeMethod(elm.Method, key); err != nil {
				return err
			}
		case spec.IsWriteMethod(key):
			maxWrite = max(maxWrite, key&spec.AttrKeyMask)
		case spec.IsWriteExMethod(key):
			maxWriteEx = max(maxWriteEx, key&spec.AttrKeyMask)
		}
	}
	api.notsupp = WriteMethod{handler: notsuppHandler, symbol: "ib_uverbs_notsupp"}
	api.writeMethods = make([]*WriteMethod, maxWrite+1)
	api.writeExMethods = make([]*WriteMethod, maxWriteEx+1)
	for _, table := range [][]*WriteMethod{api.writeMethods, api.writeExMethods} {
		for i := range table {
			table[i] = &api.notsupp
		}
	}
	for key, elm := range api.radix.From(0) {
		switch {
		case spec.IsWriteMethod(key):
			api.writeMethods[key&spec.AttrKeyMask] = elm.Write
		case spec.IsWriteExMethod(key):
			api.writeExMethods[key&spec.AttrKeyMask] = elm.Write
		}
	}
	return nil
}

// finalizeMethod models uapi_finalize_ioctl_method and
// uapi_compute_bundle_size.
func (api *API) finalizeMethod(m *IoctlMethod, methodKey uint32) error {
	m.DestroyBkey = spec.BkeyLen
	m.KeyBitmapLen = 1
	single := ""
	for key, elm := range api.radix.From(spec.KeyAttrsStart(methodKey)) {
		if spec.KeyAttrToIoctlMethod(key) != methodKey {
			break
		}
		a := elm.Attr
		bkey := spec.BkeyAttr(key & spec.AttrKeyMask)
		if a.Mandatory {
			m.Mandatory |= 1 << bkey
		}
		m.HasUdata = m.HasUdata || a.Udata
		if a.IsObject() && (a.Access == spec.AccessNew || a.Access == spec.AccessDestroy) {
			if single != "" {
				return badDefinition("method %s makes or destroys two objects, %s and %s", m.Name, single, a.Name)
			}
			if !a.Mandatory {
				return badDefinition("method %s: attribute %s makes or destroys an object and is not mandatory", m.Name, a.Name)
			}
			single = a.Name
			if a.Access == spec.AccessDestroy {
				m.DestroyBkey = uint8(bkey)
			}
		}
		m.KeyBitmapLen = max(m.KeyBitmapLen, uint8(bkey+1))
		m.NumAttrs++
	}
	size := bundlePrivHead + sizeofUverbsAttr*int(m.KeyBitmapLen) + spec.IoctlAttrSize*int(m.NumAttrs)
	m.UseStack = size <= bundlePrivSize
	m.BundleSize = uint16((size + bundleSpare + bundleAlign - 1) &^ (bundleAlign - 1))
	return nil
}
