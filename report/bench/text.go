package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Text writes a report for readers.
func Text(w io.Writer, r *Report) error {
	var b strings.Builder
	r.writeWhere(&b)
	width := len("write/refused-command")
	for i := range r.Results {
		width = max(width, len(r.Results[i].Call))
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	driver := ""
	for i := range r.Results {
		res := &r.Results[i]
		if res.Driver != driver {
			driver = res.Driver
			t.Flush() // a Builder takes everything
			fmt.Fprintln(&b)
			r.writeHead(t, fmt.Sprintf("%-*s", width, driver+", ns"))
		}
		r.writeRow(t, res, width)
	}
	t.Flush()
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// writeWhere says on what machine it was measured, and by what.
func (r *Report) writeWhere(w io.Writer) {
	fmt.Fprintf(w, "%s %s, GOMAXPROCS=%d, GOGC=100", r.Go, r.Arch, r.Processors)
	if r.Processor != "" {
		fmt.Fprintf(w, "; %s", r.Processor)
	}
	if r.Memory > 0 {
		fmt.Fprintf(w, "; %.1f GiB of memory", float64(r.Memory)/(1<<30))
	}
	fmt.Fprintln(w)
	if n := r.Node; n != nil {
		fmt.Fprintf(w, "node: %s, %s of the driver %s, Linux %s\n", n.Path, n.Device, n.Driver, n.Kernel)
	}
	loop := r.Loop()
	fmt.Fprintf(w, "calibration loop: %s ns, median %s\n", ns(loop.Least()), ns(loop.Median()))
}

// writeHead begins the table of a driver.
func (r *Report) writeHead(w io.Writer, title string) {
	if r.Node == nil {
		fmt.Fprintln(w, title+"\tmodel\tmedian\tloops\tB\tallocs\t")
		return
	}
	fmt.Fprintln(w, title+"\tmodel\tmedian\tnode\tmedian\tmodel/node\tmedian\trounds\tloops\tB\tallocs\t")
}

func (r *Report) writeRow(w io.Writer, res *Result, width int) {
	fmt.Fprintf(w, "%-*s\t%s\t%s\t", width, res.Call, ns(res.Model.Least()), ns(res.Model.Median()))
	if r.Node != nil {
		ratio := res.Model.Over(res.Node)
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.3f\t%.3f-%.3f\t", ns(res.Node.Least()), ns(res.Node.Median()),
			ratio.OfLeast, ratio.Median, ratio.Low, ratio.High)
	}
	fmt.Fprintf(w, "%.2f\t%.0f\t%.0f\t\n", res.Loops(), res.Bytes, res.Allocs)
}

// ns is a time, with a decimal where that says something.
func ns(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
