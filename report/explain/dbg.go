package explain

import (
	"fmt"
	"strings"
)

func Debug(c *Call) {
	var p func(v *Visit, d int)
	p = func(v *Visit, d int) {
		fmt.Println(strings.Repeat("  ", d)+v.Name, v.User)
		for _, c := range v.Children {
			p(c, d+1)
		}
	}
	p(c.Trace, 0)
	r := newRequest(c)
	for _, it := range find(r, roots[c.Name], c.Trace) {
		n := "-"
		if it.visit != nil {
			n = it.visit.Name
		}
		fmt.Println(it.entered, it.excluded(), n, it.at, it.function, it.check.rules, it.check.cond, it.user, it.attr)
	}
}
