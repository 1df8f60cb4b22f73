package spectree

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/schema"
	"uverbsim/spec"
)

var update = flag.Bool("update", false, "write the golden files")

func treeOf(t *testing.T, driver string) *Tree {
	t.Helper()
	d, err := schema.DriverByName(driver)
	require.NoError(t, err)
	api, err := d.API(spec.Linux6_12)
	require.NoError(t, err)
	return Of(driver+" on 6.12", api)
}

func text(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, write(&b))
	return b.String()
}

// TestNumbers has numbers that follow from the declarations: mlx5 keeps all of
// the 33 + 32 methods and 133 + 102 attributes (spec/testdata/uapi-6.12.json),
// and with 42 commands and 27 objects that is 369 entries; a key of 16 bits needs
// three levels.
func TestNumbers(t *testing.T) {
	tree := treeOf(t, "mlx5")
	require.Equal(t, 369, tree.Len)
	require.Equal(t, [...]int{27, 65, 235, 42}, tree.count())
	require.Len(t, tree.Levels, 3)
	for i, shift := range []uint{12, 6, 0} {
		require.Equal(t, shift, tree.Levels[i].Shift)
	}
	require.Equal(t, tree.Levels[1].Nodes, tree.Levels[0].Used)
	require.Equal(t, tree.Levels[2].Nodes, tree.Levels[1].Used)
	require.Equal(t, tree.Len, tree.Levels[2].Used)

	require.Equal(t, [...]int{0, 0, 0, 369}, tree.Hits, "each hit passes three nodes")
	misses := 0
	for _, n := range tree.Misses {
		misses += n
	}
	require.Equal(t, 65536-369, misses)
	// A node of the level below the root is of two objects. There are none of the
	// objects 18 and 19, nor of 30 and 31, whose keys end at the root.
	require.Equal(t, 2*4096, tree.Misses[1])
}

// TestNodes wants each node where its place in the node above says, and each
// entry in the node that its key says.
func TestNodes(t *testing.T) {
	for _, driver := range []string{"core", "mlx5", "rxe", "efa", "bnxt_re"} {
		tree := treeOf(t, driver)
		entries, below := 0, 0
		for _, n := range tree.Nodes {
			require.Equal(t, n.Count, len(n.Entries)+len(n.Below))
			for _, e := range n.Entries {
				require.Zero(t, n.Shift)
				require.Equal(t, n.First+uint32(e.Slot), e.Key)
				require.NotEmpty(t, e.Name)
				entries++
			}
			for _, b := range n.Below {
				c := tree.Nodes[b]
				require.Equal(t, n.First+uint32(c.Offset)<<n.Shift, c.First)
				require.Equal(t, n.Depth+1, c.Depth)
				below++
			}
		}
		require.Equal(t, tree.Len, entries)
		require.Equal(t, len(tree.Nodes)-1, below)
	}
}

func TestWithin(t *testing.T) {
	tree := treeOf(t, "mlx5").Within(0x1800, 0x1fff) // CQ
	require.Equal(t, [...]int{1, 2, 13, 5}, tree.count())
	require.Len(t, tree.Nodes, 2+5)
	require.Equal(t, []int{1}, tree.Nodes[0].Below)
	require.Equal(t, []int{2, 3, 4, 5, 6}, tree.Nodes[1].Below)
	require.Equal(t, 14, tree.Nodes[0].Count, "the node is as full as it is")
}

func TestText(t *testing.T) {
	got := text(t, treeOf(t, "mlx5").Within(0x1800, 0x1fff).WriteText)
	if *update {
		require.NoError(t, os.WriteFile("testdata/cq.txt", []byte(got), 0o644))
	}
	want, err := os.ReadFile("testdata/cq.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// TestDOT reads the graph back: a grammar of what WriteDOT uses of the language,
// with every node declared once and every edge between declared nodes.
func TestDOT(t *testing.T) {
	for _, driver := range []string{"mlx5", "rxe"} {
		tree := treeOf(t, driver)
		nodes, edges := readDOT(t, text(t, tree.WriteDOT))
		require.Len(t, nodes, len(tree.Nodes))
		require.Len(t, edges, len(tree.Nodes)-1)
		for i, n := range tree.Nodes {
			label := nodes["n"+strconv.Itoa(i)]
			require.Contains(t, label, strconv.Itoa(n.Count)+" of 64 slots")
			for _, e := range n.Entries {
				require.Contains(t, label, e.Name)
			}
		}
		for _, e := range edges {
			require.Contains(t, nodes, e[0])
			require.Contains(t, nodes, e[1])
		}
	}
}

const dotString = `"(?:[^"\\]|\\.)*"`

var (
	dotNode = regexp.MustCompile(`^(n\d+) \[label=(` + dotString + `)\]$`)
	dotEdge = regexp.MustCompile(`^(n\d+) -> (n\d+) \[label=` + dotString + `\]$`)
	dotAttr = regexp.MustCompile(`^\w+=(\w+|` + dotString + `)$`)
	dotDefs = regexp.MustCompile(`^node \[\w+=(\w+|` + dotString + `)(, \w+=(\w+|` + dotString + `))*\]$`)
)

func readDOT(t *testing.T, graph string) (nodes map[string]string, edges [][2]string) {
	body, ok := strings.CutPrefix(graph, "digraph tree {\n")
	require.True(t, ok)
	body, ok = strings.CutSuffix(body, "}\n")
	require.True(t, ok)
	nodes = map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		s, ok := strings.CutSuffix(strings.TrimSpace(line), ";")
		require.True(t, ok, line)
		if m := dotNode.FindStringSubmatch(s); m != nil {
			require.NotContains(t, nodes, m[1])
			nodes[m[1]] = m[2]
		} else if m := dotEdge.FindStringSubmatch(s); m != nil {
			edges = append(edges, [2]string{m[1], m[2]})
		} else {
			require.True(t, dotAttr.MatchString(s) || dotDefs.MatchString(s), line)
		}
	}
	return nodes, edges
}

// TestSVG wants a drawing that is XML, with a rectangle for each slot that is in
// use, and inside of its page.
func TestSVG(t *testing.T) {
	tree := treeOf(t, "mlx5")
	for _, entries := range []bool{false, true} {
		d := xml.NewDecoder(strings.NewReader(text(t, func(w io.Writer) error { return tree.WriteSVG(w, entries) })))
		slots := map[string]int{}
		var texts []string
		width, height := 0, 0
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if s, ok := tok.(xml.CharData); ok {
				texts = append(texts, string(s))
			}
			e, ok := tok.(xml.StartElement)
			if !ok {
				continue
			}
			a := map[string]string{}
			for _, x := range e.Attr {
				a[x.Name.Local] = x.Value
			}
			number := func(name string) int {
				n, err := strconv.Atoi(a[name])
				require.NoError(t, err, "%s of %v", name, e)
				return n
			}
			switch e.Name.Local {
			case "svg":
				width, height = number("width"), number("height")
			case "rect":
				slots[a["class"]]++
				require.LessOrEqual(t, number("x")+number("width"), width)
				require.LessOrEqual(t, number("y")+number("height"), height)
			case "text":
				require.Less(t, number("x"), width)
				require.Less(t, number("y"), height)
			}
		}
		for _, n := range tree.Nodes {
			for _, e := range n.Entries {
				label := fmt.Sprintf("slot %2d  0x%04x  %s", e.Key%64, e.Key, e.Name)
				require.Equal(t, entries, slices.Contains(texts, label), label)
			}
		}
		twice := 1
		if entries {
			twice = 2 // in the node, and in front of the name
		}
		require.Equal(t, 27*twice+1, slots["object"]) // and one in the legend
		require.Equal(t, 65*twice+1, slots["method"])
		require.Equal(t, 235*twice+1, slots["attribute"])
		require.Equal(t, 42*twice+1, slots["write"])
		require.Equal(t, len(tree.Nodes)-1+1, slots["node"])
		require.Equal(t, len(tree.Nodes), slots["slots"])
	}
}
