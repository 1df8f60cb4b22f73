package spectree

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText prints the tree, a line for each node and each entry, indented by
// level.
func (t *Tree) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	t.head(out)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		indent := strings.Repeat("    ", n.Depth)
		fmt.Fprintf(out, "%s%s\n", indent, n.label())
		for _, e := range n.Entries {
			fmt.Fprintf(out, "%s    slot %2d  0x%04x  %-9s  %s\n", indent, e.Slot, e.Key, e.Kind, e.Name)
		}
	}
	return out.Flush()
}

// label says what a node is: where it hangs, what it covers, how full it is.
func (n *Node) label() string {
	at := "root"
	if n.Depth > 0 {
		at = fmt.Sprintf("slot %d", n.Offset)
	}
	return fmt.Sprintf("%s: node, shift %d, keys 0x%04x to 0x%04x, %d of 64 slots", at, n.Shift, n.First, n.Last, n.Count)
}

func (t *Tree) head(out io.Writer) {
	n := t.count()
	fmt.Fprintf(out, "%s: %d entries in a tree of %d levels", t.Title, t.Len, len(t.Levels))
	if shown := n[Object] + n[Method] + n[Attr] + n[Write]; shown < t.Len {
		fmt.Fprintf(out, "; shown are %d", shown)
	}
	fmt.Fprintf(out, ": %s, %s, %s, %s\n\n", plural(n[Object], "object"), plural(n[Method], "method"),
		plural(n[Attr], "attribute"), plural(n[Write], "write() command"))
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "LEVEL\tSHIFT\tNODES\tSLOTS IN USE\tOF\n")
	for i, l := range t.Levels {
		fmt.Fprintf(tw, "%d\t%d\t%d\t%d\t%d\n", i, l.Shift, l.Nodes, l.Used, l.Room)
	}
	_ = tw.Flush() // what it writes to keeps the error
	fmt.Fprintf(out, "\nOf the %d keys of 16 bits, a lookup ends after\n", keys)
	for steps := 1; steps <= maxLevels; steps++ {
		fmt.Fprintf(out, "  %s: %d found, %d not\n", plural(steps, "node"), t.Hits[steps], t.Misses[steps])
	}
	fmt.Fprint(out, "The lookup of a method leaves its node behind, in which each of its attributes is one slot away.\n\n")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
