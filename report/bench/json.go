package bench

import (
	"encoding/json"
	"io"
	"math"
)

// The form of a report in JSON.
type (
	jsonReport struct {
		Go         string       `json:"go"`
		Arch       string       `json:"arch"`
		Processors int          `json:"gomaxprocs"`
		Processor  string       `json:"processor,omitempty"`
		Memory     uint64       `json:"memory_bytes,omitempty"`
		Loop       jsonLoop     `json:"calibration_loop"`
		Node       *jsonNode    `json:"node,omitempty"`
		Calls      []jsonResult `json:"calls"`
	}
	jsonLoop struct {
		Version int `json:"version"`
		jsonTimes
	}
	jsonNode struct {
		Path   string `json:"path"`
		Device string `json:"device"`
		Driver string `json:"driver"`
		Kernel string `json:"kernel"`
	}
	jsonResult struct {
		Driver string     `json:"driver"`
		Call   string     `json:"call"`
		Model  jsonTimes  `json:"model"`
		Node   *jsonTimes `json:"node,omitempty"`
		Ratio  *jsonRatio `json:"model_to_node,omitempty"`
		Loops  float64    `json:"loops"`
		Allocs float64    `json:"allocs"`
		Bytes  float64    `json:"bytes"`
	}
	jsonTimes struct {
		Least  float64 `json:"least_ns"`
		Median float64 `json:"median_ns"`
	}
	jsonRatio struct {
		OfLeast float64 `json:"of_least"`
		Median  float64 `json:"median"`
		Low     float64 `json:"low"`
		High    float64 `json:"high"`
	}
)

// JSON writes a report as one object.
func JSON(w io.Writer, r *Report) error {
	out := jsonReport{Go: r.Go, Arch: r.Arch, Processors: r.Processors, Processor: r.Processor, Memory: r.Memory,
		Loop: jsonLoop{LoopVersion, r.Loop().json()}, Calls: []jsonResult{}}
	if r.Node != nil {
		n := jsonNode(*r.Node)
		out.Node = &n
	}
	for i := range r.Results {
		res := &r.Results[i]
		j := jsonResult{Driver: res.Driver, Call: res.Call, Model: res.Model.json(), Loops: round(res.Loops(), 1000),
			Allocs: round(res.Allocs, 10), Bytes: round(res.Bytes, 10)}
		if r.Node != nil {
			node, ratio := res.Node.json(), res.Model.Over(res.Node)
			j.Node = &node
			j.Ratio = &jsonRatio{round(ratio.OfLeast, 10000), round(ratio.Median, 10000), round(ratio.Low, 10000), round(ratio.High, 10000)}
		}
		out.Calls = append(out.Calls, j)
	}
	return encode(w, &out)
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (t Times) json() jsonTimes { return jsonTimes{round(t.Least(), 10), round(t.Median(), 10)} }

// round keeps so many parts of one: no measurement is better than that.
func round(f, parts float64) float64 { return math.Round(f*parts) / parts }
