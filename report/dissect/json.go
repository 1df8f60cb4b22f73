package dissect

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"uverbsim/report/strace"
	"uverbsim/rule"
	"uverbsim/spec"
)

type (
	dumpJSON struct {
		Call    string       `json:"call"`
		Driver  string       `json:"driver"`
		Others  []string     `json:"other_drivers,omitempty"`
		Kernel  string       `json:"kernel"`
		Object  string       `json:"object,omitempty"`
		Method  string       `json:"method,omitempty"`
		Shown   int          `json:"shown"`
		Len     int          `json:"len,omitempty"`
		Parts   []partJSON   `json:"parts"`
		Unsent  []string     `json:"unsent,omitempty"`
		Flaws   []flawJSON   `json:"flaws,omitempty"`
		Memory  []string     `json:"memory,omitempty"`
		Objects []objectJSON `json:"objects,omitempty"`
		Answer  *answerJSON  `json:"answer,omitempty"`
		Then    *answerJSON  `json:"then,omitempty"`
	}
	partJSON struct {
		Title  string      `json:"title"`
		Addr   string      `json:"addr,omitempty"`
		Takes  string      `json:"takes,omitempty"`
		Fields []fieldJSON `json:"fields,omitempty"`
		Flaws  []flawJSON  `json:"flaws,omitempty"`
		Behind []partJSON  `json:"behind,omitempty"`
	}
	fieldJSON struct {
		At    *int            `json:"at,omitempty"`
		Bytes string          `json:"bytes,omitempty"`
		Name  string          `json:"name,omitempty"`
		Value json.RawMessage `json:"value"`
		Says  string          `json:"says,omitempty"`
		Flaws []flawJSON      `json:"flaws,omitempty"`
	}
	objectJSON struct {
		Number int64  `json:"number"`
		FD     bool   `json:"fd,omitempty"`
		Type   string `json:"type,omitempty"`
		Where  string `json:"where"`
	}
	flawJSON struct {
		Rule  string `json:"rule,omitempty"`
		Errno string `json:"errno,omitempty"`
		Text  string `json:"text"`
	}
	answerJSON struct {
		On      string    `json:"on"`
		Cannot  string    `json:"cannot,omitempty"`
		Ret     string    `json:"ret,omitempty"`
		Errno   string    `json:"errno,omitempty"`
		Rule    *ruleJSON `json:"rule,omitempty"`
		Matters []string  `json:"matters,omitempty"`
		Seen    string    `json:"seen,omitempty"`
		Agrees  *bool     `json:"agrees,omitempty"`
	}
	ruleJSON struct {
		ID   string `json:"id"`
		Func string `json:"func"`
		File string `json:"file"`
		Why  string `json:"why"`
		Do   string `json:"do"`
	}
)

// JSON writes a dump as one JSON object:
//
//   - call is "ioctl" or "write"; driver and kernel are those that it is read
//     for, and other_drivers those that it might be for where nothing says for
//     which; object and method are the names of the user ABI; shown is how many
//     bytes of the request there are, len how many it says that it has;
//   - parts are the header, the attributes or the parts of a command. A part has
//     a title, takes (what an attribute may be), its fields, its flaws, and
//     behind, the parts that it points to, whose address is addr;
//   - a field has its offset at and its bytes, both absent for what is gathered
//     from several, its name, its value as `uverbsim run --strace --json` writes
//     values, and says, more about it;
//   - a flaw has the rule that refuses it with the errno, or only a text;
//   - unsent are the attributes that the method could have besides;
//   - memory is what is assumed of memory that the dump does not show, and
//     objects are those that the request names, with where it does;
//   - answer is what comes of it: on what it was played, cannot if it cannot be
//     told and why, ret, errno, rule, matters (of what is assumed, what
//     may have decided), and what a line of strace said, seen, with whether it
//     agrees; then is the same for a machine on which the objects were made.
func JSON(w io.Writer, d *Dump) error {
	j := dumpJSON{Call: d.Call.String(), Driver: d.Device.Name, Others: d.Device.Others, Kernel: d.Device.Kernel.Name, Object: d.Object, Method: d.Method,
		Shown: d.Shown, Len: d.Len, Parts: parts(d.Parts), Unsent: d.Unsent, Flaws: flaws(d.Flaws), Memory: d.Memory, Answer: answerOf(d.Answer), Then: answerOf(d.Then)}
	for i := range d.Objects {
		o := &d.Objects[i]
		oj := objectJSON{Number: int64(o.Number), FD: o.FD, Where: o.Where}
		if o.Type != spec.IDRAnyObject {
			oj.Type = d.objectName(o.Type)
		}
		j.Objects = append(j.Objects, oj)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(&j)
}

func answerOf(a *Answer) *answerJSON {
	if a == nil {
		return nil
	}
	j := &answerJSON{On: a.On, Cannot: a.Cannot, Ret: a.Ret, Errno: a.Errno, Matters: a.Matters, Seen: a.Seen}
	if r := a.Rule; r != nil {
		j.Rule = &ruleJSON{r.ID, r.Func, r.File, r.Why, r.Do}
	}
	if agrees := a.Agrees(); a.Seen != "" && a.Cannot == "" {
		j.Agrees = &agrees
	}
	return j
}

func parts(ps []Part) []partJSON {
	var out []partJSON
	for i := range ps {
		p := &ps[i]
		j := partJSON{Title: p.Title, Takes: p.Takes, Flaws: flaws(p.Flaws), Behind: parts(p.Behind)}
		if p.Addr != 0 {
			j.Addr = fmt.Sprintf("%#x", p.Addr)
		}
		for n := range p.Fields {
			f := &p.Fields[n]
			fj := fieldJSON{Bytes: hex.EncodeToString(f.Bytes), Name: f.Name, Value: strace.ValueJSON(&f.Value), Says: f.Says, Flaws: flaws(f.Flaws)}
			if f.At >= 0 {
				fj.At = &f.At
			}
			j.Fields = append(j.Fields, fj)
		}
		out = append(out, j)
	}
	return out
}

func flaws(fs []Flaw) []flawJSON {
	var out []flawJSON
	for _, f := range fs {
		j := flawJSON{Text: f.Text}
		if f.Rule != nil {
			j.Rule, j.Errno = f.Rule.ID, rule.ErrnoName(f.Rule.Errno)
			if j.Text == "" {
				j.Text = f.Rule.Why
			}
		}
		out = append(out, j)
	}
	return out
}
