package schema_test

import (
	"fmt"
	"log"

	"uverbsim/report/schema"
	"uverbsim/spec"
)

// Which commands of an rxe device carry descriptors?
func ExampleBuild() {
	rxe, err := schema.DriverByName("rxe")
	if err != nil {
		log.Fatal(err)
	}
	doc, err := schema.Build(rxe, spec.Linux6_12)
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range doc.Objects {
		for _, w := range o.Writes {
			if w.Pruned == "" && (w.TakesFD || w.GivesFD) {
				fmt.Println(w.Name, "takes one:", w.TakesFD, "returns one:", w.GivesFD)
			}
		}
	}
	// Output:
	// IB_USER_VERBS_CMD_GET_CONTEXT takes one: false returns one: true
	// IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL takes one: false returns one: true
	// IB_USER_VERBS_CMD_CREATE_CQ takes one: true returns one: false
	// IB_USER_VERBS_EX_CMD_CREATE_CQ takes one: true returns one: false
}

// How is an attribute passed on that a program sent?
func ExampleDocument_Find() {
	mlx5, err := schema.DriverByName("mlx5")
	if err != nil {
		log.Fatal(err)
	}
	doc, err := schema.Build(mlx5, spec.Linux6_12)
	if err != nil {
		log.Fatal(err)
	}
	sel, err := doc.Find("devx_obj.async_query")
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range sel.Method.Attrs {
		fmt.Printf("%#x %s: %s\n", a.ID, a.Direction, a.Data)
	}
	// Output:
	// 0x1000 in: handle
	// 0x1001 in: address
	// 0x1002 in: fd
	// 0x1003 in: value
	// 0x1004 in: value
}
