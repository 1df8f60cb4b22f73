package transcript

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
)

//go:embed testdata/linux-6.12-mlx5-clients.txt.gz
var recorded []byte

// Recorded returns the programs of the transcript.
func Recorded() ([]Program, error) {
	z, err := gzip.NewReader(bytes.NewReader(recorded))
	if err != nil {
		return nil, err
	}
	return Parse(z)
}

// Find returns the program with that command line.
func Find(programs []Program, name string) (*Program, bool) {
	for i := range programs {
		if programs[i].Name == name {
			return &programs[i], true
		}
	}
	return nil, false
}

// Parse reads a transcript. Each program begins with a line "== COMMAND"; what is
// no call is what it printed.
func Parse(r io.Reader) ([]Program, error) {
	p := parser{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		p.line++
		if err := p.parse(sc.Text()); err != nil {
			return nil, fmt.Errorf("transcript: line %d: %w", p.line, err)
		}
	}
	return p.programs, sc.Err()
}

type parser struct {
	programs []Program
	line     int
	open     bool // the last call is an ioctl, which may go on
	answered bool // it has its answer
	after    int  // how many attributes of it have theirs
}

func (p *parser) parse(text string) error {
	if name, ok := strings.CutPrefix(text, "== "); ok {
		p.programs = append(p.programs, Program{Name: name})
		p.open = false
		return nil
	}
	if len(p.programs) == 0 {
		return fmt.Errorf("%q before the first program", text)
	}
	program := &p.programs[len(p.programs)-1]
	switch {
	case strings.HasPrefix(text, "ioctl obj="):
		c, err := parseIoctl(text)
		c.Line = p.line
		program.Calls = append(program.Calls, c)
		p.open, p.answered, p.after = true, false, 0
		return err
	case strings.HasPrefix(text, "mmap len="):
		c, err := parseMmap(text)
		c.Line = p.line
		program.Calls = append(program.Calls, c)
		p.open = false
		return err
	}
	if p.open {
		last := &program.Calls[len(program.Calls)-1]
		switch {
		case strings.HasPrefix(text, "  {id="):
			a, err := parseBefore(text)
			last.Ioctl.Attrs = append(last.Ioctl.Attrs, a)
			return err
		case strings.HasPrefix(text, "  = ") && !p.answered:
			p.answered = true
			return parseResult(last, strings.TrimPrefix(text, "  = "))
		case strings.HasPrefix(text, "  after id="):
			if p.after == len(last.Ioctl.Attrs) {
				return fmt.Errorf("more attributes after the call than before it")
			}
			p.after++
			return parseAfter(&last.Ioctl.Attrs[p.after-1], text)
		}
		p.open = false
	}
	program.Output = append(program.Output, text)
	return nil
}

// members cuts a line of NAME=VALUE into its values, which have those names.
func members(text string, names ...string) ([]string, error) {
	fields := strings.Fields(text)
	var values []string
	for i, name := range names {
		if i >= len(fields) {
			return nil, fmt.Errorf("no %s in %q", name, text)
		}
		value, ok := strings.CutPrefix(fields[i], name+"=")
		if !ok {
			return nil, fmt.Errorf("%q where %s is wanted", fields[i], name)
		}
		values = append(values, value)
	}
	return values, nil
}

// numbers reads numbers into variables.
func numbers(values []string, into ...any) error {
	for i, v := range values {
		bits := 64
		if _, ok := into[i].(*uint16); ok {
			bits = 16
		}
		n, err := strconv.ParseUint(v, 0, bits)
		if err != nil {
			return err
		}
		switch p := into[i].(type) {
		case *uint16:
			*p = uint16(n)
		case *uint32:
			*p = uint32(n)
		case *int:
			*p = int(n)
		case *uint64:
			*p = n
		}
	}
	return nil
}

func parseIoctl(text string) (Call, error) {
	i := new(Ioctl)
	values, err := members(strings.TrimPrefix(text, "ioctl "), "obj", "method", "drv")
	if err == nil {
		err = numbers(values, &i.Object, &i.Method, &i.Driver)
	}
	return Call{Ioctl: i}, err
}

func parseMmap(text string) (Call, error) {
	c := Call{Mmap: new(Mmap)}
	what, how, _ := strings.Cut(strings.TrimPrefix(text, "mmap "), " = ")
	values, err := members(what, "len", "prot", "fd", "off")
	if err == nil {
		err = numbers(values, &c.Mmap.Length, &c.Mmap.Prot, &c.Mmap.FD, &c.Mmap.Offset)
	}
	if err == nil && how != "ok" {
		c.Errno, err = parseErrno(how)
	}
	return c, err
}

func parseErrno(text string) (syscall.Errno, error) {
	e, ok := errnoOf(text)
	if !ok {
		return 0, fmt.Errorf("no error %q", text)
	}
	return e, nil
}

func parseResult(c *Call, text string) (err error) {
	ret, why, _ := strings.Cut(text, " ")
	if ret != "0" {
		c.Errno, err = parseErrno(why)
	}
	return err
}

func parseBefore(text string) (a Attr, err error) {
	head, data, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(text, "  {"), "}"), " data=")
	if !ok {
		return a, fmt.Errorf("no data in %q", text)
	}
	values, err := members(head, "id", "len", "fl", "u")
	if err != nil {
		return a, err
	}
	if err = numbers(values, &a.ID, &a.Len, &a.Flags, &a.Reserved); err != nil {
		return a, err
	}
	a.Before, err = parseValue(data)
	return a, err
}

func parseAfter(a *Attr, text string) error {
	text = strings.TrimPrefix(text, "  after ")
	values, err := members(text, "id", "fl")
	if err != nil {
		return err
	}
	var id uint16
	if err := numbers(values, &id, &a.AfterFlags); err != nil {
		return err
	}
	if id != a.ID {
		return fmt.Errorf("attribute %#x after the call where %#x was before it", id, a.ID)
	}
	a.After, err = parseValue(strings.SplitN(text, " ", 3)[2])
	return err
}

func parseValue(text string) (v Value, err error) {
	data, ok := strings.CutPrefix(text, "-> ")
	if !ok {
		v.Number, err = strconv.ParseUint(text, 0, 64)
		return v, err
	}
	v.Pointer = true
	if data != "?" {
		v.Bytes, err = hex.DecodeString(data)
	}
	return v, err
}
