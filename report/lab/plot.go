package lab

import (
	"bytes"
	"errors"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is what is drawn of a report: for each category a group of bars, one of
// each series.
type Chart struct {
	Title, Y   string
	Categories []string
	Series     []Series
}

// Series are the values of one kind, one for each category.
type Series struct {
	Name   string
	Values []float64
}

// add adds a value to the series with that name.
func (c *Chart) add(series string, v float64) {
	for i := range c.Series {
		if c.Series[i].Name == series {
			c.Series[i].Values = append(c.Series[i].Values, v)
			return
		}
	}
	c.Series = append(c.Series, Series{series, []float64{v}})
}

// The size of a plot.
const (
	plotWidth  = 24 * vg.Centimeter
	plotHeight = 11 * vg.Centimeter
)

// shades can be told apart without colours too.
var shades = []color.Color{
	color.RGBA{R: 0x1f, G: 0x4e, B: 0x79, A: 0xff},
	color.RGBA{R: 0xe0, G: 0x8a, B: 0x1e, A: 0xff},
	color.RGBA{R: 0x7f, G: 0xb3, B: 0xd5, A: 0xff},
	color.RGBA{R: 0x5b, G: 0x8c, B: 0x5a, A: 0xff},
	color.RGBA{R: 0xb0, G: 0xb0, B: 0xb0, A: 0xff},
	color.RGBA{R: 0x6b, G: 0x3f, B: 0x69, A: 0xff},
}

// families are what a viewer may use in place of the font that the plot is laid
// out with: the first three are as wide.
const families = "Liberation Sans, Arial, Helvetica, sans-serif"

// SVG draws a report: its times if it has any, else its counts.
func SVG(w io.Writer, r *Report) error {
	chart := r.TimesChart
	if chart == nil {
		chart = r.CountsChart
	}
	if chart == nil {
		return errors.New("lab: nothing to draw")
	}
	p, err := chart.plot()
	if err != nil {
		return err
	}
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(canvas))
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return err
	}
	svg := bytes.ReplaceAll(buf.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:"+families+";"))
	_, err = w.Write(svg)
	return err
}

func (c *Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	sans := func(f *font.Font, size vg.Length) {
		f.Typeface, f.Variant, f.Size = "Liberation", "Sans", size
	}
	sans(&p.Title.TextStyle.Font, 13)
	sans(&p.Y.Label.TextStyle.Font, 11)
	sans(&p.X.Tick.Label.Font, 10)
	sans(&p.Y.Tick.Label.Font, 10)
	sans(&p.Legend.TextStyle.Font, 10)
	p.Title.Text, p.Title.Padding = c.Title, 8
	p.Y.Label.Text = c.Y
	p.Y.Tick.Marker = plot.TickerFunc(ticks)

	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 0xdd}
	p.Add(grid)

	group := plotWidth * 9 / 10 / vg.Length(len(c.Categories)) // what a category has, with the gap behind it
	width := min(group*3/4/vg.Length(len(c.Series)), 34)
	highest := 0.0
	for i, s := range c.Series {
		bars, err := plotter.NewBarChart(plotter.Values(s.Values), width)
		if err != nil {
			return nil, err
		}
		bars.Color, bars.LineStyle.Width = shades[i%len(shades)], 0
		bars.Offset = width * (vg.Length(i) - vg.Length(len(c.Series)-1)/2)
		p.Add(bars)
		p.Legend.Add(s.Name, bars)
		labels, err := c.labels(i, bars.Offset)
		if err != nil {
			return nil, err
		}
		sans(&labels.TextStyle[0].Font, 8)
		for j := range labels.TextStyle {
			labels.TextStyle[j] = labels.TextStyle[0]
			labels.TextStyle[j].XAlign = draw.XCenter
		}
		p.Add(labels)
		for _, v := range s.Values {
			highest = max(highest, v)
		}
	}
	p.NominalX(c.Categories...)
	p.X.Min, p.X.Max = -0.5, float64(len(c.Categories))-0.5
	p.X.Width, p.X.Padding = 0, 0
	p.Y.Min, p.Y.Max = 0, highest*1.28 // room for the legend
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.YOffs = -2
	p.Legend.Padding = 3
	return p, nil
}

// ticks are at most seven, from 0 on, at multiples of 1, 2 or 5 times a power of
// ten.
func ticks(_, top float64) []plot.Tick {
	if top <= 0 {
		return nil
	}
	const most = 7
	step := math.Pow(10, math.Floor(math.Log10(top/most)))
	for _, by := range []float64{1, 2, 5, 10} {
		if top/(step*by) < most {
			step *= by
			break
		}
	}
	var ts []plot.Tick
	for i := 0; float64(i)*step <= top; i++ {
		v := float64(i) * step
		ts = append(ts, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 12, 64)})
	}
	return ts
}

// labels are the values over the bars of a series.
func (c *Chart) labels(i int, offset vg.Length) (*plotter.Labels, error) {
	var at plotter.XYLabels
	for x, v := range c.Series[i].Values {
		at.XYs = append(at.XYs, plotter.XY{X: float64(x), Y: v})
		at.Labels = append(at.Labels, valueText(v))
	}
	l, err := plotter.NewLabels(at)
	if err != nil {
		return nil, err
	}
	l.Offset = vg.Point{X: offset, Y: 2}
	return l, nil
}

// valueText has two digits behind the point at most, and none for large values.
func valueText(v float64) string {
	unit := 100.0
	if v >= 10 {
		unit = 1
	}
	return strconv.FormatFloat(math.Round(v*unit)/unit, 'f', -1, 64)
}
