package main

import (
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/dissect"
	"uverbsim/report/request"
	"uverbsim/rule"
	"uverbsim/spec"
)

// corpusFiles are those of the corpus that have calls on a fresh context.
var corpusFiles = []string{
	"linux-6.1-rules", "linux-6.1-rxe", "linux-6.12-mlx5-fuzz", "linux-6.12-mlx5-sweep", "linux-6.12-mlx5",
	"linux-6.12-rules-mlx5", "linux-6.12-rules", "linux-6.12-rxe-fuzz", "linux-6.12-rxe-sweep", "linux-6.12-rxe", "linux-6.12-stub",
}

func corpusCasesOf(t testing.TB, file string) []*casefile.Case {
	t.Helper()
	name := filepath.Join("..", "..", "sim_test", "corpus", file+".jsonl")
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	var cases []*casefile.Case
	for c, err := range casefile.Read(f, name) {
		require.NoError(t, err)
		cases = append(cases, c)
	}
	return cases
}

// places is the memory of a case that nobody plays: each buffer in pages of its
// own, the request in front of them.
type places map[string]uint64

const (
	requestPlace = 0x7f5500001000
	bufferPlace  = 0x7f5500100000
)

func placesOf(c *casefile.Case) places {
	p := places{}
	at := uint64(bufferPlace)
	for _, name := range slices.Sorted(maps.Keys(c.Bufs)) {
		p[name] = at
		at += uint64(c.Bufs[name].Len)&^0xfff + 0x3000
	}
	return p
}

func (p places) BufAddr(name string) (uint64, bool)        { a, ok := p[name]; return a, ok }
func (p places) BufNumber(string, int, int) (uint64, bool) { return 0, true }
func (p places) Symbol(string) (n uint64, isFD, ok bool)   { return 77, false, true }
func (p places) MapAddr(string) (uint64, bool)             { return 0x7f5400000000, true }

// memoryOf is what the request of a step and the case's buffers hold.
func memoryOf(t testing.TB, c *casefile.Case, s *casefile.Step) *request.Request {
	t.Helper()
	p := placesOf(c)
	r := &request.Request{At: requestPlace, Addressed: true, Count: -1}
	var err error
	switch a := s.Do.(type) {
	case *casefile.Ioctl:
		r.Kind = request.Ioctl
		r.Bytes, _, err = a.Bytes(c.Driver, p)
	case *casefile.Write:
		r.Kind = request.Write
		r.Bytes, _, err = a.Bytes(p)
		r.Count = len(r.Bytes)
	}
	require.NoError(t, err)
	require.NoError(t, r.AddMemory(r.At, r.Bytes))
	for name, b := range c.Bufs {
		data := b.Bytes()
		for i := range b.Reloc {
			v, err := b.Reloc[i].Value.Resolve(p)
			require.NoError(t, err)
			for n := range b.Reloc[i].Size {
				data[b.Reloc[i].At+n] = byte(v.N >> (8 * n))
			}
		}
		if strings.Trim(string(data), "\x00") != "" { // what is not shown counts as zero
			require.NoError(t, r.AddMemory(p[name], data))
		}
	}
	return r
}

// forms write a request as programs do.
var forms = map[string]func(r *request.Request) string{
	"digits": func(r *request.Request) string { return hex.EncodeToString(r.Bytes) },
	"hexdump": func(r *request.Request) string {
		return (&request.Request{Memory: []request.Range{{Bytes: r.Bytes}}}).Hexdump()
	},
	"xxd": func(r *request.Request) string {
		return rows(r.Bytes, 16, func(at int, b []byte) string {
			var s strings.Builder
			for i := 0; i < len(b); i += 2 {
				fmt.Fprintf(&s, " %x", b[i:min(i+2, len(b))])
			}
			return fmt.Sprintf("%08x:%-42s%s", at, s.String(), printable(b))
		})
	},
	"od": func(r *request.Request) string {
		return rows(r.Bytes, 16, func(at int, b []byte) string { return fmt.Sprintf("%07o % x", at, b) })
	},
	"gdb": func(r *request.Request) string {
		return rows(r.Bytes, 16, func(at int, b []byte) string {
			s := fmt.Sprintf("%#x <hdr+%d>:", r.At+uint64(at), at)
			for ; len(b) >= 8; b = b[8:] {
				w := slices.Clone(b[:8])
				slices.Reverse(w)
				s += fmt.Sprintf("\t0x%x", w)
			}
			for _, c := range b {
				s += fmt.Sprintf("\t0x%02x", c)
			}
			return s
		})
	},
	"dmesg": func(r *request.Request) string {
		return rows(r.Bytes, 16, func(at int, b []byte) string {
			return fmt.Sprintf("[  123.456789] uverbs: %08x: %-48s %s", at, fmt.Sprintf("% x", b), printable(b))
		})
	},
	"strace": func(r *request.Request) string {
		if r.Kind == request.Write {
			var s strings.Builder
			for _, c := range r.Bytes {
				fmt.Fprintf(&s, `\x%02x`, c)
			}
			return fmt.Sprintf(`write(3</dev/infiniband/uverbs0>, "%s", %d) = -1 EINVAL (Invalid argument)`, s.String(), len(r.Bytes))
		}
		return fmt.Sprintf("ioctl(3, RDMA_VERBS_IOCTL, %#x) = -1 EINVAL (Invalid argument)\n", r.At) + r.Hexdump()
	},
}

func rows(b []byte, width int, row func(at int, b []byte) string) string {
	var s strings.Builder
	for at := 0; at < len(b); at += width {
		s.WriteString(row(at, b[at:min(at+width, len(b))]) + "\n")
	}
	return s.String()
}

func printable(b []byte) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '.'
		}
		return c
	}, string(b))
}

// TestDecodeCorpusForms: every request of the corpus is the same in all forms.
func TestDecodeCorpusForms(t *testing.T) {
	n := 0
	for _, file := range corpusFiles {
		for _, c := range corpusCasesOf(t, file) {
			for i := range c.Steps {
				s := &c.Steps[i]
				switch a := s.Do.(type) {
				case *casefile.Ioctl:
					if a.Arg.Kind != casefile.Absent {
						continue
					}
				case *casefile.Write:
					if a.Arg.Kind != casefile.Absent || len(a.Data) == 0 {
						continue
					}
				default:
					continue
				}
				if n++; n%40 != 0 { // enough of them
					continue
				}
				r := memoryOf(t, c, s)
				for form, write := range forms {
					text := write(r)
					got, err := request.Parse(text)
					require.NoErrorf(t, err, "%s step %d as %s:\n%s", c.Name, i, form, text)
					require.Equalf(t, hex.EncodeToString(r.Bytes), hex.EncodeToString(got.Bytes), "%s step %d as %s:\n%s", c.Name, i, form, text)
				}
			}
		}
	}
	require.Greater(t, n, 5000)
}

// onFreshContext returns the only call of a case that is made on a file with
// nothing but a context; bare says that it has none. nil if the case has more,
// or something that no dump shows.
func onFreshContext(c *casefile.Case) (s *casefile.Step, bare bool) {
	if c.Device != nil || c.Repeat > 1 || len(c.Steps) < 2 || len(c.Steps) > 3 {
		return nil, false
	}
	for _, b := range c.Bufs {
		if b.Prot != "" || b.Edge {
			return nil, false
		}
	}
	if o, ok := c.Steps[0].Do.(*casefile.Open); !ok || o.Mode != "" {
		return nil, false
	}
	s = &c.Steps[len(c.Steps)-1]
	if len(c.Steps) == 3 && !likeContext(c) || s.Got == nil || s.Got.Errno == nil {
		return nil, false
	}
	switch a := s.Do.(type) {
	case *casefile.Ioctl:
		if a.Arg.Kind != casefile.Absent || a.Cmd.Kind != casefile.Absent || a.ArgEdge != nil || a.ArgProt != "" ||
			slices.ContainsFunc(a.Attrs, func(at casefile.Attr) bool { return hidden(&at.Data) }) {
			return nil, false
		}
	case *casefile.Write:
		if a.Arg.Kind != casefile.Absent || a.ArgEdge != nil || len(a.Data) < 8 ||
			slices.ContainsFunc(a.Reloc, func(r casefile.Reloc) bool { return hidden(&r.Value) }) {
			return nil, false
		}
	default:
		return nil, false
	}
	return s, len(c.Steps) == 2
}

// hidden says whether a value is of a kind that only the case knows: memory that
// is not there, or the descriptor of an open file.
func hidden(v *casefile.Value) bool {
	switch v.Kind {
	case casefile.Bad:
		return v.Name == "unmapped"
	case casefile.Handle, casefile.Mapped, casefile.Content:
		return true
	case casefile.Plus:
		return hidden(&v.Sum[0]) || hidden(&v.Sum[1])
	}
	return false
}

// likeContext says whether the second step of a case gets a context that is for
// the third one as the one that decode gets: on mlx5 with DEVX if that matters.
func likeContext(c *casefile.Case) bool {
	a, ok := c.Steps[1].Do.(*casefile.Ioctl)
	if !ok || a.Hdr.ObjectID != spec.UVERBS_OBJECT_DEVICE || a.Hdr.MethodID != spec.UVERBS_METHOD_GET_CONTEXT ||
		c.Steps[1].Got == nil || c.Steps[1].Got.Ret != "0" {
		return false
	}
	call, ok := c.Steps[2].Do.(*casefile.Ioctl)
	ofDriver := ok && (call.Hdr.ObjectID|call.Hdr.MethodID)&spec.NSFlag != 0
	for i := range a.Attrs {
		b := c.Bufs[a.Attrs[i].Data.Name]
		if a.Attrs[i].ID != spec.UVERBS_ATTR_UHW_IN || b == nil {
			continue
		}
		req := make([]byte, spec.Mlx5AllocUcontextReqV2Size)
		copy(req, b.Bytes())
		flags, libCaps := req[8], req[24]
		if libCaps != 0 || ofDriver && flags != spec.MLX5_IB_ALLOC_UCTX_DEVX {
			return false
		}
	}
	return true
}

// atSight are the rules of which a dump shows whether they are kept.
var atSight = []*rule.Rule{
	rule.HeaderLength, rule.HeaderReserved, rule.HeaderDriverID, rule.AttrMissing, rule.AttrUnknownMandatory, rule.AttrDuplicate,
	rule.AttrEnumRange, rule.AttrEnumReserved, rule.AttrEnumType, rule.AttrTrailingNonzero, rule.AttrTooShort, rule.AttrTooLong,
	rule.AttrReserved, rule.AttrObjectReserved, rule.AttrObjectLen, rule.AttrRawFD, rule.ArrayReserved, rule.ArraySize, rule.ArrayCount,
	rule.WriteTooShort, rule.WriteCommandFlags, rule.WriteCommandRange, rule.WriteNotSupported, rule.WriteExTooShort, rule.WriteExWords,
	rule.WriteExReserved, rule.WriteExNoOutWords, rule.WriteExNoResponse, rule.WriteWords, rule.WriteResponseShort,
}

// TestDecodeCorpusAnswers: the answer to expect is the recorded one where a case
// has one call on a fresh context, and what is wrong at sight is what decided
// if the rule is one of those.
func TestDecodeCorpusAnswers(t *testing.T) {
	total := 0
	for _, file := range corpusFiles {
		t.Run(file, func(t *testing.T) {
			for _, c := range corpusCasesOf(t, file) {
				s, bare := onFreshContext(c)
				if s == nil {
					continue
				}
				k, ok := spec.KernelByRelease(c.Kernel)
				require.True(t, ok, c.Name)
				id, _ := casefile.DriverID(c.Driver)
				dev := dissect.Device{Name: c.Driver, Driver: id, Kernel: k}
				text := memoryOf(t, c, s).Hexdump()
				r, err := request.Parse(text)
				require.NoError(t, err, c.Name)
				r.Kind = request.Ioctl
				if _, ok := s.Do.(*casefile.Write); ok {
					r.Kind, r.Count = request.Write, len(r.Bytes)
				}
				if !bare && getsContext(r) {
					continue // a second one
				}
				made, err := requestCase(r.Placed(), dev, bare)
				require.NoError(t, err, c.Name)
				d := dissect.Of(r.Placed(), dev)
				if len(d.Memory) > 0 && *s.Got.Errno == "EFAULT" {
					continue // the memory was not there
				}
				total++
				playRequest(r, d, made, bare)
				a := d.Answer
				require.Empty(t, a.Cannot, c.Name)
				require.Equalf(t, *s.Got.Errno, a.Errno, "%s (%s): %v\n%.1500s", c.Name, c.Why, a.Rule, text)
				flaws := d.Rules()
				ofStub := c.Driver == "stub" && a.Rule == rule.WriteNotSupported // whose operations only the case knows
				if a.Rule != nil && slices.Contains(atSight, a.Rule) && !ofStub {
					require.Containsf(t, flaws, a.Rule, "%s: %v", c.Name, a.Rule)
				}
				if a.Errno == "" {
					require.Emptyf(t, flaws, "%s: accepted", c.Name)
				}
			}
		})
	}
	require.Greater(t, total, 800)
}
