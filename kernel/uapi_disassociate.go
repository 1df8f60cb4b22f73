package kernel

import (
	"uverbsim/spec"
	"uverbsim/trace"
)

// disassociatePre takes away the driver's handlers, so that no new call runs
// into the driver. It models uverbs_disassociate_api_pre.
func (api *API) disassociatePre(t *trace.Task) {
	for key, elm := range api.radix.From(0) {
		if spec.IsIoctlMethod(key) && elm.Method.DriverMethod {
			t.Point(trace.Word, "store", "handler", trace.Writes, &elm.Method.handler)
			elm.Method.handler.Store(nil)
		}
	}
}

// disassociate forgets what may lie in the driver's memory. It models
// uverbs_disassociate_api; the members of enums need no forgetting here, since
// their methods have lost their handlers.
func (api *API) disassociate(t *trace.Task) {
	for key, elm := range api.radix.From(0) {
		if spec.IsObject(key) && elm.Object.Type != nil {
			elm.Object.Type.Disassociate(t)
		}
	}
}
