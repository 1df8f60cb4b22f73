package rules

import (
	"encoding/json"
	"io"

	"uverbsim/rule"
)

// JSON prints rules as JSON, one object a line; see [Record].
func JSON(w io.Writer, es []*Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range es {
		if err := enc.Encode(e.Record()); err != nil {
			return err
		}
	}
	return nil
}

// Record is a rule as JSON has it.
type Record struct {
	ID    string `json:"id"`    // area/slug
	Area  string `json:"area"`  // what stands before the slash
	Errno string `json:"errno"` // by name
	Code  int    `json:"code"`  // its number on amd64
	Func  string `json:"func"`  // the kernel's function that makes the check
	File  string `json:"file"`  // its file, from the root of the kernel tree
	Why   string `json:"why"`
	Do    string `json:"do"`
	// Cases is how many recorded cases show the rule, Shown the first few of
	// them.
	Cases int            `json:"cases"`
	Shown []RecordedCase `json:"shown,omitempty"`
	// NoCase says why there are none.
	NoCase *NoCase `json:"no_case,omitempty"`
}

// RecordedCase is a case as JSON has it.
type RecordedCase struct {
	Name string `json:"name"`
	File string `json:"file"` // from the root of the project
}

// NoCase is a reason as JSON has it.
type NoCase struct {
	Kind   string `json:"kind"` // the name of a Kind
	Reason string `json:"reason"`
}

// Record returns what JSON says of the rule.
func (e *Entry) Record() Record {
	r := Record{ID: e.ID, Area: AreaOf(e.ID), Errno: rule.ErrnoName(e.Errno), Code: int(e.Errno),
		Func: e.Func, File: e.File, Why: e.Why, Do: e.Do, Cases: e.Count}
	for _, c := range e.Cases {
		r.Shown = append(r.Shown, RecordedCase{c.Name, c.Path()})
	}
	if e.Reason != nil {
		r.NoCase = &NoCase{e.Reason.Kind, e.Reason.Text}
	}
	return r
}
