package kernel

import "uverbsim/spec"

// prune removes the objects, methods and commands that the device cannot do:
// those disabled while merging, and methods with a mandatory handle of an
// object that is not there. A removed object takes others along, so the scan
// is repeated until nothing changes. It models uapi_finalize_disable.
func (api *API) prune() {
	scanAgain := true
	for scanAgain {
		scanAgain = false
		start := uint32(0)
		for again := true; again; {
			again = false
			for key, elm := range api.radix.From(start) {
				last, restart := api.unusable(key, elm)
				if !restart {
					continue
				}
				first := key
				if spec.IsAttr(key) {
					first = spec.KeyAttrToIoctlMethod(key)
				}
				scanAgain = scanAgain || spec.IsObject(key)
				api.radix.DeleteRange(first, last)
				start, again = key, true
				break
			}
		}
	}
}

// unusable says whether the element has to go, and with it all up to last.
func (api *API) unusable(key uint32, elm *Elm) (last uint32, yes bool) {
	switch {
	case spec.IsObject(key):
		return key | spec.MethodKeyMask | spec.AttrKeyMask, elm.Object.disabled
	case spec.IsIoctlMethod(key):
		return key | spec.AttrKeyMask, elm.Method.disabled
	case spec.IsAttr(key):
		return key | spec.AttrKeyMask, elm.Attr.Mandatory && !api.hasObjectOf(elm.Attr)
	}
	return key, elm.Write.disabled
}

// hasObjectOf says whether the type that a handle attribute names is there; an
// attribute without one needs none.
func (api *API) hasObjectOf(a *spec.Attr) bool {
	if !a.IsObject() && a.Type != spec.TypeIDRsArray || a.Object == spec.IDRAnyObject {
		return true
	}
	elm := api.radix.Lookup(spec.KeyObj(a.Object))
	return elm != nil && !elm.Object.disabled
}
