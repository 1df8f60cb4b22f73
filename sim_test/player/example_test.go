package player_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// A process destroys a protection domain that it does not have.
const destroyNothing = `{"v":1,"name":"pd/none","driver":"rxe","steps":[
	{"op":"open","fd":"f","got":{"ret":"*","errno":""}},
	{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3},"got":{"ret":0,"errno":""}},
	{"op":"ioctl","fd":"f","hdr":{"object_id":1,"method_id":0},"attrs":[{"id":0,"len":0,"flags":1,"data":7}],
		"got":{"ret":-1,"errno":"ENOENT","attrs":[{"flags":1,"data":"0x7"}]}}]}`

// proxy is a target that hands system calls on to another. It stands for yours.
type proxy struct{ player.Target }

func (p proxy) Boot(c *casefile.Case) (player.Machine, error) {
	m, err := p.Target.Boot(c)
	return proxyMachine{m}, err
}

type proxyMachine struct{ player.Machine }

func (m proxyMachine) Process() player.Task { return proxyTask{m.Machine.Process()} }

type proxyTask struct{ player.Task }

// Ioctl has a mistake: it knows no ENOENT.
func (t proxyTask) Ioctl(fd int, cmd uint32, arg uint64) (int64, error) {
	ret, err := t.Task.Ioctl(fd, cmd, arg)
	if errors.Is(err, syscall.ENOENT) {
		err = syscall.EINVAL
	}
	return ret, err
}

// An implementation of uverbs plays recorded cases by being a Target: Boot makes a
// machine for each case, whose tasks make the system calls.
func ExampleTarget() {
	c, err := casefile.Unmarshal([]byte(destroyNothing))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, target := range []player.Target{&model.Model{}, proxy{&model.Model{}}} {
		r := player.Play(target, c, player.Options{})
		fmt.Println(r.Case.Name, "passed:", r.Passed())
		for i, s := range r.Steps {
			for _, d := range s.Differences {
				fmt.Printf("step %d: %v\n", i, d)
			}
		}
	}
	// Output:
	// pd/none passed: true
	// pd/none passed: false
	// step 2: errno: want ENOENT, got EINVAL
}

// A file of cases is played several at once; the results come in the order of the
// file.
func ExampleEach() {
	const file = `
{"v":1,"name":"open","driver":"rxe","steps":[{"op":"open","fd":"f","got":{"ret":"*","errno":""}}]}
{"v":1,"name":"short","driver":"rxe","steps":[{"op":"open","fd":"f"},{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3,"length":23},"got":{"ret":0,"errno":""}}]}
`
	var cases []*casefile.Case
	for c, err := range casefile.Read(strings.NewReader(file), "mine.jsonl") {
		if err != nil {
			fmt.Println(err)
			return
		}
		cases = append(cases, c)
	}
	for r := range player.Each(&model.Model{}, cases, 4, player.Options{}) {
		fmt.Println(r.Case.Name, r.Passed(), r.Err)
	}
	// Output:
	// open true <nil>
	// short false <nil>
}

// A case without answers gets those of a target.
func ExampleRecord() {
	c, err := casefile.Unmarshal([]byte(`{"v":1,"name":"context/twice","driver":"rxe","steps":[
		{"op":"open","fd":"f"},
		{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3}},
		{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	recorded, err := player.Record(&model.Model{}, c, player.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range recorded.Steps {
		fmt.Printf("%s: ret %s, errno %q\n", s.Op(), s.Got.Ret, *s.Got.Errno)
	}
	// Output:
	// open: ret *, errno ""
	// ioctl: ret 0, errno ""
	// ioctl: ret -1, errno "EINVAL"
}
