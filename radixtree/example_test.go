package radixtree_test

import (
	"fmt"

	"uverbsim/radixtree"
)

// The keys of uverbs: object, method and attribute in 5, 5 and 6 bits.
func key(object, method, attr uint32) uint32 { return object<<11 | method<<6 | attr }

func Example() {
	var tree radixtree.Tree[string]
	for k, name := range map[uint32]string{
		key(3, 0, 0): "CQ",
		key(3, 1, 0): "CQ CREATE",
		key(3, 1, 1): "HANDLE",
		key(3, 1, 3): "CQE",
	} {
		if err := tree.Insert(k, &name); err != nil {
			fmt.Println(err)
		}
	}

	method, attrs := tree.LookupChunk(key(3, 1, 0))
	fmt.Println(*method, "takes", *attrs.At(3))
	fmt.Println("attribute 5 is known:", attrs.At(5) != nil)

	for k, name := range tree.From(key(3, 1, 0)) {
		fmt.Printf("%#x %s\n", k, *name)
	}
	// Output:
	// CQ CREATE takes CQE
	// attribute 5 is known: false
	// 0x1840 CQ CREATE
	// 0x1841 HANDLE
	// 0x1843 CQE
}

func ExampleTree_Walk() {
	var tree radixtree.Tree[string]
	tree.Insert(key(3, 1, 0), new("CQ CREATE"))
	tree.Insert(key(15, 1, 0), new("COUNTERS CREATE"))

	name := tree.Walk(key(3, 1, 0), func(shift uint, slot int) {
		fmt.Printf("bits %d to %d: slot %d\n", shift+5, shift, slot)
	})
	fmt.Println(*name)
	// Output:
	// bits 17 to 12: slot 1
	// bits 11 to 6: slot 33
	// bits 5 to 0: slot 0
	// CQ CREATE
}

func ExampleTree_Nodes() {
	var tree radixtree.Tree[string]
	tree.Insert(key(3, 0, 0), new("CQ"))
	tree.Insert(key(3, 1, 0), new("CQ CREATE"))
	tree.Insert(key(3, 1, 1), new("HANDLE"))

	for n := range tree.Nodes() {
		fmt.Printf("%*s%#x-%#x: %d of 64\n", 2*n.Depth, "", n.First, n.Last, n.Count)
	}
	// Output:
	// 0x0-0x3ffff: 1 of 64
	//   0x1000-0x1fff: 2 of 64
	//     0x1800-0x183f: 1 of 64
	//     0x1840-0x187f: 2 of 64
}
