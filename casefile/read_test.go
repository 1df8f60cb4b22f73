package casefile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

const (
	head = `{"v":1,"name":"a/b","why":"w","driver":"rxe",`
	open = `{"op":"open","fd":"f"}`
	hdr  = `"hdr":{"object_id":0,"method_id":2}`
)

// with is a case with these buffers and these steps after an open.
func with(bufs string, steps ...string) string {
	return head + `"bufs":{` + bufs + `},"steps":[` + strings.Join(append([]string{open}, steps...), ",") + `]}`
}

func TestReadRefuses(t *testing.T) {
	b := `"b":{"fill":"a5","len":8}`
	tests := []struct {
		name, line, reason string
	}{
		{"not JSON", `steps`, `byte 0: 's' where JSON has a value`},
		{"cut off", `{"v":1,"name":`, `the line ends in the middle of the JSON`},
		{"no object", `[1]`, `a case is an object, not a list`},
		{"two on a line", head + `"steps":[]}{}`, `byte 56: text after the end of the case`},
		{"a trailing comma", head + `"steps":[],}`, `byte 56: '}' where JSON has a member's name`},
		{"a raw control character", "{\"v\x01\":1}", `byte 3: '\x01' where JSON has an escape in a string`},
		{"a name that speaks to the terminal", `{"v":1,"name":"a\u001b[31m"}`, `byte 14: a text with '\x1b', which is not printable`},
		{"a comment of two lines", `{"v":1,"name":"a","why":"b\nc"}`, `byte 24: a text with '\n', which is not printable`},
		{"text that runs backwards", `{"v":1,"name":"a","bufs":{"` + "\u202e" + `":{"zero":1}}}`, `byte 26: a text with '\u202e', which is not printable`},
		{"nested too deeply", `{"v":` + strings.Repeat("[", 100), `byte 69: more than 64 lists and objects in one another`},

		{"no version", `{"name":"a/b","driver":"rxe","steps":[]}`, `a case needs a member "v"`},
		{"another version", `{"v":2,"name":"a/b","driver":"rxe","steps":[]}`, `version 2: only version 1 is known`},
		{"no name", `{"v":1,"name":"","driver":"rxe","steps":[]}`, `a case needs a name`},
		{"unknown driver", `{"v":1,"name":"a/b","driver":"hfi1","steps":[]}`, `driver: "hfi1" is none of rxe, mlx5, stub`},
		{"unknown member of a case", head + `"step":[],"steps":[]}`, `a case has no member "step"`},
		{"a member in other letters", head + `"Steps":[],"steps":[]}`, `a case has no member "Steps"`},
		{"a member twice", head + `"steps":[],"steps":[]}`, `member "steps" stands there twice`},
		{"a buffer twice", with(b + `,"b":{"zero":1}`), `bufs: member "b" stands there twice`},
		{"no steps", `{"v":1,"name":"a/b","driver":"rxe"}`, `a case needs a member "steps"`},
		{"steps are no list", head + `"steps":{}}`, `steps: an object where a list is wanted`},
		{"negative repeat", head + `"repeat":-2,"steps":[]}`, `repeat: -2 is negative`},
		{"unknown member of a device", head + `"device":{"hat":[]},"steps":[]}`, `device: a device has no member "hat"`},

		{"a buffer of nothing", with(`"b":{"prot":"r"}`), `bufs.b: a buffer has one of hex, zero and fill, this one has 0 of them`},
		{"a buffer of two things", with(`"b":{"hex":"00","zero":1}`), `bufs.b: a buffer has one of hex, zero and fill, this one has 2 of them`},
		{"odd hex", with(`"b":{"hex":"0"}`), `bufs.b.hex: "0" is not hex text`},
		{"bytes as a number", with(`"b":{"hex":10}`), `bufs.b.hex: a number where text is wanted`},
		{"a number as text", with(`"b":{"zero":"10"}`), `bufs.b.zero: text where a number is wanted`},
		{"long text in a message", with(`"b":{"hex":"` + strings.Repeat("xyz", 20) + `"}`), `bufs.b.hex: "` + strings.Repeat("xyz", 20)[:40] + `…" is not hex text`},
		{"fill of two bytes", with(`"b":{"fill":"a5a5","len":1}`), `bufs.b: fill is one byte`},
		{"fill without len", with(`"b":{"fill":"a5"}`), `bufs.b: a buffer needs a member "len"`},
		{"len without fill", with(`"b":{"zero":4,"len":4}`), `bufs.b: a buffer has no member "len"`},
		{"negative zero", with(`"b":{"zero":-1}`), `bufs.b.zero: -1 is negative`},
		{"a huge buffer", with(`"b":{"zero":1073741825}`), `bufs.b: a buffer of 1073741825 bytes: the largest has 1073741824`},
		{"unknown protection", with(`"b":{"zero":4,"prot":"rwx"}`), `bufs.b.prot: "rwx" is none of rw, r, none`},
		{"relocation of 4 bytes in a buffer", with(`"b":{"zero":8,"reloc":[{"at":0,"size":4,"value":1}]}`), `bufs.b.reloc[0]: size 4: a relocation in a buffer has 8 bytes`},
		{"relocation beyond a buffer", with(`"b":{"zero":8,"reloc":[{"at":1,"size":8,"value":1}]}`), `bufs.b.reloc[0]: 8 bytes at 1 do not lie in the 8 bytes there are`},
		{"relocation to no buffer", with(`"b":{"zero":8,"reloc":[{"at":0,"size":8,"value":{"ptr":"c"}}]}`), `bufs.b.reloc[0].value: no buffer "c"`},
		{"a nameless buffer", with(`"":{"zero":8}`), `bufs.: a buffer needs a name`},

		{"a step is no object", with(b, `3`), `steps[1]: a number where an object is wanted`},
		{"no operation", with(b, `{"fd":"f"}`), `steps[1]: a step needs a member "op"`},
		{"unknown operation", with(b, `{"op":"iotcl","fd":"f","attrs":[]}`), `steps[1]: no operation "iotcl"`},
		{"another operation's member", with(b, `{"op":"close","fd":"f","len":3}`), `steps[1]: op close has no member "len"`},
		{"needed member", with(b, `{"op":"close"}`), `steps[1]: op close needs a member "fd"`},
		{"unopened descriptor", with(b, `{"op":"close","fd":"g"}`), `steps[1]: no earlier step makes descriptor "g"`},
		{"a handle as a descriptor", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"attrs":[{"id":0,"flags":1}],"save":{"h":{"attr":0}}}`, `{"op":"poll","fd":"h"}`), `steps[2]: no earlier step makes descriptor "h"`},
		{"later handle", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"attrs":[{"id":0,"flags":1,"data":{"handle":"h"}}],"save":{"h":{"attr":0}}}`), `steps[1].attrs[0].data: no earlier step makes handle or descriptor "h"`},
		{"no header", with(b, `{"op":"ioctl","fd":"f","attrs":[]}`), `steps[1]: op ioctl needs a member "hdr"`},
		{"wide object id", with(b, `{"op":"ioctl","fd":"f","hdr":{"object_id":65536,"method_id":0}}`), `steps[1].hdr.object_id: 65536 does not fit: the field is 16 bits wide`},
		{"negative method id", with(b, `{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":-1}}`), `steps[1].hdr.method_id: -1 does not fit: the field is 16 bits wide`},
		{"wide reserved2", with(b, `{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0,"reserved2":4294967296}}`), `steps[1].hdr.reserved2: 4294967296 does not fit: the field is 32 bits wide`},
		{"a fraction", with(b, `{"op":"ioctl","fd":"f","hdr":{"object_id":1.0,"method_id":0}}`), `steps[1].hdr.object_id: 1.0 is not a whole number`},
		{"an exponent", with(b, `{"op":"ioctl","fd":"f","hdr":{"object_id":1e1,"method_id":0}}`), `steps[1].hdr.object_id: 1e1 is not a whole number`},
		{"wide enum", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"attrs":[{"id":0,"flags":1,"enum":256}]}`), `steps[1].attrs[0].enum: 256 does not fit: the field is 8 bits wide`},
		{"unknown member of an attribute", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"attrs":[{"id":0,"flags":1,"value":1}]}`), `steps[1].attrs[0]: an attribute has no member "value"`},
		{"much inline data", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"attrs":[{"id":0,"flags":1,"inline":"000102030405060708"}]}`), `steps[1].attrs[0]: inline data of 9 bytes: there is room for 8`},
		{"save of no attribute", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"attrs":[],"save":{"h":{"attr":0}}}`), `steps[1].save.h: attribute 0 of 0`},
		{"save from nowhere", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"save":{"h":{}}}`), `steps[1].save.h: a place to save from takes one of attr, buf`},
		{"save beyond a buffer", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"save":{"h":{"buf":"b","off":6,"size":4}}}`), `steps[1].save.h: 4 bytes at 6 do not lie in buffer "b" of 8`},
		{"save of two bytes", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"save":{"h":{"buf":"b","size":2}}}`), `steps[1].save.h: size 2: a number in memory has 4 or 8 bytes`},
		{"relocation beyond a write", with(b, `{"op":"write","fd":"f","hex":"0000","reloc":[{"at":0,"size":4,"value":0}]}`), `steps[1].reloc[0]: 4 bytes at 0 do not lie in the 2 bytes there are`},
		{"bytes of no buffer", with(b, `{"op":"bufs","names":["b","c"]}`), `steps[1].names[1]: no buffer "c"`},
		{"mask of no buffer", with(b, `{"op":"bufs","names":["b"],"mask":{"c":[[0,4]]}}`), `steps[1].mask.c: no buffer "c"`},
		{"mask of three numbers", with(b, `{"op":"bufs","names":["b"],"mask":{"b":[[0,4,4]]}}`), `steps[1].mask.b[0]: a list of 3 where 2 are wanted`},

		{"value of no kind", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":{"addr":3}}`), `steps[1].arg: a value is one of ptr, bad, handle, plus, buf, map`},
		{"value of two kinds", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":{"ptr":"b","bad":"null"}}`), `steps[1].arg: a value has no member "ptr"`},
		{"value true", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":true}`), `steps[1].arg: true or false where a number, "0x..." text or an object is wanted`},
		{"value of 65 bits", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":18446744073709551616}`), `steps[1].arg: 18446744073709551616 does not fit: the field is 64 bits wide`},
		{"hex of 65 bits", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":"0x10000000000000000"}`), `steps[1].arg: "0x10000000000000000" is not 0x and hex digits of a 64-bit number`},
		{"hex without 0x", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":"10"}`), `steps[1].arg: "10" is not 0x and hex digits of a 64-bit number`},
		{"very negative", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":-9223372036854775809}`), `steps[1].arg: -9223372036854775809 does not fit: the field is a signed number of 64 bits`},
		{"unknown bad address", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":{"bad":"odd"}}`), `steps[1].arg.bad: "odd" is none of unmapped, null, kernel`},
		{"sum of three", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":{"plus":[1,2,3]}}`), `steps[1].arg.plus: a list of 3 where 2 are wanted`},
		{"number in no buffer", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":{"buf":"c","size":4}}`), `steps[1].arg: no buffer "c"`},
		{"number without size", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":{"buf":"b"}}`), `steps[1].arg: a value needs a member "size"`},
		{"address in no mapping", with(b, `{"op":"ioctl","fd":"f",`+hdr+`,"arg":{"map":"m"}}`), `steps[1].arg: no earlier step makes mapping "m"`},

		{"mode of open", with(b, `{"op":"open","fd":"g","mode":"rx"}`), `steps[1].mode: "rx" is none of r, w, rw`},
		{"limit of nothing", with(b, `{"op":"rlimit","which":"NOFILE"}`), `steps[1]: op rlimit takes one of cur, free`},
		{"free memory", with(b, `{"op":"rlimit","which":"MEMLOCK","free":1}`), `steps[1]: free is for NOFILE`},
		{"unknown limit", with(b, `{"op":"rlimit","which":"CORE","cur":1}`), `steps[1].which: "CORE" is none of MEMLOCK, NOFILE`},
		{"no capability", with(b, `{"op":"capset","drop":["NET_RAW"]}`), `steps[1].drop[0]: "NET_RAW" is no capability`},
		{"decimal mode", with(b, `{"op":"chmod","mode":"689"}`), `steps[1]: mode "689" is not octal`},
		{"limits of a group that is left", with(b, `{"op":"cgroup","how":"leave","max":"hca_handle=1"}`), `steps[1]: leave takes no max`},
		{"dup2 to nowhere", with(b, `{"op":"dup","fd":"f","how":"dup2"}`), `steps[1]: op dup needs a member "to"`},
		{"mmap without a length", with(b, `{"op":"mmap","fd":"f","prot":"r","as":"m"}`), `steps[1]: op mmap takes one of len, size`},
		{"mmap with two lengths", with(b, `{"op":"mmap","fd":"f","prot":"r","as":"m","len":1,"size":1}`), `steps[1]: op mmap takes one of len, size`},
		{"protection letters", with(b, `{"op":"mmap","fd":"f","prot":"rr","as":"m","len":1}`), `steps[1]: prot "rr": letters of "rwx", or none`},
		{"munmap of nothing", with(b, `{"op":"munmap"}`), `steps[1]: op munmap takes one of buf, map`},
		{"munmap of no buffer", with(b, `{"op":"munmap","buf":"c"}`), `steps[1]: no buffer "c"`},
		{"a buffer cannot be executed", with(b, `{"op":"mprotect","buf":"b","prot":"rx"}`), `steps[1].prot: "rx" is none of rw, r, none`},
		{"peek at no mapping", with(b, `{"op":"peek","map":"m","len":4}`), `steps[1]: no earlier step makes mapping "m"`},
		{"event of nothing", with(b, `{"op":"event","object":"mr","index":0,"type":"0"}`), `steps[1].object: "mr" is none of cq, qp, srq, port`},
		{"event of a name", with(b, `{"op":"event","object":"qp","index":0,"type":"fatal"}`), `steps[1]: type "fatal" is neither comp nor the number of an event`},
		{"scatter entry of two", with(b, `{"op":"mmap","fd":"f","prot":"r","as":"m","len":1}`, `{"op":"rxe_recv","map":"m","sge":[[1,2]]}`), `steps[2].sge[0]: a list of 2 where 3 are wanted`},
		{"join of nothing", with(b, `{"op":"join","bg":"b1"}`), `steps[1]: no earlier step makes background step "b1"`},
		{"join without a name", with(b, `{"op":"join"}`), `steps[1]: op join needs a member "bg"`},
		{"no process", with(b, `{"op":"close","fd":"f","proc":"k"}`), `steps[1]: no earlier step makes process "k"`},
		{"exit of the first process", with(b, `{"op":"exit"}`), `steps[1]: op exit needs a member "proc"`},
		{"a nameless child", with(b, `{"op":"fork","as":""}`), `steps[1]: a process needs a name`},
		{"par in par", with(b, `{"op":"par","threads":[[{"op":"par","threads":[]}]]}`), `steps[1].threads[0][0]: par in a thread of par`},
		{"answer in par", with(b, `{"op":"par","threads":[[{"op":"close","fd":"f","got":{"ret":0}}]]}`), `steps[1].threads[0][0]: a step in a thread of par has no "got"`},
		{"background in par", with(b, `{"op":"par","threads":[[{"op":"close","fd":"f","bg":"x"}]]}`), `steps[1].threads[0][0]: a step in a thread of par has no "bg"`},

		{"answer without ret", with(b, `{"op":"close","fd":"f","got":{"errno":""}}`), `steps[1].got: an answer needs a member "ret"`},
		{"ret of a word", with(b, `{"op":"close","fd":"f","got":{"ret":"ok"}}`), `steps[1].got.ret: "ok" is neither a number nor "*"`},
		{"errno in words", with(b, `{"op":"close","fd":"f","got":{"ret":-1,"errno":"bad fd"}}`), `steps[1].got.errno: "bad fd" is no errno's name`},
		{"unknown member of an answer", with(b, `{"op":"close","fd":"f","got":{"ret":0,"buf":{}}}`), `steps[1].got: an answer has no member "buf"`},
		{"bytes of an unknown buffer", with(b, `{"op":"close","fd":"f","got":{"ret":0,"bufs":{"c":"00"}}}`), `steps[1].got.bufs.c: no buffer "c"`},
		{"half a wildcard", with(b, `{"op":"close","fd":"f","got":{"ret":0,"bufs":{"b":"0*"}}}`), `steps[1].got.bufs.b: "0*" at 0 of the hex text is no byte`},
		{"half a byte", with(b, `{"op":"close","fd":"f","got":{"ret":0,"bufs":{"b":"000"}}}`), `steps[1].got.bufs.b: hex text of 3 digits`},
		{"decimal data", with(b, `{"op":"close","fd":"f","got":{"ret":0,"attrs":[{"flags":1,"data":"12"}]}}`), `steps[1].got.attrs[0].data: "12" is not 0x and hex digits of a 64-bit number`},
		{"completion without status", with(b, `{"op":"close","fd":"f","got":{"ret":0,"wc":[{"wr_id":1}]}}`), `steps[1].got.wc[0]: a completion needs a member "status"`},
		{"answer and answers", with(b, `{"op":"close","fd":"f","got":{"ret":0},"got_any":[{"n":1,"got":{"ret":0}}]}`), `steps[1]: a step has got or got_any, not both`},
		{"outcome without answer", with(b, `{"op":"close","fd":"f","got_any":[{"n":1}]}`), `steps[1].got_any[0]: an outcome needs a member "got"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var errs []error
			for c, err := range casefile.Read(strings.NewReader("\n"+tt.line+"\n"), "x.jsonl") {
				require.Nil(t, c)
				errs = append(errs, err)
			}
			require.Len(t, errs, 1)
			require.Equal(t, &casefile.FormatError{File: "x.jsonl", Line: 2, Reason: tt.reason}, errs[0])
			require.EqualError(t, errs[0], "x.jsonl:2: "+tt.reason)
		})
	}
}

// Each operation as short as it can be and as long as it can be is read, and
// is the same after writing.
func TestReadEveryOperation(t *testing.T) {
	steps := []string{
		`{"op":"open","fd":"g","mode":"w","cloexec":false}`,
		`{"op":"ioctl","fd":"f","hdr":{"object_id":1,"method_id":2,"length":3,"num_attrs":4,"reserved1":"0xffffffffffffffff","driver_id":5,"reserved2":6},` +
			`"attrs":[{"id":1,"len":2,"flags":3,"enum":4,"reserved":5,"data":18446744073709551615},{"id":1,"flags":1,"inline":"0102"}],"cmd":3222806273,"arg":{"ptr":"b","off":-8},` +
			`"arg_edge":0,"arg_prot":"none","save":{"h":{"attr":1}},"save_fd":{"c":{"buf":"b","off":4,"size":4}},"mask":{"b":[[0,4],[8,8]]}}`,
		`{"op":"ioctl","fd":"f",` + hdr + `,"attrs":[{"id":0,"flags":1,"data":{"handle":"h"}},{"id":0,"flags":1,"data":{"plus":[{"bad":"kernel"},-1]}}]}`,
		`{"op":"write","fd":"f","hex":"0000000000000000","reloc":[{"at":0,"size":4,"value":{"buf":"b","size":8}}],"arg":{"bad":"unmapped"},"arg_edge":4,"save":{"w":{"buf":"b","size":8}}}`,
		`{"op":"read","fd":"c","len":16,"nonblock":true,"arg":0,"mask":{"hex":[[0,8]]}}`,
		`{"op":"poll","fd":"c","timeout":-1}`,
		`{"op":"bufs","names":["b","c"]}`,
		`{"op":"setuid","uid":0}`, `{"op":"setgid","gid":1000}`,
		`{"op":"capset"}`, `{"op":"capset","drop":["CAP_NET_RAW"]}`, `{"op":"capset","drop":["all"]}`,
		`{"op":"rlimit","which":"MEMLOCK","cur":-1}`, `{"op":"rlimit","which":"NOFILE","free":0}`,
		`{"op":"fds"}`, `{"op":"chmod","mode":"0600"}`,
		`{"op":"cgroup","max":"hca_handle=1 hca_object=2"}`, `{"op":"cgroup","how":"current"}`,
		`{"op":"dup","fd":"f","as":"d"}`, `{"op":"dup","fd":"f","how":"dup3","to":"d"}`, `{"op":"dup","fd":"f","how":"fdupfd","n":100,"as":"e"}`,
		`{"op":"mmap","fd":"f","off":{"buf":"b","size":8},"len":0,"prot":"rw","as":"m"}`,
		`{"op":"mmap","fd":"f","size":{"buf":"b","size":4},"prot":"none","flags":"private","as":"n"}`,
		`{"op":"munmap","map":"m","len":4096}`, `{"op":"munmap","buf":"c"}`,
		`{"op":"mprotect","map":"n","prot":"rx"}`, `{"op":"mprotect","buf":"b","prot":"none"}`,
		`{"op":"remap","map":"n","len":8192}`,
		`{"op":"peek","map":"n","off":4,"len":4}`, `{"op":"poke","map":"n","hex":""}`,
		`{"op":"fork","as":"k"}`, `{"op":"exec","proc":"k"}`, `{"op":"recvfd","proc":"k","fd":"f","as":"r"}`, `{"op":"exit","proc":"k"}`,
		`{"op":"sleep","n":1}`, `{"op":"remove","bg":"gone"}`, `{"op":"join","bg":"gone","timeout":3000}`, `{"op":"add"}`,
		`{"op":"event","object":"cq","index":0,"type":"comp"}`, `{"op":"event","object":"port","index":1,"type":"9"}`,
		`{"op":"hold","type":"create_cq"}`, `{"op":"release"}`, `{"op":"driver_log"}`, `{"op":"netdev","type":"down"}`,
		`{"op":"rxe_recv","map":"n","wr_id":18446744073709551615,"sge":[[{"ptr":"b"},8,{"buf":"b","size":4}]]}`,
		`{"op":"rxe_send","map":"n","wr_id":1,"opcode":2,"send_flags":4294967295,"imm":3,"raddr":{"map":"n","off":8},"rkey":"0x10","sge":[]}`,
		`{"op":"rxe_poll","map":"n","want":0}`,
		`{"op":"par","threads":[[{"op":"close","fd":"f"},{"op":"join","bg":"gone"}],[]]}`,
		`{"op":"close","fd":"f"}`,
	}
	answers := []string{
		`"got":{"ret":"*","errno":""}`,
		`"got":{"ret":-1,"errno":"EINVAL","attrs":[{"flags":3,"data":"*"},{"flags":"*","data":"0xFF"}],"bufs":{"b":"00**A5","c":"unmapped"}}`,
		`"got":{"ret":18446744073709551615,"revents":"*","hex":"**","text":""}`,
		`"got":{"ret":"blocked"}`, `"got":{"ret":"done"}`,
		`"got":{"ret":1,"errno":"","wc":[{"wr_id":18446744073709551615,"status":0,"opcode":1,"vendor_err":"*","byte_len":3,"ex":4,"wc_flags":5}]}`,
		`"got_any":[{"n":3,"got":{"ret":0,"errno":"","par":[[{"ret":0}],[]]}},{"n":0,"got":{"ret":-1,"errno":"SIGBUS"}}]`,
	}
	for _, a := range answers {
		steps = append(steps, `{"op":"poll","fd":"f",`+a+`}`)
	}
	seen := map[string]bool{}
	line := with(`"b":{"hex":"000102030405060708090a0b0c0d0e0f","edge":true,"reloc":[{"at":8,"size":8,"value":{"ptr":"c"}}]},"c":{"fill":"a5","len":4,"prot":"r"}`, steps...)
	c, err := casefile.Unmarshal([]byte(line))
	require.NoError(t, err)
	for i := range c.Steps {
		seen[c.Steps[i].Op()] = true
	}
	require.Len(t, seen, 38, "every operation")
	out, err := c.Marshal()
	require.NoError(t, err)
	require.Equal(t, plain(t, []byte(line)), plain(t, out))
	again, err := casefile.Unmarshal(out)
	require.NoError(t, err)
	require.Equal(t, c, again)
}

func TestReadKeepsAllBits(t *testing.T) {
	values := map[string]uint64{
		`18446744073709551615`: 1<<64 - 1, `9007199254740993`: 1<<53 + 1, `-1`: 1<<64 - 1, `-0`: 0,
		`-9223372036854775808`: 1 << 63, `"0xfedcba9876543210"`: 0xfedcba9876543210,
	}
	for text, want := range values {
		c, err := casefile.Unmarshal([]byte(with("", `{"op":"ioctl","fd":"f",`+hdr+`,"arg":`+text+`}`)))
		require.NoError(t, err, text)
		v := c.Steps[1].Do.(*casefile.Ioctl).Arg
		require.Equal(t, casefile.Number, v.Kind)
		require.Equal(t, want, v.N, text)
	}
}

func TestReadGoesOnAfterAnError(t *testing.T) {
	in := "# a comment\n\n  " + with("") + "\r\nnonsense\n\t# another\n" + with("")
	var good, bad []int
	for c, err := range casefile.Read(strings.NewReader(in), "f") {
		var fe *casefile.FormatError
		if errors.As(err, &fe) {
			bad = append(bad, fe.Line)
			continue
		}
		require.NoError(t, err)
		good = append(good, c.Line)
	}
	require.Equal(t, []int{3, 6}, good)
	require.Equal(t, []int{4}, bad)

	for range casefile.Read(strings.NewReader(in), "f") {
		break // and may be left
	}
}

func TestReadEndsWithTheReader(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader(with("")+"\n"), iotest.ErrReader(broken))
	var errs []error
	for _, err := range casefile.Read(r, "f") {
		errs = append(errs, err)
	}
	require.Len(t, errs, 2)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], broken)
	require.ErrorContains(t, errs[1], "f:2: ")
}

func TestReadRefusesAnEndlessLine(t *testing.T) {
	var errs []error
	for _, err := range casefile.Read(strings.NewReader("\n"+strings.Repeat(" ", 17<<20)), "f") {
		errs = append(errs, err)
	}
	require.Equal(t, []error{&casefile.FormatError{File: "f", Line: 2, Reason: "a line of more than 16 MiB"}}, errs)
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cases.jsonl")
	_, err := casefile.ReadFile(name)
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, os.WriteFile(name, []byte(with("")+"\n"+with("")+"\n"), 0o666))
	cases, err := casefile.ReadFile(name)
	require.NoError(t, err)
	require.Len(t, cases, 2)

	require.NoError(t, os.WriteFile(name, []byte(with("")+"\nnonsense\n"), 0o666))
	_, err = casefile.ReadFile(name)
	require.ErrorContains(t, err, name+":2: ")
}
