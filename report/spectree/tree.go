package spectree

import (
	"slices"

	"uverbsim/kernel"
	"uverbsim/radixtree"
	"uverbsim/spec"
)

// Tree is what was seen of a device's tree.
type Tree struct {
	Title  string // "mlx5 on 6.12"
	Nodes  []Node // each before those below it, in the order of their keys
	Levels []Level
	Len    int // entries

	// Hits and Misses say of the 65536 keys that an ioctl's ids can make how many
	// end their lookup after how many nodes: found, and not found.
	Hits, Misses [maxLevels + 1]int
}

// maxLevels is how many nodes a lookup of 16 bits passes at most.
const maxLevels = 3

// keys is how many keys there can be.
const keys = 1 << (spec.ObjKeyShift + spec.ObjKeyBits)

// Level sums up the nodes of one level, the root's first.
type Level struct {
	Shift             uint
	Nodes, Used, Room int // of slots
}

// Node is a node of the tree. Of one of the lowest level Entries has what its
// slots lead to, of others Below has the nodes, by their places in Tree.Nodes.
type Node struct {
	radixtree.Node
	Entries []Entry
	Below   []int
}

// Entry is what a slot of a node of the lowest level leads to.
type Entry struct {
	Slot int
	Key  uint32
	Kind Kind
	Name string
}

// Kind is what a key means.
type Kind uint8

// The kinds.
const (
	Object Kind = iota
	Method
	Attr
	Write
)

var kindNames = [...]string{"object", "method", "attribute", "write"}

// String returns the kind's name: "object".
func (k Kind) String() string { return kindNames[k] }

// Of looks at the tree of a device.
func Of(title string, api *kernel.API) *Tree {
	tree := api.Tree()
	t := &Tree{Title: title, Len: tree.Len()}
	var parents []int
	leaf := map[uint32]int{} // the nodes of the lowest level, by their first key
	for n := range tree.Nodes() {
		i := len(t.Nodes)
		if n.Shift == 0 {
			leaf[n.First] = i
		}
		t.Nodes = append(t.Nodes, Node{Node: n})
		if parents = append(parents[:n.Depth], i); n.Depth > 0 {
			up := &t.Nodes[parents[n.Depth-1]]
			up.Below = append(up.Below, i)
		}
		if n.Depth == len(t.Levels) {
			t.Levels = append(t.Levels, Level{Shift: n.Shift})
		}
		l := &t.Levels[n.Depth]
		l.Nodes, l.Used, l.Room = l.Nodes+1, l.Used+n.Count, l.Room+64
	}
	for key, elm := range tree.From(0) {
		n := &t.Nodes[leaf[key&^spec.AttrKeyMask]]
		kind, name := describe(key, elm)
		n.Entries = append(n.Entries, Entry{Slot: int(key & spec.AttrKeyMask), Key: key, Kind: kind, Name: name})
	}
	for key := range uint32(keys) {
		steps := 0
		if tree.Walk(key, func(uint, int) { steps++ }) != nil {
			t.Hits[steps]++
		} else {
			t.Misses[steps]++
		}
	}
	return t
}

func describe(key uint32, elm *kernel.Elm) (Kind, string) {
	switch {
	case elm.Object != nil:
		return Object, elm.Object.Name
	case elm.Method != nil:
		return Method, elm.Method.Name
	case elm.Write != nil:
		return Write, elm.Write.Name
	}
	return Attr, elm.Attr.Name
}

// Within returns the nodes that have keys from first to last, with the entries
// and nodes below that are among these: an object's part of the tree.
func (t *Tree) Within(first, last uint32) *Tree {
	c := *t
	c.Nodes = nil
	at := map[int]int{}
	for i, n := range t.Nodes {
		if n.Last < first || n.First > last {
			continue
		}
		at[i] = len(c.Nodes)
		c.Nodes = append(c.Nodes, n)
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		n.Entries = slices.DeleteFunc(slices.Clone(n.Entries), func(e Entry) bool { return e.Key < first || e.Key > last })
		var below []int
		for _, b := range n.Below {
			if j, ok := at[b]; ok {
				below = append(below, j)
			}
		}
		n.Below = below
	}
	return &c
}

// count returns how many entries the nodes have, by kind.
func (t *Tree) count() (n [Write + 1]int) {
	for _, node := range t.Nodes {
		for _, e := range node.Entries {
			n[e.Kind]++
		}
	}
	return n
}
