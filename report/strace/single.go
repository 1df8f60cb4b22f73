package strace

import (
	"encoding/json"

	"uverbsim/report/decode"
)

// Value returns a value as it is written in a line.
func Value(v *decode.Value, opts Options) string {
	p := printer{opts: &opts}
	p.value(v)
	return string(p.b)
}

// ValueJSON returns a value as it is written in a line of JSON.
func ValueJSON(v *decode.Value) json.RawMessage {
	p := printer{opts: new(Options)}
	p.jsonValue(v)
	return p.b
}
