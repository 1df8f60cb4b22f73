package kernel

import "uverbsim/spec"

// disassociatePre takes away the driver's handlers, so that no new call runs
// into the driver. It models uverbs_disassociate_api_pre.
func (api *API) disassociatePre() {
	for key, elm := range api.radix.From(0) {
		if spec.IsIoctlMethod(key) && elm.Method.DriverMethod {
			elm.Method.handler.Store(nil)
		}
	}
}

// disassociate forgets what may lie in the driver's memory. It models
// uverbs_disassociate_api; the members of enums need no forgetting here, since
// their methods have lost their handlers.
func (api *API) disassociate() {
	for key, elm := range api.radix.From(0) {
		if spec.IsObject(key) && elm.Object.Type != nil {
			elm.Object.Type.Disassociate()
		}
	}
}
