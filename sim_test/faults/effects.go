package faults

import (
	"slices"
	"strings"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/stub"
	"uverbsim/trace"
)

// Effect is something that a call in which steps fail leaves behind, on a real kernel
// too.
type Effect struct {
	Why string
	of  func(o *Outcome, s *Step) bool
	// Leaves are the books that may differ behind the call, by the beginnings of their
	// names, or behind * by what is in them; Stays those that may differ when everything is closed.
	Leaves, Stays []string
	Done          bool // the call has done its work: the books are as behind it without the fault, but for what others leave
	Rest          bool // the rest of the case may be answered otherwise; where books may differ, if they do
	Pair          bool // it is met only behind another fault
	Chance        bool // it hangs on what the device does at the same time: a run may not show it
}

// Effects are all of them.
var Effects = []Effect{
	{Why: "an object that the driver does not give up, of a file that is closed and has no other one that can go, is lost with what it holds (uverbs_destroy_ufile_hw)",
		of: func(o *Outcome, s *Step) bool {
			return expectStep(s).Exception == closing && (lastOne(o.Call.before) || stub.Refuses(o.Case.Device))
		},
		Leaves: []string{"Hardware.", "Abandoned", "Charges", "Processes"}, Stays: []string{"Hardware.", "Abandoned", "Charges"}, Rest: true},
	{Why: "an event that there is no memory for is lost (ib_uverbs_async_handler, ib_uverbs_comp_handler)",
		of:     func(_ *Outcome, s *Step) bool { return s.What == "ib_uverbs_event" },
		Leaves: []string{"*.Unread "}, Rest: true},
	{Why: "an event of a device that goes is lost too where there is no memory for it (ib_uverbs_remove_one)",
		of:   func(_ *Outcome, s *Step) bool { return s.What == "ib_uverbs_event" && s.In("ib_uverbs_remove_one") },
		Rest: true},
	{Why: "a child's mapping of the device is taken out of it (rdma_umap_open)",
		of:     func(_ *Outcome, s *Step) bool { return s.In("rdma_umap_open") },
		Leaves: []string{"*.Umaps "}, Rest: true},
	{Why: "an XRC domain stays in use by a queue pair that could not be opened (create_xrc_qp_user)",
		of:     func(_ *Outcome, s *Step) bool { return s.In("create_xrc_qp_user") },
		Leaves: []string{"*.Uses "}, Stays: []string{"Hardware.xrcd", "Abandoned", "Charges"}, Rest: true},
	{Why: "an XRC domain without a file is in use once more when the driver does not give it up (ib_uverbs_dealloc_xrcd)",
		of:     func(_ *Outcome, s *Step) bool { return s.In("ib_uverbs_dealloc_xrcd") },
		Leaves: []string{"*.Uses ", "Hardware.xrcd", "Abandoned", "Charges"}, Stays: []string{"Hardware.xrcd", "Abandoned", "Charges"}, Rest: true},
	{Why: "a shared queue pair that the driver does not give up is lost, and its XRC domain stays in use (__ib_destroy_shared_qp)",
		of:     func(_ *Outcome, s *Step) bool { return s.In("__ib_destroy_shared_qp") },
		Leaves: []string{"Files", "Hardware.", "Abandoned", "Charges"}, Stays: []string{"Hardware.", "Abandoned", "Charges"}, Rest: true},
	{Why: "a multicast group that the driver does not let go is off the list already, and its queue pair in use for ever (ib_uverbs_detach_mcast)",
		of:     func(_ *Outcome, s *Step) bool { return s.In("ib_uverbs_detach_mcast") && s.What == "detach_mcast" },
		Leaves: []string{"*.Groups "}, Rest: true, Stays: []string{"Hardware.", "Abandoned", "Charges"}},
	{Why: "a destroy whose answer cannot be written, or not flagged as written: the object is gone by then",
		of: func(_ *Outcome, s *Step) bool {
			return isCopy(s) && !s.In("uverbs_request") && slices.ContainsFunc(destroyers, s.In)
		},
		Done: true, Rest: true},
	{Why: "a queue pair that was changed, whose answer cannot be written (mlx5_ib_modify_qp, ib_uverbs_ex_modify_qp)",
		of: func(_ *Outcome, s *Step) bool {
			return isCopy(s) && (s.Where() == "mlx5_ib_modify_qp" && s.What == "copy_to_user" || s.In("ib_uverbs_ex_modify_qp") && s.In("uverbs_response"))
		},
		Done: true, Rest: true},
	{Why: "a completion queue that has its new size, whose answer cannot be written (ib_uverbs_resize_cq)",
		of: func(_ *Outcome, s *Step) bool {
			return isCopy(s) && s.In("ib_uverbs_resize_cq") && s.In("uverbs_response")
		},
		Done: true, Rest: true},
	{Why: "work that was posted, whose answer cannot be written (ib_uverbs_post_send)",
		of: func(_ *Outcome, s *Step) bool {
			return isCopy(s) && s.In("ib_uverbs_post_send") && s.In("uverbs_response")
		},
		Leaves: []string{"*.Unread "}, Rest: true, Chance: true},
	{Why: "rxe sends behind the call's back: the events come when they come",
		of: func(o *Outcome, _ *Step) bool {
			return Method(o.Case, o.Call.Step) == "IB_USER_VERBS_CMD_POST_SEND" && (o.Rest == "" || strings.Contains(o.Rest, ".Unread "))
		},
		Leaves: []string{"*.Unread "}, Rest: true, Chance: true},
	{Why: "a completion queue that was not armed, since nobody looks at what the driver answers (ib_uverbs_req_notify_cq)",
		of:   func(_ *Outcome, s *Step) bool { return s.What == "req_notify_cq" },
		Rest: true},
	{Why: "the rate of a queue pair for raw packets that could not be reset when it was destroyed stays in use (destroy_qp_common)",
		of:     func(_ *Outcome, s *Step) bool { return s.In("destroy_qp_common") && s.In("modify_raw_packet_qp") },
		Leaves: []string{"Hardware.rl_table"}, Stays: []string{"Hardware.rl_table"}},
	{Why: "counters of a flow that was not made keep the device's counter (mlx5_ib_counters_clear_description)",
		of:     func(_ *Outcome, s *Step) bool { return s.In("_create_flow_rule") },
		Leaves: []string{"Hardware.flow_counter"}, Rest: true},
	{Why: "counters of a flow that was made, whose answer cannot be written, keep the device's counter and have no description any more (mlx5_ib_counters_clear_description)",
		of: func(o *Outcome, s *Step) bool {
			return isCopy(s) && s.In("ib_uverbs_ex_create_flow") && s.In("uverbs_response") && !strings.HasPrefix(o.Rest, "made again")
		},
		Leaves: []string{"Hardware.flow_counter"}, Rest: true},
	{Why: "a queue that could not be mapped waits to be mapped no longer (rxe_mmap)",
		of:     func(_ *Outcome, s *Step) bool { return s.What == "remap_vmalloc_range" },
		Leaves: []string{"Hardware.pending_mmaps"}, Rest: true},
	{Why: "an answer over the header of the call itself, of which a part was written",
		of: func(o *Outcome, s *Step) bool {
			return isCopy(s) && s.In("uverbs_copy_to_struct_or_zero") && strings.Contains(o.Rest, "EINVAL instead of 0")
		},
		Rest: true},
	{Why: "a queue pair that was changed as far as the memory for reads, and takes no packets any more (rxe_qp_from_attr)",
		of:   func(_ *Outcome, s *Step) bool { return s.Where() == "rxe_qp_from_attr" },
		Rest: true},
	{Why: "a command by INVOKE_WRITE that is done, where the driver's answer cannot be flagged as written (ib_uverbs_run_method)",
		of:   func(o *Outcome, s *Step) bool { return flagsDriver(s) && invokes(o) },
		Done: true, Rest: true},
	{Why: "a context that is set already, where the driver's answer cannot be flagged as written (ib_uverbs_run_method)",
		of: func(o *Outcome, s *Step) bool {
			return flagsDriver(s) && Method(o.Case, o.Call.Step) == "UVERBS_METHOD_GET_CONTEXT"
		},
		Done: true, Rest: true},
	{Why: "a region that was changed, whose answer cannot be written (ib_uverbs_rereg_mr)",
		of: func(_ *Outcome, s *Step) bool {
			return isCopy(s) && s.In("ib_uverbs_rereg_mr") && s.In("uverbs_response")
		},
		Done: true, Rest: true},
	{Why: "a create that is undone, and whose driver refuses to: the object stays (rdma_alloc_abort_uobject)",
		of:     func(_ *Outcome, s *Step) bool { return s.In("rdma_alloc_abort_uobject") },
		Leaves: []string{"Files", "Hardware.", "Charges", "Processes"}, Rest: true},
	{Why: "a create whose answer cannot be written, and whose driver refuses of itself to undo it: the object stays (rdma_alloc_abort_uobject)",
		of: func(o *Outcome, s *Step) bool {
			return answers(s) && stub.Refuses(o.Case.Device) && Creates(o.Case, o.Call.Step)
		},
		Leaves: []string{"Files", "Hardware.", "Abandoned", "Charges", "Processes"}, Rest: true},
	{Why: "what a driver does and loses that refuses of itself hangs on how often it was asked",
		of: func(o *Outcome, s *Step) bool {
			return stub.Refuses(o.Case.Device) && (s.In("rdma_alloc_abort_uobject") || answers(s) && Creates(o.Case, o.Call.Step))
		},
		Stays: []string{"Hardware.", "Abandoned", "Charges"}, Rest: true},
	{Why: "a read into memory that cannot be written: the event is off the queue by then",
		of: func(_ *Outcome, s *Step) bool {
			return isCopy(s) && (s.In("ib_uverbs_event_read") || s.In("devx_async_cmd_event_read") || s.In("devx_async_event_read"))
		},
		Done: true, Rest: true},
	{Why: "what the device says to a command nobody waits for is in the event (MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY)",
		of:   func(_ *Outcome, s *Step) bool { return s.In("mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY") },
		Rest: true},
	{Why: "a number that the device does not tell is answered as a default (mlx5_query_min_inline, mlx5_query_port_roce)",
		of:   func(_ *Outcome, s *Step) bool { return s.In("mlx5_query_min_inline") || s.In("mlx5_query_port_roce") },
		Rest: true},
	{Why: "a region that is undone, and whose key the device does not give up, keeps its memory pinned (create_real_mr)",
		of: func(o *Outcome, s *Step) bool {
			return len(o.Hits) > 1 && slices.Contains(commands, s.Kind) && s.What == "DESTROY_MKEY" && s.In("create_real_mr")
		},
		Leaves: []string{"Processes", "Hardware.", "Abandoned"}, Stays: []string{"Hardware.", "Abandoned", "Charges"}, Rest: true, Pair: true},
	{Why: "what the device or the driver does not give up behind another fault, while the call is undone, is lost with what it holds",
		of: func(o *Outcome, _ *Step) bool {
			return len(o.Hits) > 1 && !expectStep(&o.Hits[0]).GoesOn && givesUp(&o.Hits[1])
		},
		Leaves: []string{"Hardware.", "Abandoned"}, Stays: []string{"Hardware.", "Abandoned", "Charges"}, Rest: true, Pair: true},
	{Why: "what the device does not give up while a call is undone, or where nobody looks at what it answers, is lost with what it holds",
		of: func(o *Outcome, s *Step) bool {
			e := expectStep(s)
			return slices.Contains(commands, s.Kind) && givesUp(s) && e.GoesOn && e.Exception != closing
		},
		Leaves: []string{"Hardware.", "Abandoned"}, Stays: []string{"Hardware.", "Abandoned", "Charges"}, Rest: true},
	{Why: "what the device does not give up while a file is closed is in its way where it is to give up what that uses, which is lost too",
		of: func(o *Outcome, s *Step) bool {
			return slices.Contains(commands, s.Kind) && givesUp(s) && expectStep(s).GoesOn && s.In("uverbs_destroy_ufile_hw")
		},
		Leaves: []string{"Hardware.", "Abandoned", "Charges", "Processes"}, Stays: []string{"Hardware.", "Abandoned", "Charges"}},
}

// destroyers are the functions of the calls that destroy an object and then answer.
var destroyers = []string{
	"ib_uverbs_destroy_cq", "ib_uverbs_destroy_qp", "ib_uverbs_destroy_srq", "ib_uverbs_ex_destroy_wq",
	"ib_uverbs_handler_UVERBS_METHOD_CQ_DESTROY", "ib_uverbs_handler_UVERBS_METHOD_QP_DESTROY",
	"ib_uverbs_handler_UVERBS_METHOD_SRQ_DESTROY", "ib_uverbs_handler_UVERBS_METHOD_WQ_DESTROY",
}

// lastOne says whether a file of those books may come to a round in which no more than
// one object can be destroyed: there is no other one, or the newest is in use by an older
// one and goes a round later. Where there are more, one that fails is tried again behind
// the others.
func lastOne(b *model.Books) bool {
	if b == nil || len(b.Files) == 0 {
		return true // calls at the same time, or a file that only a mapping holds: nobody knows
	}
	return slices.ContainsFunc(b.Files, func(f model.FileBooks) bool {
		free := 0
		for _, o := range f.Objects {
			if o.Uses == 0 {
				free++
			}
		}
		return free <= 1 || f.Objects[0].Uses > 0
	})
}

// ends are the words with which operations begin, and commands of the device, that end
// something.
var ends = []string{"DESTROY_", "DEALLOC_", "DELETE_", "DETACH_", "DRAIN_", "destroy_", "dealloc_", "dereg_", "detach_"}

// givesUp says whether a step ends something of the device's or the driver's.
func givesUp(s *Step) bool {
	return (slices.Contains(commands, s.Kind) || s.Kind == trace.Op) &&
		slices.ContainsFunc(ends, func(begin string) bool { return strings.HasPrefix(s.What, begin) })
}

// answers says whether a step writes a part of the answer.
func answers(s *Step) bool { return isCopy(s) && (s.What == "copy_to_user" || s.What == "put_user") }

// flagsDriver says whether a step flags the driver's answer, when the handler is
// through.
func flagsDriver(s *Step) bool {
	n := len(s.Stack)
	return isCopy(s) && n > 1 && s.Where() == "uverbs_set_output" && s.Stack[n-2] == "ib_uverbs_run_method"
}

// invokes says whether the call is a command in an ioctl.
func invokes(o *Outcome) bool {
	if o.Call.Step >= len(o.Case.Steps) {
		return false
	}
	a, ok := o.Case.Steps[o.Call.Step].Do.(*casefile.Ioctl)
	return ok && invoked(a) != ""
}

func isCopy(s *Step) bool { return s.Kind == trace.Copy || s.Kind == trace.Middle }

// explain takes out what effects explain, and says which did.
func explain(o *Outcome) {
	var met []*Effect
	behind := o.behind
	for i := range Effects {
		e := &Effects[i]
		if slices.ContainsFunc(o.Hits, func(s Step) bool { return e.of(o, &s) }) {
			met = append(met, e)
			behind = e.left(behind, e.Leaves)
		}
	}
	for _, e := range met {
		done := e.Done && o.seen && len(behind) == 0
		books, close := e.left(o.Books, e.Leaves), e.left(o.Close, e.Stays)
		if done {
			books = nil
		}
		k := Kept{Books: len(books) < len(o.Books), Close: len(close) < len(o.Close)}
		k.Rest = e.Rest && o.Rest != "" && (k.Books || k.Close || done || e.Chance || len(e.Leaves) == 0 && !e.Done)
		if k == (Kept{}) {
			continue
		}
		o.Effects = append(o.Effects, e)
		o.Books, o.Close = books, close
		if k.Rest {
			o.Rest = ""
		}
		o.Kept = Kept{o.Kept.Books || k.Books, o.Kept.Rest || k.Rest, o.Kept.Close || k.Close}
	}
}

// left are the differences that begin with none of the names.
func (*Effect) left(d []string, names []string) (out []string) {
	for _, line := range d {
		is := func(n string) bool {
			if part, ok := strings.CutPrefix(n, "*"); ok {
				return strings.Contains(line, part)
			}
			return strings.HasPrefix(line, n)
		}
		if !slices.ContainsFunc(names, is) {
			out = append(out, line)
		}
	}
	return out
}
