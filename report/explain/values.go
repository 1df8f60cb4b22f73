package explain

import (
	"go/ast"
	"go/token"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"uverbsim/report/decode"
	"uverbsim/rule"
	"uverbsim/spec"
)

// values are the numbers that the deciding check speaks of, and what its
// condition comes to.
func values(r *request, refused *rule.Rule, it *item) (out []Value, holds value) {
	add := func(vs ...Value) {
		for _, v := range vs {
			known := false
			for i := range out {
				known = known || out[i].Name == v.Name
			}
			if !known && v.Name != "" {
				out = append(out, v)
			}
		}
	}
	own := special[refused.ID]
	if own != nil {
		add(own(r, it)...)
	}
	for _, v := range append(r.faulted(refused), r.speaks(refused.ID)...) {
		r.blamed[v.Name] = true
		add(v)
	}
	told := len(out) > 0
	if it != nil {
		holds = it.env.eval(it.check.cond)
		contradicts := holds.kind == truth && !holds.truth
		if it.user >= 0 && own == nil {
			add(r.attrValues(it.user)...)
		}
		if it.user >= 0 && strings.Contains(it.check.cond, "is_cleared(") {
			add(r.tails(it)...)
		}
		var named []Value
		if !contradicts && len(out) == 0 {
			named = r.ofCondition(it)
		}
		if it.attr != "" && !told {
			add(r.attrValue(it.attr)...)
		}
		add(named...)
	}
	pins := pins(refused.ID)
	if it != nil && len(out) == 0 && pins {
		add(r.handed(it)...)
	}
	if it != nil && len(out) == 0 {
		add(r.alike(it)...)
	}
	if len(out) == 0 && pins {
		add(r.addresses()...)
	}
	found := len(out) > 0
	for _, w := range append(words(refused.Why), words(refused.Do)...) {
		if !found {
			add(r.spoken(w)...)
		}
		if !told {
			add(r.limit(w)...)
		}
	}
	if len(out) == 0 {
		add(r.arguments()...)
	}
	if len(out) == 0 && it != nil {
		add(implied(it)...)
	}
	if len(out) == 0 {
		for _, v := range r.destroyed() {
			r.blamed[v.Name] = true
			add(v)
		}
	}
	if objects[refused.ID] {
		add(r.objects()...)
	}
	if len(out) > 0 && own == nil && (it == nil || it.user < 0) {
		add(limits(it)...)
	}
	return out, holds
}

// ofCondition are the values of what the deciding condition names.
func (r *request) ofCondition(it *item) (out []Value) {
	cond := it.check.cond
	for _, part := range []struct{ call, name string }{{"udata.copy_from(", "UHW_IN"}, {"udata.copy_to(", "UHW_OUT"}} {
		if strings.Contains(cond, part.call) {
			out = append(out, r.part(part.name)...)
		}
	}
	for _, name := range namesIn(held(it)) {
		vs := r.named(it, name)
		if vs == nil {
			vs = r.behind(it, name, 0)
		}
		out = append(out, vs...)
	}
	for _, v := range out {
		r.blamed[v.Name] = true
	}
	out = append(out, r.refusedBits(it)...)
	if strings.Contains(cond, "is_cleared(") {
		out = append(out, r.tails(it)...)
	}
	if strings.Contains(cond, "is_port(") {
		for _, v := range r.device() {
			if v.Name == "phys_ports" {
				out = append(out, v)
			}
		}
	}
	return out
}

// held is the part of a condition that decided, where it has several and it can be
// told of each whether it held; otherwise all of it.
func held(it *item) string {
	var hold []string
	for _, part := range parts(it.check.cond) {
		v := it.env.eval(part)
		if v.kind != truth {
			return it.check.cond
		}
		if v.truth {
			hold = append(hold, part)
		}
	}
	if len(hold) == 0 {
		return it.check.cond
	}
	return strings.Join(hold, " || ")
}

// implied are the values that follow from it that a condition held: of what it
// says to be so, or to be a constant.
func implied(it *item) (out []Value) {
	cond := it.check.cond
	var walk func(x ast.Expr)
	walk = func(x ast.Expr) {
		source := func(x ast.Expr) string { return shown(it.function, cond[x.Pos()-1:x.End()-1]) }
		switch x := x.(type) {
		case *ast.ParenExpr:
			walk(x.X)
		case *ast.SelectorExpr:
			out = append(out, text(lastName(source(x)), "true"))
		case *ast.UnaryExpr:
			if s, ok := x.X.(*ast.SelectorExpr); ok && x.Op == token.NOT {
				out = append(out, text(lastName(source(s)), "false"))
			}
		case *ast.BinaryExpr:
			s, ok := x.X.(*ast.SelectorExpr)
			switch {
			case x.Op == token.LAND:
				walk(x.X)
				walk(x.Y)
			case x.Op == token.EQL && ok && source(x.Y) != "NULL":
				out = append(out, text(lastName(source(s)), "%s", source(x.Y)))
			}
		}
	}
	if x := parse(cond); x != nil {
		walk(x)
	}
	return out
}

// lastName is the last part of a name.
func lastName(s string) string { return s[strings.LastIndexAny(s, ".>")+1:] }

// assigned is the member of the request, or the attribute, that a name of a condition
// was set to as it is.
func (r *request) assigned(it *item, name string) *Value {
	for e, depth := it.env, 0; e != nil && depth < 2*maxDepth; depth++ {
		name = unconverted(name)
		if _, v := r.lookup(it.function, it.user, it.attr, name); v != nil {
			return v
		}
		def, next := setTo(e.defs, name), e
		if def == "" {
			def, next = setTo(e.binds, name), e.caller
		}
		if def == "" {
			return nil
		}
		if x, ok := parse(def).(*ast.CallExpr); ok {
			if f, ok := x.Fun.(*ast.SelectorExpr); ok && len(x.Args) > 0 && accessors[f.Sel.Name] {
				if a, ok := x.Args[0].(*ast.Ident); ok && strings.Contains(a.Name, "_ATTR_") {
					_, v := r.attribute(a.Name)
					return v
				}
			}
		}
		if def == name && next == e {
			return nil
		}
		name, e = def, next
	}
	return nil
}

func setTo(defs []string, name string) string {
	for i := 0; i+1 < len(defs); i += 2 {
		if defs[i] == name {
			return defs[i+1]
		}
	}
	return ""
}

// unconverted is a name without the conversions and parentheses around it.
func unconverted(s string) string {
	for {
		switch x := parse(s).(type) {
		case *ast.ParenExpr:
			s = s[x.X.Pos()-1 : x.X.End()-1]
			continue
		case *ast.CallExpr:
			if f, ok := x.Fun.(*ast.Ident); ok && len(x.Args) == 1 && widths[f.Name].bits != 0 {
				s = s[x.Args[0].Pos()-1 : x.Args[0].End()-1]
				continue
			}
		}
		return s
	}
}

// alike are the members of the request that are called as something in the
// condition is, whatever that is a part of there.
func (r *request) alike(it *item) (out []Value) {
	lists := [][]Value{r.core, r.driver, r.attributes()}
	for _, name := range namesIn(it.check.cond) {
		name = name[strings.LastIndex(name, ".")+1:]
		for _, list := range lists {
			for i := range list {
				if v := &list[i]; matches(v.Name, strings.TrimSuffix(name, "_")) || v.Name == "attr_"+name {
					out = append(out, *v)
				}
			}
		}
	}
	return out
}

// limits are the constants of the kernel and of drivers that a condition names.
func limits(it *item) (out []Value) {
	if it == nil {
		return nil
	}
	for _, name := range namesIn(it.check.cond) {
		n, ok := constants[name]
		switch {
		case !ok || uapi.MatchString(name) || strings.Contains(it.check.cond, "kernel.has("+name+")"):
		case isMask(it.check.cond, name) || n >= 1<<32:
			out = append(out, hexNumber(name, n))
		default:
			out = append(out, number(name, n))
		}
	}
	return out
}

// operation is a member of the driver's operations, by the name that a condition
// has for it.
func (r *request) operation(name string) []Value {
	op, ok := strings.CutPrefix(name, "ops.")
	if !ok || r.call.IB == nil {
		return nil
	}
	v := reflect.ValueOf(r.call.IB.Ops)
	for i := range v.NumField() {
		if f := v.Field(i); member(v.Type().Field(i).Name) == op && f.Kind() == reflect.Func {
			if f.IsNil() {
				return []Value{{Name: "ops->" + op, Value: "NULL"}}
			}
			return []Value{{Name: "ops->" + op, Value: "the driver's"}}
		}
	}
	return nil
}

// handed are the members of the request that callers handed down to the function
// of a check.
func (r *request) handed(it *item) (out []Value) {
	for e := it.env; e != nil && e.caller != nil; e = e.caller {
		for i := 0; i+1 < len(e.binds); i += 2 {
			for _, name := range namesIn(e.binds[i+1]) {
				if _, v := r.lookup(it.function, it.user, it.attr, name); v != nil {
					out = append(out, *v)
				}
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// named is what a name of a condition stood for.
func (r *request) named(it *item, name string) []Value {
	if _, ok := constants[name]; ok || name == "t" || strings.Contains(name, ".fail(") {
		return nil
	}
	if it.user >= 0 && (ofAttr[name] != nil || name == "n") {
		return nil // it is shown with the attribute
	}
	if _, v := r.lookup(it.function, it.user, it.attr, name); v != nil {
		if isMask(it.check.cond, name) && !strings.ContainsAny(v.Value, "x_|") {
			return []Value{hexNumber(v.Name, v.n)}
		}
		return []Value{*v}
	}
	if vs := r.operation(name); vs != nil {
		return vs
	}
	if attr := driverParts[name]; attr != "" && r.sent(attr) != nil {
		return []Value{text(attr, "%d bytes", r.sent(attr).Len)}
	}
	if unconverted(name) != name {
		return nil // its inner name is shown
	}
	if v := r.assigned(it, name); v != nil {
		return []Value{*v}
	}
	v := it.env.eval(name)
	text := shown(it.function, name)
	switch v.kind {
	case numeric:
		s := v.n.String()
		switch {
		case isMask(it.check.cond, name) && v.n.IsUint64():
			s = withNumber(r.bitsOf(it, name), v.n.Uint64())
		case v.n.BitLen() > 24 && v.n.Sign() > 0:
			s = "0x" + v.n.Text(16)
		}
		return []Value{{Name: text, Value: s + it.derived(name)}}
	case truth:
		return []Value{{Name: text, Value: strconv.FormatBool(v.truth) + it.derived(name)}}
	}
	return nil
}

// behind are the values that a name of the function was made from.
func (r *request) behind(it *item, name string, depth int) (out []Value) {
	if depth > 3 || strings.Contains(name, "(") {
		return nil
	}
	for i := 0; i+1 < len(it.env.defs); i += 2 {
		if it.env.defs[i] != name {
			continue
		}
		for _, inner := range namesIn(it.env.defs[i+1]) {
			if inner == name {
				continue
			}
			vs := r.named(it, inner)
			if vs == nil {
				vs = r.behind(it, inner, depth+1)
			}
			out = append(out, vs...)
		}
	}
	return out
}

// uapi are the names of constants that a reader knows.
var uapi = regexp.MustCompile(`^(IB|MLX5_IB|UVERBS|RDMA|VM|PROT|MAP|CAP|O|UVERBS_ATTR_TYPE)_|^(TYPE|MAX)_|^FI`)

// driverParts are the attributes that have the driver's part of a request and of
// its response.
var driverParts = map[string]string{"udata.in_len": "UVERBS_ATTR_UHW_IN", "udata.out_len": "UVERBS_ATTR_UHW_OUT"}

// tails say where data goes on behind what the kernel knows, and is not zero.
func (r *request) tails(it *item) (out []Value) {
	add := func(name string, data []byte, known int) {
		for i := known; i < len(data); i++ {
			if data[i] != 0 {
				out = append(out, text(name, "%d bytes are known, byte %d of %d is %#02x", known, i, len(data), data[i]))
				return
			}
		}
	}
	if r.call.Ioctl != nil {
		for i := range r.call.Ioctl.Attrs {
			raw := &r.call.Ioctl.Attrs[i]
			d := r.ioctl.Attrs[i].In
			switch {
			case !raw.Pointer || raw.Spec == nil || it.user >= 0 && it.user != i:
			case it.user == i && dataSpec(raw) != nil:
				add("tail", raw.In, int(dataSpec(raw).Len))
			case d != nil && d.Kind == decode.Struct && len(d.Tail) > 0 && len(raw.In) == int(raw.Len):
				add(raw.Spec.Name+"'s tail", raw.In, len(raw.In)-len(d.Tail))
			}
		}
	}
	if r.write != nil {
		for _, v := range []*decode.Value{r.write.Request, r.write.UdataIn} {
			if v != nil && len(v.Tail) > 0 {
				add("tail of "+v.Type, v.Tail, 0)
			}
		}
	}
	return out
}

// derived says what a name of the function stands for, behind its value.
func (it *item) derived(name string) string {
	if strings.Contains(name, ".") {
		return ""
	}
	for i := 0; i+1 < len(it.env.defs); i += 2 {
		if it.env.defs[i] == name {
			def := it.env.defs[i+1]
			if _, ok := parse(def).(*ast.ParenExpr); ok {
				def = def[1 : len(def)-1]
			}
			return ", which is " + shown(it.function, def)
		}
	}
	return ""
}

// spoken is what a word of a rule's text stood for: a member of the request, or an
// attribute.
func (r *request) spoken(word string) []Value {
	if !strings.Contains(word, "_") && len(word) < 3 {
		return nil
	}
	for _, list := range [][]Value{r.core, r.driver} {
		for _, v := range list {
			if v.Name == word {
				return []Value{v}
			}
		}
	}
	if strings.ToUpper(word) == word && strings.Contains(word, "ATTR_") && r.takesAttr(word) {
		return r.attrValue(word)
	}
	if word == "UHW_IN" || word == "UHW_OUT" {
		return r.part(word)
	}
	return nil
}

// limit is what a word of a rule's text stood for: a limit of the device.
func (r *request) limit(word string) []Value {
	if strings.HasPrefix(word, "max_") || strings.HasPrefix(word, "num_") {
		for _, v := range r.device() {
			if v.Name == word && r.ofDevice(v).Name == word {
				return []Value{v}
			}
		}
	}
	if r.call.Cap != nil && strings.Contains(word, "_") && strings.ToLower(word) == word {
		if n, ok := r.call.Cap(word); ok {
			return []Value{number(word, n)}
		}
	}
	return nil
}

// takesAttr says whether the method of the call has an attribute of that name.
func (r *request) takesAttr(name string) bool {
	if r.method == nil {
		return false
	}
	for i := range r.method.Attrs {
		if r.method.Attrs[i].Name == name {
			return true
		}
	}
	return false
}

// attrValues are the fields of the user's attribute that matter to the parser.
func (r *request) attrValues(user int) []Value {
	if r.call.Ioctl == nil || user >= len(r.call.Ioctl.Attrs) {
		return nil
	}
	a := &r.call.Ioctl.Attrs[user]
	out := []Value{text("attribute", "%d of the call, id %d (%s)", user, a.AttrID, orUnknown(r.attrName(user)))}
	if a.Spec == nil {
		return append(out, text("flags", "%#x", a.Flags))
	}
	switch a.Spec.Type {
	case spec.TypeIDR, spec.TypeFD, spec.TypeRawFD:
		out = append(out, text("data", "%d", int64(a.Data)), text("len", "%d", a.Len))
	case spec.TypeEnumIn:
		out = append(out, text("elem_id", "%d", a.ElemID()), text("len", "%d", a.Len))
	default:
		out = append(out, text("len", "%d", a.Len))
		if a.Pointer {
			out = append(out, text("data", "%#x", a.Data))
		} else if a.Len == 0 {
			break
		} else if d := r.ioctl.Attrs[user].In; d != nil {
			out = append(out, text("data", "%s", plain(d)))
		}
	}
	if a.AttrData != 0 && a.Spec.Type != spec.TypeEnumIn {
		out = append(out, text("attr_data.reserved", "%#x", a.AttrData))
	}
	return out
}

func orUnknown(name string) string {
	if name == "" {
		return "which the method does not have"
	}
	return name
}

// attrValue is what an attribute of the call had.
func (r *request) attrValue(name string) []Value {
	if r.ioctl == nil {
		return nil
	}
	for i := range r.ioctl.Attrs {
		d := &r.ioctl.Attrs[i]
		if d.Name.Text != name {
			continue
		}
		raw := &r.call.Ioctl.Attrs[i]
		switch {
		case d.In != nil && raw.Pointer:
			return []Value{text(name, "%s: %s", pointsTo(int(raw.Len), raw.Data), plain(d.In))}
		case d.In != nil:
			v := Value{Name: name, Value: plain(d.In), n: d.In.Num, known: true}
			return []Value{v}
		case raw.Pointer:
			return []Value{text(name, "%s", pointsTo(int(raw.Len), raw.Data))}
		}
		return []Value{text(name, "%#x", raw.Data)}
	}
	return []Value{text(name, "not sent")}
}

func (r *request) attrName(i int) string {
	if r.ioctl == nil || i >= len(r.ioctl.Attrs) {
		return ""
	}
	return r.ioctl.Attrs[i].Name.Text
}
