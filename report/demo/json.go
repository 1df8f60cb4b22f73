package demo

import (
	"encoding/json"
	"fmt"
	"io"

	"uverbsim/report/funcgraph"
	"uverbsim/rule"
	"uverbsim/spec"
)

// JSON plays the trip and the mistakes, and writes one JSON object a line: for
// each step, and then for each mistake.
func JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	for s, err := range Trip() {
		if err != nil {
			return err
		}
		if err := enc.Encode(stepJSON(s)); err != nil {
			return err
		}
	}
	for m, err := range Mistakes() {
		if err != nil {
			return err
		}
		if err := enc.Encode(mistakeJSON(m)); err != nil {
			return err
		}
	}
	return nil
}

// The members of the objects are named here once for all; those that are absent
// have nothing to say.
type (
	jsonStep struct {
		Step  int       `json:"step"`
		Title string    `json:"title"`
		Acts  []jsonAct `json:"acts"`
		Found string    `json:"found"`
	}
	jsonAct struct {
		Text   string             `json:"text,omitempty"`
		Ioctl  *jsonIoctl         `json:"ioctl,omitempty"`
		Events []funcgraph.Record `json:"events,omitempty"`
		Result string             `json:"result,omitempty"`
		Rule   string             `json:"rule,omitempty"`
	}
	jsonIoctl struct {
		Object   string     `json:"object"`
		Method   string     `json:"method"`
		Length   uint16     `json:"length"`
		ObjectID uint16     `json:"object_id"`
		MethodID uint16     `json:"method_id"`
		NumAttrs uint16     `json:"num_attrs"`
		DriverID uint32     `json:"driver_id"`
		Reserved [2]uint64  `json:"reserved"`
		Attrs    []jsonAttr `json:"attrs"`
	}
	jsonAttr struct {
		Name  string   `json:"name"`
		Value string   `json:"value"`
		Sent  jsonWire `json:"sent"`
		Left  jsonWire `json:"left"`
		// Answer is what the kernel answered, absent if nothing.
		Answer string `json:"answer,omitempty"`
	}
	// jsonWire is a struct ib_uverbs_attr.
	jsonWire struct {
		AttrID   uint16 `json:"attr_id"`
		Len      uint16 `json:"len"`
		Flags    uint16 `json:"flags"`
		AttrData uint16 `json:"attr_data"`
		Data     string `json:"data"` // hexadecimal, as numbers of 64 bits are not safe in JSON
	}
	jsonMistake struct {
		Mistake int      `json:"mistake"`
		Title   string   `json:"title"`
		Act     jsonAct  `json:"act"`
		Errno   string   `json:"errno"`
		Rule    string   `json:"rule"`
		Func    string   `json:"func"`
		File    string   `json:"file"`
		Path    []string `json:"path"`
		Then    []string `json:"then,omitempty"`
		Why     string   `json:"why"`
		Do      string   `json:"do"`
	}
)

func stepJSON(s *Step) jsonStep {
	out := jsonStep{Step: s.N, Title: s.Title, Acts: []jsonAct{}, Found: s.Found}
	for _, a := range s.Acts {
		out.Acts = append(out.Acts, actJSON(a))
	}
	return out
}

func mistakeJSON(m *Mistake) jsonMistake {
	var then []string
	for _, a := range m.Then {
		then = append(then, a.Ioctl.Name()+resultText(a))
	}
	return jsonMistake{Mistake: m.N, Title: m.Title, Act: actJSON(m.Act), Errno: rule.ErrnoName(m.Rule.Errno),
		Rule: m.Rule.ID, Func: m.Rule.Func, File: m.Rule.File, Path: m.Path, Then: then, Why: m.Rule.Why, Do: m.Rule.Do}
}

func actJSON(a *Act) jsonAct {
	out := jsonAct{Text: a.Text, Result: a.Result}
	if a.Rule != nil {
		out.Rule = a.Rule.ID
	}
	if i := a.Ioctl; i != nil {
		h := &i.Header
		out.Ioctl = &jsonIoctl{Object: i.Object, Method: i.Method, Length: h.Length, ObjectID: h.ObjectID, MethodID: h.MethodID,
			NumAttrs: h.NumAttrs, DriverID: h.DriverID, Reserved: [2]uint64{h.Reserved1, uint64(h.Reserved2)}, Attrs: []jsonAttr{}}
		for n := range i.Attrs {
			at := &i.Attrs[n]
			out.Ioctl.Attrs = append(out.Ioctl.Attrs, jsonAttr{Name: at.Name, Value: at.Value, Sent: wireJSON(&at.Attr),
				Left: wireJSON(&at.After), Answer: at.Answer})
		}
	}
	for i := range a.Events {
		out.Events = append(out.Events, funcgraph.NewRecord(nil, &a.Events[i]))
	}
	return out
}

func wireJSON(a *spec.IoctlAttr) jsonWire {
	return jsonWire{AttrID: a.AttrID, Len: a.Len, Flags: a.Flags, AttrData: a.AttrData, Data: fmt.Sprintf("%#x", a.Data)}
}
