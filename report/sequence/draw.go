package sequence

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	svg "github.com/ajstarks/svgo"
)

// Measures, in pixels.
const (
	margin     = 16
	firstLane  = 84
	laneStep   = 168
	width      = firstLane + int(lanes-1)*laneStep + firstLane
	titleSize  = 52
	headSize   = 34
	rowSize    = 26
	headEvery  = 40  // rows after which the names of the lanes stand again, or a little earlier before a step
	charWidth  = 6.7 // of a label, about
	arrowWidth = 7
	boxWidth   = 128
	boxHeight  = 24
	labelRise  = 11 // of a label's letters over its line
	labelGap   = 2  // around a label
)

// style has everything that is a colour: ink on a background of its own, so that
// the page around may be light or dark.
const style = `
text { font-family: "DejaVu Sans", Verdana, Helvetica, sans-serif; font-size: 12px; fill: #1b1f24; }
text.title { font-size: 16px; font-weight: bold; }
text.about { fill: #4a5159; }
text.lane { font-weight: bold; text-anchor: middle; }
rect.under { fill: #ffffff; }
rect.page { fill: #ffffff; stroke: #c4cad1; }
rect.lane { fill: #eef1f5; stroke: #8a939d; }
rect.step { fill: #e3ecfa; }
text.step { font-weight: bold; }
line.life { stroke: #d3d8de; stroke-width: 1px; }
.call { stroke: #0b57d0; } polygon.call, circle.call { fill: #0b57d0; }
.answer { stroke: #4a5159; stroke-dasharray: 5 3; } polygon.answer, circle.answer { fill: #4a5159; }
.copy { stroke: #146c2e; } polygon.copy, circle.copy { fill: #146c2e; }
.tree { stroke: #4a5159; } polygon.tree, circle.tree { fill: #4a5159; }
.object { stroke: #00677a; } polygon.object, circle.object { fill: #00677a; }
.firmware { stroke: #7a3e9d; } polygon.firmware, circle.firmware { fill: #7a3e9d; }
.dma { stroke: #8f5400; } polygon.dma, circle.dma { fill: #8f5400; }
.refused { stroke: #b3261e; } polygon.refused, circle.refused { fill: #b3261e; }
text.refused { fill: #b3261e; stroke: none; }
text.left { font-style: italic; }
`

// WriteTo draws the diagram.
func (d *Diagram) WriteTo(w io.Writer) (int64, error) {
	d.mu.Lock()
	rows := slices.Clone(d.rows) // a row is counted up while it repeats
	d.mu.Unlock()
	left := 0
	if len(rows) > d.opts.Rows {
		left = len(rows) - d.opts.Rows
		rows = rows[:d.opts.Rows]
	}
	var b bytes.Buffer
	c := &canvas{SVG: svg.New(&b)}
	parts := split(rows)
	height := titleSize + len(parts)*headSize + len(rows)*rowSize + margin
	if left > 0 {
		height += rowSize
	}
	c.Start(width, height, fmt.Sprintf(`viewBox="0 0 %d %d"`, width, height), `role="img"`)
	c.Title(d.title)
	c.Desc(describe(d.about, rows, left))
	c.Style("text/css", style)
	c.Rect(0, 0, width, height, cssClass("page"))
	c.Text(margin, 24, d.title, cssClass("title"))
	c.Text(margin, 42, fit(d.about, width-2*margin), cssClass("about"))
	c.y = titleSize
	for _, part := range parts {
		c.head(len(part))
		for i := range part {
			c.row(&part[i])
		}
	}
	if left > 0 {
		c.y += rowSize
		c.Text(margin, c.y-6, fmt.Sprintf("%d more rows are left out.", left), cssClass("left"))
	}
	c.End()
	return b.WriteTo(w)
}

// split returns the rows in parts that each have the names of the lanes above.
func split(rows []row) [][]row {
	var parts [][]row
	from := 0
	for i := range rows {
		if n := i - from; n >= headEvery || n >= headEvery*3/4 && rows[i].class == step {
			parts = append(parts, rows[from:i])
			from = i
		}
	}
	return append(parts, rows[from:])
}

// canvas is where the rows are drawn, from the top down.
type canvas struct {
	*svg.SVG
	y int
}

func cssClass(names ...string) string { return `class="` + strings.Join(names, " ") + `"` }

func (l lane) x() int { return firstLane + int(l)*laneStep }

// head draws the names of the lanes, and the lines down from them along n rows.
func (c *canvas) head(n int) {
	for l := range lanes {
		c.Line(l.x(), c.y+boxHeight, l.x(), c.y+headSize+n*rowSize, cssClass("life"))
		c.Roundrect(l.x()-boxWidth/2, c.y, boxWidth, boxHeight, 4, 4, cssClass("lane"))
		c.Text(l.x(), c.y+16, laneNames[l], cssClass("lane"))
	}
	c.y += headSize
}

func (c *canvas) row(r *row) {
	c.y += rowSize
	y := c.y - 6
	label := r.label
	if r.times > 1 {
		label += fmt.Sprintf(" (%d times)", r.times)
	}
	switch {
	case r.class == step:
		c.Rect(margin/2, c.y-rowSize+4, width-margin, rowSize-6, cssClass("step"))
		c.Text(margin, y-2, fit(label, width-2*margin), cssClass("step"))
	case r.from == r.to:
		x := r.from.x()
		c.Circle(x, y-4, 3, cssClass(string(r.class)))
		c.label(x+10, y, label, r.class)
	default:
		from, to := r.from.x(), r.to.x()
		c.label(min(from, to)+10, y-5, label, r.class)
		c.Line(from, y, to, y, cssClass(string(r.class)))
		tip := arrowWidth
		if to < from {
			tip = -arrowWidth
		}
		c.Polygon([]int{to, to - tip, to - tip}, []int{y, y - 4, y + 4}, cssClass(string(r.class)))
	}
}

// label writes text from x on, or further to the left where it would not fit, on a
// box that hides the lines of the lanes behind it.
func (c *canvas) label(x, y int, text string, cl class) {
	if over := x + textWidth(text) - (width - margin); over > 0 {
		x = max(x-over, margin)
	}
	text = fit(text, width-margin-x)
	c.Rect(x-labelGap, y-labelRise, textWidth(text)+2*labelGap, labelRise+labelGap, cssClass("under"))
	if cl == refused {
		c.Text(x, y, text, cssClass("label", "refused"))
		return
	}
	c.Text(x, y, text, cssClass("label"))
}

func textWidth(s string) int { return int(charWidth * float64(utf8.RuneCountInString(s))) }

// fit cuts text that is wider than that.
func fit(s string, width int) string {
	letters := []rune(s)
	if most := int(float64(width) / charWidth); len(letters) > most && most > 1 {
		return string(letters[:most-1]) + "…"
	}
	return s
}

// describe says in words what the diagram shows.
func describe(about string, rows []row, left int) string {
	counts := map[class]int{}
	for i := range rows {
		counts[rows[i].class] += rows[i].times
	}
	s := fmt.Sprintf("A sequence diagram from the top down, with lanes for %s. It has %d arrows for calls, %d for copies of user memory, %d for firmware commands and their answers, and %d for DMA.",
		strings.Join(laneNames[:], ", "), counts[call], counts[copied], counts[firmware], counts[dma])
	if about != "" {
		s = about + " " + s
	}
	if left > 0 {
		s += fmt.Sprintf(" %d rows are left out.", left)
	}
	return s
}
