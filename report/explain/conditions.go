package explain

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"sync"
)

// shown is a condition as a reader gets it, with the kernel's names for the parts
// of a request that its parser looks at.
func shown(function, cond string) string {
	key := [2]string{function, cond}
	if s, ok := shownAs.Load(key); ok {
		return s.(string)
	}
	s := show(function, cond)
	shownAs.Store(key, s)
	return s
}

// conditionOf is the condition of a check as a reader gets it.
func conditionOf(it *item, rule string) string {
	if whole, ok := wholeConditions[rule]; ok {
		return whole
	}
	return shown(it.function, spelledOut(it.check.cond, it.check.defs))
}

// wholeConditions are those of checks of which the model's source has only the last
// of several questions in the place, or one that is put in terms of its own; "" for
// those that the rule and what it is on say all of.
var wholeConditions = map[string]string{
	"cmd-xrcd/bad-fd":                      "!fd_file(fdget(cmd.fd))",
	"context/device-gone":                  "!srcu_dereference(ufile->device->ib_dev, &ufile->device->disassociate_srcu)",
	"context/none":                         "!smp_load_acquire(&ufile->ucontext)",
	"eventfd/bad":                          "IS_ERR(eventfd_ctx_fdget(redirect_fd))",
	"dmabuf/bad":                           "IS_ERR(dma_buf_get(fd))",
	"method/disassociated":                 "!srcu_dereference(method_elm->handler, &disassociate_srcu)",
	"mlx5-mmap/no-entry":                   "!rdma_user_mmap_entry_get_pgoff(ucontext, pgoff)",
	"object/fd-bad":                        "!fget(fdno)",
	"object/unknown-type":                  "IS_ERR(obj)",
	"pin/unmapped":                         "!find_vma(mm, start)",
	"qp/open-unknown":                      "!xa_load(&xrcd->tgt_qps, qp_num)",
	"fd/bad":                               "!fd_file(fdget(fd))",
	"gid/empty":                            "IS_ERR(rdma_get_gid_attr(ib_dev, port_num, gid_index))",
	"info-handles/list":                    "out_len <= 0 || out_len % sizeof(u32) != 0",
	"info-handles/unknown-object":          "!uapi_get_object(uapi, object_id)",
	"ioctl/unknown":                        "cmd != RDMA_VERBS_IOCTL",
	"mlx5-bfreg/index":                     "bfregi->lib_uar_dyn || dyn_bfreg && (index_of_sys_page >= num_sys_pages || bfregn > num_dyn_bfregs || sys_pages[index_of_sys_page] == MLX5_IB_INVALID_UAR_INDEX)",
	"mlx5-cq/no-uar":                       "!uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX) && !(ucmd.flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) && context->bfregi.lib_uar_dyn",
	"cmd-qp/open-xrcd":                     "IS_ERR(xrcd_uobj)",
	"cmd-srq/xrcd":                         "IS_ERR(xrcd_uobj)",
	"mlx5-devx/async-object":               "!devx_is_valid_obj_id(attrs, uobj, cmd_in)",
	"mlx5-devx/modify-object":              "!devx_is_valid_obj_id(attrs, uobj, cmd_in)",
	"mlx5-devx/query-object":               "!devx_is_valid_obj_id(attrs, uobj, cmd_in)",
	"mlx5-qp/create-flags":                 "create_flags != 0, when process_create_flags has cleared those that it accepts",
	"mlx5-rl/full":                         "",
	"mlx5-devx/async-not-query":            "!devx_is_obj_query_cmd(cmd_in)",
	"mlx5-devx/not-create":                 "!devx_is_obj_create_cmd(cmd_in, &opcode)",
	"mlx5-devx/not-modify":                 "!devx_is_obj_modify_cmd(cmd_in)",
	"mlx5-devx/not-query":                  "!devx_is_obj_query_cmd(cmd_in)",
	"mlx5-devx/subscribe-cookie":           "uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM) && !uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE)",
	"mlx5-dm/icm-none":                     "",
	"mlx5-flow/anchor-no-namespace":        "!mlx5_get_flow_namespace(dev, ns_type)",
	"mlx5-flow/modify-header-no-namespace": "",
	"mlx5-flow/modify-header-table-type":   "mlx5_ib_ft_type_to_namespace(ft_type, &namespace)",
	"mlx5-flow/reformat-unsupported":       "",
	"mlx5-flow/raw-counter-offsets":        "num_offsets != 1",
	"mlx5-flow/table-type":                 "mlx5_ib_ft_type_to_namespace(ft_type, &namespace)",
	"mlx5-modify-qp/step":                  "!ib_modify_qp_is_ok(cur_state, new_state, qp_type, attr_mask)",
	"mlx5-modify-qp/transition":            "!optab[cur_state][new_state]",
	"mlx5-net/no-neighbour":                "",
	"mlx5-net/no-route":                    "",
	"mlx5-qp/flags":                        "flags != 0, when process_vendor_flags has cleared those that it accepts",
	"mlx5-qp/recv-shift":                   "check_shl_overflow(1, rq->wqe_shift, &wq_size)",
	"mlx5-qp/subtype":                      "qp_type == IB_QPT_DRIVER && !(ucmd.flags & (MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT))",
	"mlx5-qp/user-index":                   "!cqe_version && ucmd.uidx != MLX5_IB_DEFAULT_UIDX",
	"mlx5-var/full":                        "",
	"rxe/qp-transition":                    "!ib_modify_qp_is_ok(cur_state, new_state, qp_type, attr_mask)",
	"stub/no-queue-pairs":                  "",
	"stub/no-work-queues":                  "",
	"stub/reached":                         "",
	"write/command-flags":                  "hdr->command & ~(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK)",
	"write/not-supported":                  "",
}

// spelledOut puts a call in the place of a name that says nothing but how it went.
func spelledOut(cond string, defs []string) string {
	return went.ReplaceAllStringFunc(cond, func(name string) string {
		if call := setTo(defs, name); strings.Contains(call, "(") && !unspeakable.MatchString(call) {
			return call
		}
		return name
	})
}

var (
	// went are the names of how a call went.
	went = regexp.MustCompile(`\b(ok|err)\b`)
	// unspeakable is a text that has a part without a name.
	unspeakable = regexp.MustCompile(`[( ]_`)
)

// shownAs has what conditions are shown as.
var shownAs sync.Map

func show(function, cond string) string {
	cond = bracketed(cond)
	cond = keyword.ReplaceAllString(cond, "$1")
	if strings.HasPrefix(function, "kernel.") || strings.HasPrefix(function, "(*kernel.") {
		cond = kernelNames.Replace(cond)
	}
	for _, k := range kernelForms {
		cond = k.from.ReplaceAllString(cond, k.to)
	}
	cond = kernelMember(cond)
	cond = qwqe.ReplaceAllString(cond, "${1}q_wqe_")
	return arrow.ReplaceAllString(pointer.ReplaceAllString(cond, "NULL"), "$1->$2")
}

// bracketed puts brackets where C binds otherwise than the language of the model:
// around the bits that are compared, and around shifts that are added to.
func bracketed(cond string) string {
	x := parse(cond)
	if x == nil {
		return cond
	}
	marks := map[int]string{}
	bits := map[token.Token]bool{token.AND: true, token.OR: true, token.XOR: true}
	shifts := map[token.Token]bool{token.SHL: true, token.SHR: true}
	ast.Inspect(x, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op == token.LAND || b.Op == token.LOR {
			return true
		}
		for _, side := range []ast.Expr{b.X, b.Y} {
			inner, ok := side.(*ast.BinaryExpr)
			if !ok || bits[b.Op] || !bits[inner.Op] && (!shifts[inner.Op] || b.Op != token.ADD && b.Op != token.SUB) {
				continue
			}
			marks[int(inner.Pos())-1] += "("
			marks[int(inner.End())-1] = ")" + marks[int(inner.End())-1]
		}
		return true
	})
	if len(marks) == 0 {
		return cond
	}
	var out strings.Builder
	for i := 0; i <= len(cond); i++ {
		out.WriteString(marks[i])
		if i < len(cond) {
			out.WriteByte(cond[i])
		}
	}
	return out.String()
}

var (
	// keyword is a name that would be a keyword of Go.
	keyword = regexp.MustCompile(`\b(type|range|map|func|default|switch|var|import|case|select|chan|go|package|const|return|struct|interface)_\b`)
	qwqe    = regexp.MustCompile(`\b([sr])qwqe_`)
	pointer = regexp.MustCompile(`\bnil\b`)
	// arrow is a member of something that C has a pointer to.
	arrow = regexp.MustCompile(`\b(uattr|method_elm|spec|val_spec|attr|qp|cq|uobj|udata|ufile|filp|f|o)\.([a-z])`)
)

// kernelForms are how the kernel asks what the model asks otherwise: its functions
// that copy answer how much was not copied, and are not asked whether they have.
var kernelForms = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`!(copy_(?:from|to)_user)\((?:\w+\.)*mem, `), "$1("},
	{regexp.MustCompile(`!((?:get|put)_user)\d+\((?:\w+\.)*mem, `), "$1("},
	{regexp.MustCompile(`!udata\.copy_from\(bytes\(([\w.]+)\)\)`), "ib_copy_from_udata($1, udata)"},
	{regexp.MustCompile(`!udata\.copy_to\(bytes\(([\w.]+)\)\)`), "ib_copy_to_udata(udata, $1)"},
	{regexp.MustCompile(`bytes\(([\w.]+)\)`), "$1"},
	{regexp.MustCompile(`\b(?:\w+\.)?is_port\(([^)]*\)?)\)`), "rdma_is_port_valid(dev, $1)"},
	{regexp.MustCompile(`\b(?:s\.)?has\((IB_QP_\w+)\)`), "(attr_mask & $1)"},
	{regexp.MustCompile(`pgoff\.page_size == 0`), "!mlx5_umem_find_best_quantized_pgoff(umem)"},
	{regexp.MustCompile(`\bc\.(max_(?:send|recv|inline)\w+)`), "cap->$1"},
	{regexp.MustCompile(`usecnt\.(?:load\(\)|read\("\w+"\))`), "atomic_read(&usecnt)"},
	{regexp.MustCompile(`filp\.nonblock\(\)`), "filp.f_flags & O_NONBLOCK"},
	{regexp.MustCompile(`!f\.writable\(\)`), "!(filp.f_mode & FMODE_WRITE)"},
	{regexp.MustCompile(`\bf\.has_ucontext\(\)`), "ufile.ucontext"},
}

// kernelNames are the names that ib_uverbs_ioctl and what it calls have for what
// the model calls otherwise.
var kernelNames = strings.NewReplacer(
	"u.attr_data()", "uattr.attr_data.reserved", "u.elem_id()", "uattr.attr_data.enum_data.elem_id",
	"u.enum_reserved()", "uattr.attr_data.enum_data.reserved", "u.len()", "uattr.len", "u.flags()", "uattr.flags",
	"u.data", "uattr.data", "val.len", "val_spec.u.ptr.len", "val.min_len", "val_spec.u.ptr.min_len",
	"val.zero_trailing", "val_spec.zero_trailing", "b.is_cleared(u, val_spec.u.ptr.len)", "uverbs_is_attr_cleared()",
	"b.is_cleared(u, val.len)", "uverbs_is_attr_cleared(uattr, val_spec.u.ptr.len)",
	"s.type", "spec.type", "spec.min_items", "spec.u2.objs_arr.min_len", "spec.max_items", "spec.u2.objs_arr.max_len",
	"len(s.enum)", "spec.u.enum_def.num_elems", "a == nil", "IS_ERR(attr)", "elm == nil", "!slot", "(m.mandatory & ~b.present) != 0", "!bitmap_subset(method_elm.attr_mandatory, attr_present)",
	"TYPE_PTR_OUT", "UVERBS_ATTR_TYPE_PTR_OUT", "TYPE_PTR_IN", "UVERBS_ATTR_TYPE_PTR_IN", "TYPE_ENUM_IN", "UVERBS_ATTR_TYPE_ENUM_IN",
	"TYPE_IDR", "UVERBS_ATTR_TYPE_IDR", "TYPE_FD", "UVERBS_ATTR_TYPE_FD", "TYPE_RAW_FD", "UVERBS_ATTR_TYPE_RAW_FD",
	"TYPE_ID_RS_ARRAY", "UVERBS_ATTR_TYPE_IDRS_ARRAY",
)

// namesIn are the names that a condition speaks of, each once.
func namesIn(cond string) (out []string) {
	cond = strings.TrimSuffix(cond, " fails")
	e := parse(cond)
	if e == nil {
		return words(cond)
	}
	seen := map[string]bool{}
	add := func(s string) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	var walk func(x ast.Expr)
	walk = func(x ast.Expr) {
		switch x := x.(type) {
		case *ast.ParenExpr:
			walk(x.X)
		case *ast.UnaryExpr:
			walk(x.X)
		case *ast.BinaryExpr:
			walk(x.X)
			walk(x.Y)
		case *ast.Ident, *ast.SelectorExpr:
			add(cond[x.Pos()-1 : x.End()-1])
		case *ast.IndexExpr:
			walk(x.X)
			walk(x.Index)
		case *ast.CallExpr:
			if f, ok := x.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "fail" {
				return // a want of memory has no name
			}
			add(cond[x.Pos()-1 : x.End()-1])
			for _, a := range x.Args {
				walk(a)
			}
		}
	}
	walk(e)
	return out
}

var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*`)

func words(s string) []string { return word.FindAllString(s, -1) }

// parts are the conditions of which one or more hold, as texts.
func parts(cond string) (out []string) {
	e := parse(cond)
	if e == nil {
		return []string{cond}
	}
	var walk func(x ast.Expr)
	walk = func(x ast.Expr) {
		if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.LOR {
			walk(b.X)
			walk(b.Y)
			return
		}
		out = append(out, cond[x.Pos()-1:x.End()-1])
	}
	walk(e)
	return out
}
