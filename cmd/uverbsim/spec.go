package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/report/schema"
	"uverbsim/report/specdiff"
	"uverbsim/report/spectable"
	"uverbsim/report/spectree"
	"uverbsim/report/syzlang"
	"uverbsim/spec"
)

func newSpecCmd() *cobra.Command {
	var s specifier
	cmd := &cobra.Command{
		Use:   "spec [flags] [OBJECT[.METHOD]]",
		Short: "Print what the uverbs interface takes",
		Long: `Spec prints what the devices of a driver take on a kernel: a line for each
object; with OBJECT its methods, their attributes and its write() commands; with
OBJECT.METHOD one method or command and the layouts of its structs. Names are
those of the kernel or short ones, in any case: UVERBS_OBJECT_CQ, cq, cq.create,
cq.ex_create_cq. What the driver lacks the operations for is marked as pruned; an
adapter of mlx5 is one with all capabilities, and core one that adds nothing.

--json prints the same for programs, by the schema that --schema prints. --diff
tells what another kernel adds, changes and removes. --tree shows the radix tree
that the kernel makes of it. --syzlang prints descriptions for syzkaller, of the
methods that it has none of, or of the one that is named.`,
		Example: `  uverbsim spec cq.create
  uverbsim spec --driver rxe --json > rxe.json
  uverbsim spec --kernel 6.1 --diff 6.12
  uverbsim spec --tree --format svg > tree.svg`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&s.driver, "driver", "mlx5", "the driver: "+schema.DriverNames())
	f.StringVar(&s.kernel, "kernel", "6.12", "the kernel: "+kernelNames())
	f.BoolVar(&s.json, "json", false, "print JSON")
	f.StringVar(&s.diff, "diff", "", "tell how this kernel differs from --kernel: "+kernelNames())
	f.BoolVar(&s.tree, "tree", false, "show the radix tree, or the part of it that OBJECT has")
	f.StringVar(&s.format, "format", "", "of --tree: text, dot or svg (default text)")
	f.BoolVar(&s.syzlang, "syzlang", false, "print syzkaller descriptions of what it has none of, or of OBJECT")
	f.BoolVar(&s.schema, "schema", false, "print the JSON schema of what --json prints")
	return cmd
}

// specifier are the flags of spec.
type specifier struct {
	driver, kernel string
	diff, format   string
	json, schema   bool
	tree, syzlang  bool
}

// specForms are the flags of which one can be given.
var specForms = []string{"json", "schema", "diff", "tree", "syzlang"}

func (s *specifier) run(cmd *cobra.Command, args []string) error {
	var given []string
	for _, f := range specForms {
		if cmd.Flags().Changed(f) {
			given = append(given, "--"+f)
		}
	}
	switch {
	case len(given) > 1:
		return fmt.Errorf("%s: only one of them at a time", strings.Join(given, ", "))
	case s.format != "" && !s.tree:
		return errors.New("--format is for --tree")
	case s.schema && len(args) > 0:
		return fmt.Errorf("%s: --schema is the same for every object", args[0])
	case s.schema && cmd.Flags().Changed("driver"):
		return fmt.Errorf("--driver %s: --schema is the same for every driver", s.driver)
	case s.schema && cmd.Flags().Changed("kernel"):
		return fmt.Errorf("--kernel %s: --schema is the same for every kernel", s.kernel)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	if err := s.print(out, args); err != nil {
		return err
	}
	return out.Flush()
}

func (s *specifier) print(w io.Writer, args []string) error {
	if s.schema {
		b, err := schema.Published()
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	k, err := kernelByName("--kernel", s.kernel)
	if err != nil {
		return err
	}
	d, err := schema.DriverByName(s.driver)
	if err != nil {
		return fmt.Errorf("--driver %s: one of %s", s.driver, schema.DriverNames())
	}
	doc, err := schema.Build(d, k)
	if err != nil {
		return err
	}
	switch {
	case s.diff != "":
		return s.printDiff(w, d, doc, k, args)
	case s.tree:
		return s.printTree(w, d, doc, k, args)
	}
	if len(args) == 0 {
		switch {
		case s.json:
			return printJSON(w, doc)
		case s.syzlang:
			return syzlang.Print(w, doc)
		}
		return spectable.Print(w, doc)
	}
	sel, err := doc.Find(args[0])
	if err != nil {
		return err
	}
	switch {
	case s.json:
		return printJSON(w, doc.Only(sel))
	case s.syzlang:
		return syzlang.PrintSelection(w, doc, sel)
	}
	return spectable.PrintSelection(w, doc, sel)
}

// treeFormats are the forms of --tree. Of a part of the tree the drawing has the
// names too.
var treeFormats = map[string]func(t *spectree.Tree, w io.Writer, part bool) error{
	"text": func(t *spectree.Tree, w io.Writer, _ bool) error { return t.WriteText(w) },
	"dot":  func(t *spectree.Tree, w io.Writer, _ bool) error { return t.WriteDOT(w) },
	"svg":  func(t *spectree.Tree, w io.Writer, part bool) error { return t.WriteSVG(w, part) },
}

func (s *specifier) printTree(w io.Writer, d schema.Driver, doc *schema.Document, k *spec.Kernel, args []string) error {
	write, ok := treeFormats[cmp.Or(s.format, "text")]
	if !ok {
		return fmt.Errorf("--format %s: one of text, dot, svg", s.format)
	}
	api, err := d.API(k)
	if err != nil {
		return err
	}
	t := spectree.Of(d.Name+" on "+k.Name, api)
	if len(args) == 0 {
		return write(t, w, false)
	}
	sel, err := doc.Find(args[0])
	if err != nil {
		return err
	}
	first, last := sel.Keys()
	return write(t.Within(first, last), w, true)
}

// printDiff prints what another kernel has otherwise, of everything or of what is
// named.
func (s *specifier) printDiff(w io.Writer, d schema.Driver, from *schema.Document, k *spec.Kernel, args []string) error {
	other, err := kernelByName("--diff", s.diff)
	if err != nil {
		return err
	}
	to, err := schema.Build(d, other)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return specdiff.Print(w, from, to, specdiff.FeaturesOf(k, other))
	}
	a, errA := from.Find(args[0])
	b, errB := to.Find(args[0])
	if errA != nil && errB != nil {
		return errA
	}
	return specdiff.Print(w, part(from, a, errA), part(to, b, errB), specdiff.Features{})
}

// part is a document with what was found alone, or with nothing.
func part(d *schema.Document, s schema.Selection, err error) *schema.Document {
	if err != nil {
		return &schema.Document{Kernel: d.Kernel, Driver: d.Driver}
	}
	return d.Only(s)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
