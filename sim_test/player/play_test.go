package player_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/sim_test/player"
)

const page = copyuser.PageSize

// playCase plays a case on a fake and requires that it can be played.
func playCase(t *testing.T, f *fake, line string) *player.Result {
	t.Helper()
	r := player.Play(f, parse(t, line), player.Options{Timeout: 5 * time.Second})
	require.NoError(t, r.Err)
	return r
}

const head = `{"v":1,"name":"a/b","driver":"rxe",`

// TestArgument looks at where the header and attributes lie.
func TestArgument(t *testing.T) {
	for name, c := range map[string]struct {
		step     string
		readable int // bytes from the argument on
	}{
		"own mapping": {`"attrs":[{"id":1,"flags":0}]`, page},
		"edge":        {`"attrs":[{"id":1,"flags":0}],"arg_edge":30`, 30},
		"edge behind": {`"attrs":[{"id":1,"flags":0}],"arg_edge":300`, 40},
		"no access":   {`"attrs":[{"id":1,"flags":0}],"arg_prot":"none"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got int
			var before bool
			f := &fake{ioctl: func(task *process.Task, cmd uint32, arg copyuser.Addr) (int64, error) {
				require.EqualValues(t, casefile.VerbsIoctl, cmd)
				got = readable(task, arg, 2*page)
				before = readable(task, (arg-1).PageDown()-1, 1) == 1
				return 0, nil
			}}
			playCase(t, f, head+`"steps":[{"op":"open","fd":"f"},{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},`+c.step+`}]}`)
			require.Equal(t, c.readable, got)
			require.False(t, before, "the page before is mapped")
		})
	}
}

// TestWriteArgument is the same for write(2), which is told the whole length.
func TestWriteArgument(t *testing.T) {
	var got, n int
	f := &fake{write: func(task *process.Task, buf copyuser.Addr, count uint64) (int64, error) {
		got, n = readable(task, buf, 2*page), int(count)
		return int64(count), nil
	}}
	r := playCase(t, f, head+`"steps":[{"op":"open","fd":"f"},{"op":"write","fd":"f","hex":"0102030405060708","arg_edge":3}]}`)
	require.Equal(t, 3, got)
	require.Equal(t, 8, n)
	require.Equal(t, casefile.Num("8"), r.Steps[1].Got.Ret)
}

// TestBuffers looks at guard pages, edges and protections.
func TestBuffers(t *testing.T) {
	f := &fake{ioctl: func(task *process.Task, _ uint32, arg copyuser.Addr) (int64, error) {
		plain, edge, none := copyuser.Addr(word(task, arg+32)), copyuser.Addr(word(task, arg+48)), copyuser.Addr(word(task, arg+64))
		require.Zero(t, plain%8)
		require.Equal(t, page, readable(task, plain, 2*page))
		require.Zero(t, readable(task, plain-1, 1), "a page before")
		require.Equal(t, 5, readable(task, edge, 64))
		require.Zero(t, readable(task, none, 1))
		require.False(t, task.Mem.PutUint16(copyuser.Addr(word(task, arg+80)), 1), "a read-only buffer")
		task.Mem.CopyOut(plain, []byte{1, 2})
		return 0, nil
	}}
	r := playCase(t, f, head+`"bufs":{"p":{"hex":"ffffff"},"e":{"fill":"a5","len":5,"edge":true},"n":{"zero":2,"prot":"none"},"r":{"hex":"07","prot":"r"}},
		"steps":[{"op":"open","fd":"f"},{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[
		{"id":0,"flags":0,"data":{"ptr":"p"}},{"id":1,"flags":0,"data":{"ptr":"e"}},{"id":2,"flags":0,"data":{"ptr":"n"}},{"id":3,"flags":0,"data":{"ptr":"r"}}]}]}`)
	got := r.Steps[1].Got
	require.Equal(t, map[string]string{"p": "0102ff", "e": "a5a5a5a5a5", "n": "0000", "r": "07"}, got.Bufs)
	for _, a := range got.Attrs {
		require.Equal(t, casefile.Any, a.Data, "an address that was left alone")
	}
}

// TestSaveAndMasks follows a handle, a descriptor and a masked number.
func TestSaveAndMasks(t *testing.T) {
	calls := 0
	f := &fake{ioctl: func(task *process.Task, _ uint32, arg copyuser.Addr) (int64, error) {
		calls++
		if calls == 1 {
			task.Mem.PutUint64(arg+32, 77)                                      // the handle
			task.Mem.PutUint64(arg+48, 1234)                                    // the descriptor
			task.Mem.PutUint32(copyuser.Addr(word(task, arg+64))+4, 0xdeadbeef) // the masked number
			return 0, nil
		}
		require.EqualValues(t, 77, word(task, arg+32))
		require.EqualValues(t, 1234, word(task, arg+48))
		return 0, syscall.EBUSY
	}}
	r := playCase(t, f, head+`"bufs":{"b":{"zero":12}},"steps":[{"op":"open","fd":"f"},
		{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[{"id":0,"flags":0},{"id":1,"flags":0},{"id":2,"flags":0,"data":{"ptr":"b"}}],
		 "save":{"h":{"attr":0}},"save_fd":{"d":{"attr":1}},"mask":{"b":[[0,2],[4,4]]}},
		{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"attrs":[{"id":0,"flags":0,"data":{"handle":"h"}},{"id":1,"flags":0,"data":{"handle":"d"}}]},
		{"op":"bufs","names":["b"]}]}`)
	first, second := r.Steps[1].Got, r.Steps[2].Got
	require.Equal(t, "0x4d", first.Attrs[0].Data)
	require.Equal(t, casefile.Any, first.Attrs[1].Data)
	require.Equal(t, "00000000********00000000", first.Bufs["b"], "only the range that was changed")
	require.Equal(t, "0x4d", second.Attrs[0].Data)
	require.Equal(t, casefile.Any, second.Attrs[1].Data, "a descriptor that was left alone")
	require.Equal(t, "EBUSY", *second.Errno)
	require.Equal(t, casefile.Num("-1"), second.Ret)
	require.ErrorIs(t, r.Steps[2].Refused, syscall.EBUSY)
	require.Equal(t, "00000000********00000000", r.Steps[3].Got.Bufs["b"])
	require.Nil(t, r.Steps[3].Got.Errno)
}

// TestRead reads into memory of the player's and into the case's.
func TestRead(t *testing.T) {
	f := &fake{read: func(task *process.Task, buf copyuser.Addr, n uint64) (int64, error) {
		return int64(task.Mem.CopyOut(buf, []byte{1, 2, 3}[:min(n, 3)])), nil
	}}
	r := playCase(t, f, head+`"bufs":{"b":{"zero":4}},"steps":[{"op":"open","fd":"f"},{"op":"read","fd":"f","len":8,"mask":{"hex":[[1,1]]}},
		{"op":"read","fd":"f","len":2,"arg":{"ptr":"b","off":1}}]}`)
	require.Equal(t, "01**03", *r.Steps[1].Got.Hex)
	require.Nil(t, r.Steps[2].Got.Hex)
	require.Equal(t, "00010200", r.Steps[2].Got.Bufs["b"])
}

// TestMapping maps, stores, loads and loses a page.
func TestMapping(t *testing.T) {
	r := playCase(t, &fake{}, head+`"steps":[{"op":"open","fd":"f"},{"op":"mmap","fd":"f","as":"m","len":5000,"prot":"rw"},
		{"op":"poke","map":"m","off":4094,"hex":"aabbcc"},{"op":"peek","map":"m","off":4093,"len":5},
		{"op":"munmap","map":"m","len":4096},{"op":"peek","map":"m","len":1},{"op":"peek","map":"m","off":4096,"len":1}]}`)
	require.Equal(t, casefile.Num(casefile.Any), r.Steps[1].Got.Ret)
	require.Equal(t, "00aabbcc00", *r.Steps[3].Got.Hex)
	require.Equal(t, "SIGBUS", *r.Steps[5].Got.Errno)
	require.Nil(t, r.Steps[5].Got.Hex)
	require.Equal(t, "cc", *r.Steps[6].Got.Hex)
}

// TestChild: a fork copies memory and names, an exec starts the buffers anew
// and closes what is marked for it.
func TestChild(t *testing.T) {
	f := &fake{ioctl: func(task *process.Task, _ uint32, arg copyuser.Addr) (int64, error) {
		task.Mem.CopyOut(copyuser.Addr(word(task, arg+32)), []byte{byte(task.PID)})
		return 0, nil
	}}
	const call = `{"op":"ioctl","fd":"%s","hdr":{"object_id":0,"method_id":0},"attrs":[{"id":0,"flags":0,"data":{"ptr":"b"}}]%s}`
	r := playCase(t, f, head+`"bufs":{"b":{"hex":"00"}},"steps":[{"op":"open","fd":"f"},{"op":"open","fd":"g","cloexec":false},{"op":"fork","as":"k"},`+
		fmt.Sprintf(call, "f", `,"proc":"k"`)+`,{"op":"bufs","names":["b"]},{"op":"exec","proc":"k"},{"op":"bufs","names":["b"],"proc":"k"},`+
		fmt.Sprintf(call, "f", `,"proc":"k"`)+`,`+fmt.Sprintf(call, "g", `,"proc":"k"`)+`,{"op":"exit","proc":"k"},{"op":"fds"}]}`)
	require.NotEqual(t, "00", r.Steps[3].Got.Bufs["b"])
	require.Equal(t, "00", r.Steps[4].Got.Bufs["b"])
	require.Equal(t, "00", r.Steps[6].Got.Bufs["b"])
	require.Equal(t, "EBADF", *r.Steps[7].Got.Errno)
	require.Equal(t, "", *r.Steps[8].Got.Errno)
	require.Equal(t, casefile.Num("2"), r.Steps[10].Got.Ret)
}

// TestLimitOfDescriptors leaves room for one more.
func TestLimitOfDescriptors(t *testing.T) {
	r := playCase(t, &fake{}, head+`"steps":[{"op":"open","fd":"f"},{"op":"open","fd":"g"},{"op":"close","fd":"f"},
		{"op":"rlimit","which":"NOFILE","free":1},{"op":"open","fd":"h"},{"op":"open","fd":"i"}]}`)
	require.Equal(t, "", *r.Steps[4].Got.Errno)
	require.Equal(t, "EMFILE", *r.Steps[5].Got.Errno)
}

// TestBackground starts a call that blocks until it is released.
func TestBackground(t *testing.T) {
	hold := make(chan struct{})
	f := &fake{read: func(task *process.Task, buf copyuser.Addr, _ uint64) (int64, error) {
		<-hold
		return int64(task.Mem.CopyOut(buf, []byte{9})), nil
	}, write: func(*process.Task, copyuser.Addr, uint64) (int64, error) {
		close(hold)
		return 4, nil
	}}
	r := playCase(t, f, head+`"steps":[{"op":"open","fd":"f"},{"op":"read","fd":"f","len":1,"bg":"r"},{"op":"join","bg":"r","timeout":20},
		{"op":"write","fd":"f","hex":"00000000"},{"op":"join","bg":"r"}]}`)
	require.Equal(t, casefile.Blocked, r.Steps[1].Got.Ret)
	require.Equal(t, "BLOCKED", *r.Steps[2].Got.Errno)
	require.Equal(t, "09", *r.Steps[4].Got.Hex)
}

// TestPar plays two lists and takes over what both made.
func TestPar(t *testing.T) {
	f := &fake{ioctl: func(*process.Task, uint32, copyuser.Addr) (int64, error) { return 0, syscall.EINVAL }}
	inTurn := func(_ []player.Task, plays []func()) {
		for _, play := range plays {
			play()
		}
	}
	var refused []string
	r := player.Play(f, parse(t, head+`"steps":[{"op":"par","threads":[[{"op":"open","fd":"a"}],[{"op":"open","fd":"b"},{"op":"fds"},{"op":"ioctl","fd":"b","hdr":{"object_id":0,"method_id":0}}]]},
		{"op":"close","fd":"a"},{"op":"close","fd":"b"},{"op":"fds"}]}`), player.Options{Together: inTurn, Played: func(thread, step int, r *player.StepResult) {
		refused = append(refused, fmt.Sprint(thread, step, r.Refused))
	}})
	par := r.Steps[0].Got.Par
	require.Len(t, par, 2)
	require.Len(t, par[1], 3)
	require.Equal(t, []string{"0 0 <nil>", "1 0 <nil>", "1 1 <nil>", "1 2 invalid argument"}, refused)
	require.Contains(t, []casefile.Num{"1", "2"}, par[1][1].Ret)
	require.Equal(t, casefile.Num("0"), r.Steps[3].Got.Ret)
}

// TestDifferences compares with what the case says.
func TestDifferences(t *testing.T) {
	f := &fake{ioctl: func(*process.Task, uint32, copyuser.Addr) (int64, error) { return 0, syscall.EINVAL }}
	const line = head + `"steps":[{"op":"open","fd":"f","got":{"ret":"*","errno":""}},{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},%s}]}`
	r := playCase(t, f, fmt.Sprintf(line, `"got":{"ret":-1,"errno":"EINVAL"}`))
	require.True(t, r.Passed())
	r = playCase(t, f, fmt.Sprintf(line, `"got":{"ret":-1,"errno":"ENOENT"}`))
	require.False(t, r.Passed())
	require.Equal(t, []casefile.Difference{{Path: "errno", Want: "ENOENT", Got: "EINVAL"}}, r.Steps[1].Differences)
	r = playCase(t, f, fmt.Sprintf(line, `"got_any":[{"n":1,"got":{"ret":0,"errno":""}},{"n":2,"got":{"ret":-1,"errno":"EINVAL"}}]`))
	require.True(t, r.Passed())
}

// TestRepeat plays a repeated case until it differs, each time on a machine of
// its own.
func TestRepeat(t *testing.T) {
	calls := 0
	f := &fake{ioctl: func(*process.Task, uint32, copyuser.Addr) (int64, error) {
		if calls++; calls == 3 {
			return 0, syscall.EIO
		}
		return 0, nil
	}}
	const line = head + `"repeat":%d,"steps":[{"op":"open","fd":"f"},{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0},"got":{"ret":0,"errno":""}}]}`
	r := playCase(t, f, fmt.Sprintf(line, 5))
	require.False(t, r.Passed())
	require.Equal(t, 3, r.Played)
	require.Equal(t, 3, f.boots)
	r = player.Play(f, parse(t, fmt.Sprintf(line, 5)), player.Options{Repeat: 2})
	require.True(t, r.Passed())
	require.Equal(t, 2, r.Played)
}

// TestCannotBePlayed: what cannot be played ends the case with the reason.
func TestCannotBePlayed(t *testing.T) {
	panics := &fake{ioctl: func(*process.Task, uint32, copyuser.Addr) (int64, error) { panic("oh") }}
	stuck := &fake{ioctl: func(*process.Task, uint32, copyuser.Addr) (int64, error) { select {} }}
	const ioctl = `{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":0}}`
	for name, c := range map[string]struct {
		f     *fake
		step  string
		step1 bool // it is the second step that fails
		want  error
		text  string
	}{
		"no such operation": {f: &fake{}, step: `{"op":"add"}`, text: "the fake does not"},
		"no handle": {f: &fake{write: func(*process.Task, copyuser.Addr, uint64) (int64, error) { return 0, syscall.EINVAL }},
			step: `{"op":"write","fd":"f","hex":"","save_fd":{"g":{"buf":"b","off":0,"size":4}}},{"op":"close","fd":"g"}`, step1: true, text: `no descriptor "g"`},
		"a panic":      {f: panics, step: ioctl, want: player.ErrPanic},
		"stuck":        {f: stuck, step: ioctl, want: player.ErrStuck},
		"not an errno": {f: &fake{}, step: `{"op":"event","object":"cq","index":0,"type":"comp"}`, want: errForeign},
	} {
		t.Run(name, func(t *testing.T) {
			line := head + `"bufs":{"b":{"zero":8}},"steps":[{"op":"open","fd":"f","got":{"ret":"*","errno":""}},` + c.step + `]}`
			r := player.Play(c.f, parse(t, line), player.Options{Timeout: 200 * time.Millisecond})
			require.False(t, r.Passed())
			require.Error(t, r.Err)
			if c.want != nil {
				require.ErrorIs(t, r.Err, c.want)
			}
			require.ErrorContains(t, r.Err, c.text)
			if c.step1 {
				require.ErrorContains(t, r.Err, "step 2")
			}
		})
	}
}

// TestHooks are called around each step, and before and after all of them.
func TestHooks(t *testing.T) {
	var got []string
	note := func(what string) func(player.Machine, int) {
		return func(_ player.Machine, i int) { got = append(got, fmt.Sprint(what, i)) }
	}
	player.Play(&fake{}, parse(t, head+`"steps":[{"op":"open","fd":"f"},{"op":"close","fd":"f"}]}`), player.Options{
		Before: note("before "),
		After: func(_ player.Machine, i int, r *player.StepResult) {
			got = append(got, fmt.Sprint("after ", i, " ", r.Got.Ret))
		},
		Booted: func(player.Machine) { got = append(got, "booted") },
		Ended:  func(player.Machine) { got = append(got, "ended") },
	})
	require.Equal(t, []string{"booted", "before 0", "after 0 *", "before 1", "after 1 0", "ended"}, got)
}

// TestEach yields in the order of the cases, whatever finishes first.
func TestEach(t *testing.T) {
	var cases []*casefile.Case
	var want []string
	for i := range 20 {
		name := fmt.Sprintf("a/%d", i)
		cases = append(cases, parse(t, fmt.Sprintf(`{"v":1,"name":%q,"driver":"rxe","steps":[{"op":"sleep","n":%d}]}`, name, 20-i)))
		want = append(want, name)
	}
	var got []string
	for r := range player.Each(eachFake{}, cases, 4, player.Options{}) {
		require.True(t, r.Passed())
		got = append(got, r.Case.Name)
	}
	require.Equal(t, want, got)
	for r := range player.Each(eachFake{}, cases, 4, player.Options{}) {
		require.True(t, slices.Contains(want, r.Case.Name))
		break
	}
}

// eachFake boots a fake of its own for each case.
type eachFake struct{}

func (eachFake) Boot(c *casefile.Case) (player.Machine, error) { return new(fake).Boot(c) }
