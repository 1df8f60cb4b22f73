package specdiff

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"uverbsim/report/schema"
	"uverbsim/report/wrap"
	"uverbsim/spec"
)

// Features are the features that one of two kernels has and the other has not.
type Features struct{ Gained, Lost []spec.Feature }

// FeaturesOf compares the features of two kernels.
func FeaturesOf(from, to *spec.Kernel) Features {
	var f Features
	for _, x := range spec.Features() {
		switch {
		case to.Has(x) && !from.Has(x):
			f.Gained = append(f.Gained, x)
		case from.Has(x) && !to.Has(x):
			f.Lost = append(f.Lost, x)
		}
	}
	return f
}

// elsewhere says whether a feature is one of another driver than the named one.
func elsewhere(f spec.Feature, driver string) bool {
	for _, d := range []string{"mlx5", "rxe", "efa", "bnxt", "mana"} {
		if name := f.String(); name == d || strings.HasPrefix(name, d+"-") {
			return !strings.HasPrefix(driver, d)
		}
	}
	return false
}

var titles = map[string]string{
	"object": "Objects", "method": "Methods", "attribute": "Attributes", "command": "Write commands",
	"struct": "Structs", "enumerator": "Enumerators",
}

// Print prints the changes from one document to another, and the features if
// there are any.
func Print(w io.Writer, from, to *schema.Document, features Features) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s, from %s to %s\n", to.Driver.Name, from.Kernel.Name, to.Kernel.Name)
	kind := ""
	changes := Compare(from, to)
	for _, c := range changes {
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(out, "\n%s\n", titles[kind])
		}
		if c.Kind == "enumerator" {
			wrapped(out, fmt.Sprintf("  %c ", c.Op), c.Name+" "+strings.Join(c.What, ", "))
			continue
		}
		fmt.Fprintf(out, "  %c %s\n", c.Op, c.Name)
		if c.Op == Changed {
			for _, what := range c.What {
				wrapped(out, "      ", what)
			}
		} else if c.Kind != "struct" && len(c.What) > 0 {
			wrapped(out, "      ", strings.Join(c.What, ", "))
		}
	}
	if len(changes) == 0 {
		fmt.Fprint(out, "\nNothing that is declared differs.\n")
	}
	printFeatures(out, features, from.Kernel.Name, to.Kernel.Name, to.Driver.Name)
	return out.Flush()
}

// printFeatures prints the driver's and the core's features, and the names of
// those of other drivers.
func printFeatures(out io.Writer, f Features, from, to, driver string) {
	var others []string
	title := "\nWhat is done otherwise\n"
	for _, side := range []struct {
		op   Op
		list []spec.Feature
	}{{Added, f.Gained}, {Removed, f.Lost}} {
		for _, x := range side.list {
			if elsewhere(x, driver) {
				others = append(others, x.String())
				continue
			}
			info := x.Info()
			now, before := info.With, info.Without
			if side.op == Removed {
				now, before = before, now
			}
			fmt.Fprint(out, title)
			title = ""
			wrapped(out, fmt.Sprintf("  %c ", side.op), fmt.Sprintf("%s (%s, %s)", x, info.Func, info.File))
			wrapped(out, "      ", to+": "+now)
			wrapped(out, "      ", from+": "+before)
		}
	}
	if len(others) > 0 {
		fmt.Fprintln(out)
		wrapped(out, "", "Of other drivers: "+strings.Join(others, ", "))
	}
}

// width is how many columns a line has at most, where it can be broken.
const width = 120

// wrapped writes a text behind what its line begins with; the lines that it goes on in
// are a little further to the right.
func wrapped(out io.Writer, begin, text string) {
	for _, line := range wrap.Lines(begin, strings.Repeat(" ", len(begin)+2), text, width) {
		fmt.Fprintln(out, line)
	}
}
