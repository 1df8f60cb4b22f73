package demo

import (
	"fmt"
	"iter"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/verbs/libmlx5"
)

// Step is a part of the trip.
type Step struct {
	N     int // from 1
	Title string
	Text  string // what it is about
	Acts  []*Act
	Found string // what came of it
}

// step is a step to be played. It returns what came of it.
type step struct {
	title, text string
	run         func(*machine) (found string, err error)
	// loud says which acts the step is about; nil is all.
	loud func(*Act) bool
	// memory: the program's own accesses to memory belong to it.
	memory bool
}

// steps are the trip.
var steps = []step{
	{title: "Boot",
		text: `A machine comes up with one mlx5 adapter. The driver brings the firmware up,
asks what it can do, and registers a device.`,
		run:  func(m *machine) (string, error) { return m.bootText(), nil },
		loud: func(*Act) bool { return false }},
	{title: "Open the device and get a context",
		text: `libmlx5 opens the node, finds out whether the kernel takes write() commands by
ioctl (ENOSPC says yes), gets a context with GET_CONTEXT, looks at what the
device can do, and allocates a page of registers and a descriptor for
asynchronous events. GET_CONTEXT is shown with what the kernel does about it:
the header is copied, the method found in the tree by its key, the attributes
are copied and looked at in the order in which they came, and then the handler
runs.`,
		run:  (*machine).stepOpen,
		loud: isGetContext},
	{title: "Make a completion channel",
		text: `A channel is a descriptor from which events are read. It is made by an older
command, so it travels in INVOKE_WRITE.`,
		run: (*machine).stepChannel},
	{title: fmt.Sprintf("Create a completion queue of %d entries", entries),
		text: `The entries lie in the program's memory, and so does the doorbell record, by
which program and device tell each other how far they are. The driver needs to
know both, in UHW_IN; it pins them for the device and has the firmware make the
queue.`,
		run: (*machine).stepCreate},
	{title: "Ask for an event",
		text: `The program arms the queue with two stores: to the doorbell record, and to the
device's register. No system call is needed.`,
		run: (*machine).stepArm, memory: true},
	{title: "The device completes a request",
		text: `A message has arrived for a queue pair. The device reads how far the program
is, writes an entry, its last byte last, and an event to its event queue. The
interrupt brings the event to the channel.`,
		run: (*machine).stepComplete},
	{title: "Take the event",
		text: `The program sleeps in read() on the channel until an event comes. This one is
there already.`,
		run: (*machine).stepEvent},
	{title: "Poll the queue",
		text: `The program reads the entry from its own memory: the owner bit in the last
byte says whether it is there. Then it tells the device how far it is.`,
		run: (*machine).stepPoll, memory: true},
	{title: "Destroy the queue",
		text: `The method destroys the object before its handler runs; the handler only tells
how many events the program has read.`,
		run: (*machine).stepDestroy},
	{title: "Close",
		text: `The program closes the channel and the device; what is left in the file goes
with it.`,
		run:  (*machine).stepClose,
		loud: func(*Act) bool { return false }},
}

// Trip plays the steps one after the other on a machine of its own. The last
// pair has the error if it could not be played to its end.
func Trip() iter.Seq2[*Step, error] {
	return func(yield func(*Step, error) bool) {
		m, err := boot()
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range steps {
			s, err := m.play(i)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func (m *machine) play(i int) (*Step, error) {
	s := &steps[i]
	m.rec.memory = s.memory
	found, err := s.run(m)
	out := &Step{N: i + 1, Title: s.title, Text: s.text, Acts: m.rec.take(), Found: found}
	for _, a := range out.Acts {
		a.Quiet = s.loud != nil && !s.loud(a)
	}
	return out, err
}

func isGetContext(a *Act) bool {
	return a.Ioctl != nil && a.Ioctl.Header.ObjectID == spec.UVERBS_OBJECT_DEVICE &&
		a.Ioctl.Header.MethodID == spec.UVERBS_METHOD_GET_CONTEXT
}

func (m *machine) bootText() string {
	commands := 0
	for _, a := range m.rec.acts {
		for i := range a.Events {
			if a.Events[i].Kind == trace.Firmware {
				commands++
			}
		}
	}
	return fmt.Sprintf("%s is %s, %d firmware commands later.", node, m.dev.IB.Name, commands)
}

func (m *machine) stepOpen() (string, error) {
	if err := m.open(); err != nil {
		return "", err
	}
	return fmt.Sprintf("Descriptor %d, with %d completion vector; asynchronous events come from descriptor %d.",
		m.ctx.CmdFD, m.ctx.NumCompVectors, m.ctx.AsyncFD), nil
}

func (m *machine) stepChannel() (string, error) {
	if err := m.createChannel(); err != nil {
		return "", err
	}
	return fmt.Sprintf("Descriptor %d.", m.channel.FD), nil
}

func (m *machine) stepCreate() (string, error) {
	if err := m.createCQ(); err != nil {
		return "", err
	}
	return fmt.Sprintf("Handle %d, number %d on the device; it holds %d completions.", m.cq.Handle, m.cq.CQN, m.cq.CQE), nil
}

func (m *machine) stepArm() (string, error) {
	return "The next completion raises an event.", m.cq.ReqNotify(false)
}

// messageLen is how long the message is that arrives, in bytes.
const messageLen = 64

func (m *machine) stepComplete() (string, error) {
	if err := m.createQP(); err != nil {
		return "", err
	}
	m.rec.act(fmt.Sprintf("the device puts a completion into queue %d", m.cq.CQN))
	c := hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, ByteCount: messageLen, QPN: m.qp.Num}
	if err := m.dev.HW.Complete(m.cq.CQN, c); err != nil {
		return "", err
	}
	m.rec.act("the device raises the event")
	if !m.dev.Step(m.prog.p.MainTask().Trace) {
		return "", notPlayed("no event was raised")
	}
	return "The channel has an event.", nil
}

func (m *machine) stepEvent() (string, error) {
	cq, err := m.ctx.GetCQEvent(m.channel)
	if err != nil {
		return "", err
	}
	if cq != m.cq {
		return "", notPlayed("the event is about another queue")
	}
	cq.AckEvents(1)
	return "It is about the queue, by the user handle that the program gave it.", nil
}

func (m *machine) stepPoll() (string, error) {
	wc := make([]libmlx5.WC, 2)
	n, err := m.cq.Poll(wc)
	if err != nil {
		return "", err
	}
	if n != 1 || wc[0].Status != libmlx5.IBV_WC_SUCCESS || wc[0].Opcode != libmlx5.IBV_WC_RECV {
		return "", notPlayed("%d completions, the first %+v", n, wc[0])
	}
	return fmt.Sprintf("One completion: IBV_WC_RECV, IBV_WC_SUCCESS, %d bytes on queue pair %#x.", wc[0].ByteLen, wc[0].QPNum), nil
}

func (m *machine) stepDestroy() (string, error) {
	if err := m.destroyQP(); err != nil {
		return "", err
	}
	return "The program has read one event, and acknowledged it.", m.cq.Destroy()
}

func (m *machine) stepClose() (string, error) {
	if err := m.channel.Destroy(); err != nil {
		return "", err
	}
	m.ctx.Close()
	return fmt.Sprintf("%d files of the device are open.", m.dev.Uverbs.OpenFiles()), nil
}
