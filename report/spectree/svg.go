package spectree

import (
	"bytes"
	"fmt"
	"io"

	svg "github.com/ajstarks/svgo"
)

// Measures, in pixels.
const (
	margin    = 16
	headSize  = 96
	rowSize   = 20
	indent    = 24
	cell      = 7 // a slot
	cellRoom  = 64 * cell
	gap       = 10
	lineSize  = 16 // an entry
	charWidth = 7
	textWidth = 570
	width     = margin + 2*indent + cellRoom + gap + textWidth + margin
)

// style is all that is a colour: ink on a background of its own, so that the
// page around may be light or dark.
const style = `
text { font-family: "DejaVu Sans", Verdana, Helvetica, sans-serif; font-size: 12px; fill: #1b1f24; }
text.title { font-size: 16px; font-weight: bold; }
text.about { fill: #4a5159; }
text.entry { font-family: "DejaVu Sans Mono", Consolas, monospace; font-size: 11px; }
rect.page { fill: #ffffff; stroke: #c4cad1; }
rect.slots { fill: #eef1f5; stroke: #8a939d; }
line.edge, polyline.edge { stroke: #8a939d; fill: none; }
.node { fill: #4a5159; } .object { fill: #00677a; } .method { fill: #0b57d0; } .attribute { fill: #7aa7e9; } .write { fill: #8f5400; }
`

// WriteSVG draws the tree: a row for each node with its 64 slots, those in use
// filled, under the node above it. With entries the names of what the slots
// lead to follow.
func (t *Tree) WriteSVG(w io.Writer, entries bool) error {
	height := headSize + margin
	for i := range t.Nodes {
		height += rowSize
		if entries {
			height += lineSize * len(t.Nodes[i].Entries)
		}
	}
	var b bytes.Buffer
	c := svg.New(&b)
	c.Start(width, height, fmt.Sprintf(`viewBox="0 0 %d %d"`, width, height), `role="img"`)
	c.Title("The radix tree of " + t.Title)
	c.Style("text/css", style)
	c.Rect(0, 0, width, height, class("page"))
	t.drawHead(c)
	p := &painter{SVG: c, tree: t, y: headSize, entries: entries}
	for i := range t.Nodes {
		p.node(&t.Nodes[i])
	}
	c.End()
	_, err := b.WriteTo(w)
	return err
}

func (t *Tree) drawHead(c *svg.SVG) {
	c.Text(margin, 24, "The radix tree of "+t.Title, class("title"))
	about := fmt.Sprintf("%d entries;", t.Len)
	for i, l := range t.Levels {
		about += fmt.Sprintf(" level %d (shift %d): %s, %d of %d slots;", i, l.Shift, plural(l.Nodes, "node"), l.Used, l.Room)
	}
	c.Text(margin, 44, about[:len(about)-1], class("about"))
	x := margin
	for _, k := range []string{"node", Object.String(), Method.String(), Attr.String(), Write.String()} {
		c.Rect(x, 58, cell, 12, class(k))
		c.Text(x+cell+4, 68, k, class("about"))
		x += cell + 4 + charWidth*len(k) + 2*gap
	}
	c.Text(x, 68, "a slot in use and what it leads to", class("about"))
}

// painter draws nodes one under the other.
type painter struct {
	*svg.SVG
	tree    *Tree
	y       int
	entries bool
	bottoms [maxLevels]int // of the last node that was drawn on each level
}

func (p *painter) node(n *Node) {
	x := margin + n.Depth*indent
	top, mid := p.y+4, p.y+rowSize/2
	if n.Depth > 0 {
		trunk := margin + (n.Depth-1)*indent + indent/2
		p.Polyline([]int{trunk, trunk, x}, []int{p.bottoms[n.Depth-1], mid, mid}, class("edge"))
	}
	p.Rect(x, top, cellRoom, rowSize-8, class("slots"))
	for _, b := range n.Below {
		p.slot(x, top, p.tree.Nodes[b].Offset, "node")
	}
	for _, e := range n.Entries {
		p.slot(x, top, e.Slot, e.Kind.String())
	}
	p.Text(margin+2*indent+cellRoom+gap, p.y+14, n.caption())
	p.bottoms[n.Depth] = p.y + rowSize - 4
	p.y += rowSize
	if !p.entries {
		return
	}
	for _, e := range n.Entries {
		p.slot(x+indent, p.y+2, 0, e.Kind.String())
		p.Text(x+indent+2*cell, p.y+11, fmt.Sprintf("slot %2d  0x%04x  %s", e.Slot, e.Key, e.Name), class("entry"))
		p.y += lineSize
	}
}

func (p *painter) slot(x, y, i int, kind string) { p.Rect(x+i*cell, y, cell-1, rowSize-8, class(kind)) }

// caption says what a node has, by its first entry.
func (n *Node) caption() string {
	at := "root"
	if n.Depth > 0 {
		at = fmt.Sprintf("slot %d", n.Offset)
	}
	s := fmt.Sprintf("%s, 0x%04x–0x%04x, %d used", at, n.First, n.Last, n.Count)
	if len(n.Entries) > 0 {
		s += ": " + n.Entries[0].Name
	}
	return s
}

func class(name string) string { return `class="` + name + `"` }
