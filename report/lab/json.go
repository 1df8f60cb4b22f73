package lab

import (
	"encoding/json"
	"io"
	"math"
)

// The form of a report in JSON.
type (
	jsonReport struct {
		Experiment   string      `json:"experiment"`
		Question     string      `json:"question"`
		Experimental string      `json:"experimental,omitempty"`
		Counts       []jsonTable `json:"counts"`
		Found        []string    `json:"found"`
		Times        []jsonTable `json:"times,omitempty"`
		CrossingNS   float64     `json:"crossing_ns,omitempty"`
		Kernel       []jsonFact  `json:"kernel"`
	}
	jsonTable struct {
		Title string           `json:"title"`
		Rows  []map[string]any `json:"rows"`
		Notes []string         `json:"notes,omitempty"`
	}
	jsonFact struct {
		Text  string `json:"text"`
		Where string `json:"where"`
	}
)

// JSON writes a report as one object. The keys of a row are "name" and those of
// its table's columns.
func JSON(w io.Writer, r *Report) error {
	out := jsonReport{Experiment: r.Experiment, Question: r.Question, Experimental: r.Experimental,
		Counts: jsonTables(r.Counts), Found: r.Found, Times: jsonTables(r.Times), Kernel: []jsonFact{}}
	if r.Crossing != nil {
		out.CrossingNS = tenths(r.Crossing.Nanoseconds)
	}
	for _, f := range r.Kernel {
		out.Kernel = append(out.Kernel, jsonFact(f))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(&out)
}

func jsonTables(ts []Table) []jsonTable {
	var out []jsonTable
	for _, t := range ts {
		jt := jsonTable{Title: t.Title, Notes: t.Notes}
		for _, r := range t.Rows {
			row := map[string]any{"name": r.Name}
			for i, c := range t.Columns {
				v := r.Values[i]
				if f, ok := v.(float64); ok {
					v = tenths(f)
				}
				row[c.Key] = v
			}
			jt.Rows = append(jt.Rows, row)
		}
		out = append(out, jt)
	}
	return out
}

// tenths rounds: no measurement is better than that.
func tenths(f float64) float64 { return math.Round(f*10) / 10 }
