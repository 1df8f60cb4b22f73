package rules_test

import (
	"fmt"

	"uverbsim/report/rules"
	"uverbsim/rule"
)

// What stands behind a refusal that a program has met.
func ExampleRecorded() {
	c := rules.Recorded()
	e := c.Find(rule.HeaderLength.ID)
	fmt.Println(e.Func, "in", e.File)
	fmt.Println("shown by recorded cases:", e.Count > 0)
	e = c.Find(rule.QPNoMemory.ID)
	fmt.Println(e.Func, "in", e.File)
	fmt.Println(e.Reason.Text)
	// Output:
	// ib_uverbs_ioctl in drivers/infiniband/core/uverbs_ioctl.c
	// shown by recorded cases: true
	// create_qp in drivers/infiniband/core/verbs.c
	// Memory is refused there only when there is none left, or when a fault is injected.
}
