package spectree

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT prints the tree as a graph for Graphviz: a box for each node, with
// the entries of those of the lowest level, and an edge from each slot that
// leads to a node.
func (t *Tree) WriteDOT(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph tree {\n  label=%s;\n  labelloc=t;\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n", quote(t.Title))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		lines := []string{
			fmt.Sprintf("shift %d, 0x%04x to 0x%04x", n.Shift, n.First, n.Last),
			fmt.Sprintf("%d of 64 slots", n.Count),
		}
		for _, e := range n.Entries {
			lines = append(lines, fmt.Sprintf("%2d %s", e.Slot, e.Name))
		}
		fmt.Fprintf(out, "  n%d [label=%s];\n", i, leftAligned(lines))
		for _, b := range n.Below {
			fmt.Fprintf(out, "  n%d -> n%d [label=\"%d\"];\n", i, b, t.Nodes[b].Offset)
		}
	}
	fmt.Fprint(out, "}\n")
	return out.Flush()
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quote(s string) string { return `"` + escaper.Replace(s) + `"` }

// leftAligned makes a label of lines; \l ends a line and aligns it.
func leftAligned(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(escaper.Replace(l) + `\l`)
	}
	return `"` + b.String() + `"`
}
