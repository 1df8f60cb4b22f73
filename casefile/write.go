package casefile

import "io"

// Marshal writes a case as one line, without a newline. Members that have
// their default value are left out, and those that the case names itself come
// in the order of their names. It fails for a case that Unmarshal would not
// read.
func (c *Case) Marshal() ([]byte, error) {
	w := codec{out: make([]byte, 0, 4096)}
	item{&w, nil}.object("a case", c.members)
	if w.err != nil {
		return nil, w.err
	}
	if _, err := Unmarshal(w.out); err != nil {
		return nil, err
	}
	return w.out, nil
}

// WriteTo writes a case and a newline.
func (c *Case) WriteTo(w io.Writer) (int64, error) {
	b, err := c.Marshal()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(append(b, '\n'))
	return int64(n), err
}
