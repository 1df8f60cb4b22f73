package methods

import (
	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Requests and responses of write() commands. A command sees its core's part
// in b.UCore, no matter whether write() or INVOKE_WRITE brought it. The structs
// are those of package spec; they pass through the bundle's scratch memory, so
// that they may lie on the stack.

// request copies the request. A shorter one is extended by zeros; of a longer
// one the rest must be zero. It models uverbs_request in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd/request-fault, cmd/request-tail.
func request[T any](b *kernel.Bundle, req *T) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "uverbs_request").Leave()
	u := &b.UCore
	dst := spec.Bytes(req)
	size := uint64(len(dst))
	raw := b.Scratch(len(dst))
	if !copyuser.CopyFromUser(t, b.Task().Mem, raw[:min(u.InLen, size)], u.In) {
		return rule.CmdRequestFault
	}
	copy(dst, raw)
	if u.InLen > size && !isCleared(b, u.In+copyuser.Addr(size), u.InLen-size) {
		return rule.CmdRequestTail
	}
	return nil
}

// response copies as much of the response as the user has room for, and
// clears what room is left. It models uverbs_response in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd/response-fault, attr/output-fault, attr/flag-fault.
func response[T any](b *kernel.Bundle, resp *T) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "uverbs_response").Leave()
	src := spec.Bytes(resp)
	raw := b.Scratch(len(src))
	copy(raw, src)
	if b.IsValid(spec.UVERBS_ATTR_CORE_OUT) {
		return b.CopyToStructOrZero(spec.UVERBS_ATTR_CORE_OUT, raw)
	}
	u := &b.UCore
	size := uint64(len(raw))
	if !copyuser.CopyToUser(t, b.Task().Mem, u.Out, raw[:min(u.OutLen, size)]) {
		return rule.CmdResponseFault
	}
	if size < u.OutLen && !copyuser.ClearUser(t, b.Task().Mem, u.Out+copyuser.Addr(size), u.OutLen-size) {
		return rule.CmdResponseFault
	}
	return nil
}

// responseLength returns how much of a response of type T the user gets, in
// bytes: the response_length of extended commands. It models
// uverbs_response_length in drivers/infiniband/core/uverbs_cmd.c.
func responseLength[T any](b *kernel.Bundle, resp *T) uint32 {
	return uint32(min(b.UCore.OutLen, uint64(len(spec.Bytes(resp)))))
}

// reqIter steps over the arrays that follow the struct of a request (struct
// uverbs_req_iter).
type reqIter struct {
	b        *kernel.Bundle
	cur, end copyuser.Addr
}

// requestStart copies the struct at the start of a request that has arrays
// behind it. It models uverbs_request_start in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd/start-short, cmd/start-fault.
func requestStart[T any](b *kernel.Bundle, req *T) (reqIter, error) {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "uverbs_request_start").Leave()
	u := &b.UCore
	dst := spec.Bytes(req)
	size := uint64(len(dst))
	if u.InLen < size {
		return reqIter{}, rule.CmdStartShort
	}
	raw := b.Scratch(len(dst))
	if !copyuser.CopyFromUser(t, b.Task().Mem, raw, u.In) {
		return reqIter{}, rule.CmdStartFault
	}
	copy(dst, raw)
	return reqIter{b, u.In + copyuser.Addr(size), u.In + copyuser.Addr(u.InLen)}, nil
}

// next copies the next len(dst) bytes. It models uverbs_request_next in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd/next-short, cmd/next-fault.
func (it *reqIter) next(dst []byte) error {
	t := it.b.Trace()
	defer t.EnterInlined(trace.Uverbs, "uverbs_request_next").Leave()
	n := copyuser.Addr(len(dst))
	if it.cur+n > it.end {
		return rule.CmdNextShort
	}
	if !copyuser.CopyFromUser(t, it.b.Task().Mem, dst, it.cur) {
		return rule.CmdNextFault
	}
	it.cur += n
	return nil
}

// nextPtr skips n bytes and returns where they are. It models
// uverbs_request_next_ptr in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd/array-short.
func (it *reqIter) nextPtr(n uint64) (copyuser.Addr, error) {
	defer it.b.Trace().EnterInlined(trace.Uverbs, "uverbs_request_next_ptr").Leave()
	if n > uint64(it.end-it.cur) {
		return 0, rule.CmdArrayShort
	}
	at := it.cur
	it.cur += copyuser.Addr(n)
	return at, nil
}

// finish demands that the rest of the request is zero. It models
// uverbs_request_finish in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd/finish-tail.
func (it *reqIter) finish() error {
	defer it.b.Trace().Enter(trace.Uverbs, "uverbs_request_finish").Leave()
	if !isCleared(it.b, it.cur, uint64(it.end-it.cur)) {
		return rule.CmdFinishTail
	}
	return nil
}

// isCleared says whether n bytes of the user's are zero; what cannot be read
// is not.
func isCleared(b *kernel.Bundle, from copyuser.Addr, n uint64) bool {
	cleared, ok := copyuser.IsBufferCleared(b.Trace(), b.Task().Mem, from, n)
	return cleared && ok
}
