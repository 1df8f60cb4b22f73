package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages of docs/ are run. In a block of ```console, a line that begins with "$ " is a command for sh, in the
// root of the project; one that ends in \, or has <<END, goes on in lines that begin with "> ". What
// follows is what it prints, on both streams; a status other than 0 is the last line, as (exit 2). A line ... stands
// for any lines, ... in a line for any text. A block of ```go is a program (package main), whose output is the
// ```text behind it, or a test. A picture has the command that draws it above it, in a comment. What commands write
// they write in $WORK.
//
// go test ./cmd/uverbsim -run TestBook -update writes the outputs and the pictures.

// contents is the page that leads to all others.
const contents = "docs/README.md"

// goCaches are the variables that let a go command with another HOME find what is built and downloaded.
var goCaches = sync.OnceValue(func() []string {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return nil
	}
	cache, modules, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return []string{"GOCACHE=" + cache, "GOMODCACHE=" + modules}
})

// projectRoot is the folder of the module.
func projectRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

func readPage(t *testing.T, root, path string) *page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return parsePage(path, string(text))
}

// bookPages returns all pages by their paths from the root.
func bookPages(t *testing.T, root string) map[string]*page {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	pages := map[string]*page{}
	for _, f := range files {
		path := "docs/" + filepath.Base(f)
		pages[path] = readPage(t, root, path)
	}
	return pages
}

// TestBook runs every command and program of the pages; what a page shows is what comes out.
func TestBook(t *testing.T) {
	root := projectRoot(t)
	for path, p := range bookPages(t, root) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			t.Parallel()
			r := &reader{root: root, module: root, work: t.TempDir(), programs: !testing.Short(), update: *update}
			problems, err := r.read(p)
			require.NoError(t, err)
			for _, problem := range problems {
				t.Error(problem)
			}
		})
	}
}

// TestBookLinks follows the links of the pages and of the project's README.
func TestBookLinks(t *testing.T) {
	root := projectRoot(t)
	pages := bookPages(t, root)
	pages["README.md"] = readPage(t, root, "README.md")
	for _, problem := range checkLinks(root, pages) {
		t.Error(problem)
	}
}

// TestBookContents: the table of contents leads to every page, and every picture is shown.
func TestBookContents(t *testing.T) {
	root := projectRoot(t)
	pictures, err := filepath.Glob(filepath.Join(root, "docs/img/*"))
	require.NoError(t, err)
	for _, problem := range checkContents(bookPages(t, root), pictures) {
		t.Error(problem)
	}
}

// checkLinks says which links lead nowhere.
func checkLinks(root string, pages map[string]*page) []string {
	var problems []string
	anchors := map[string]map[string]bool{}
	for path, p := range pages {
		anchors[path] = p.anchors()
	}
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		at := &page{path: path}
		for _, l := range pages[path].links() {
			to := path
			if l.path != "" {
				to = filepath.Join(filepath.Dir(path), l.path)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				at.problem(l.line, "there is no %s", to)
				continue
			}
			if l.anchor == "" {
				continue
			}
			if !anchors[to][l.anchor] {
				at.problem(l.line, "%s has no heading for #%s", to, l.anchor)
			}
		}
		problems = append(problems, at.problems...)
	}
	return problems
}

// checkContents says which pages the table of contents does not lead to, and which pictures no page shows.
func checkContents(pages map[string]*page, pictures []string) []string {
	var problems []string
	linked, shown := map[string]bool{contents: true}, map[string]bool{}
	if p := pages[contents]; p != nil {
		for _, l := range p.links() {
			linked[filepath.Join(filepath.Dir(contents), l.path)] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		if !linked[path] {
			problems = append(problems, contents+" does not lead to "+path)
		}
		for _, d := range pages[path].diagrams {
			shown[filepath.Base(d.file)] = true
		}
	}
	for _, f := range pictures {
		if !shown[filepath.Base(f)] {
			problems = append(problems, "no page shows docs/img/"+filepath.Base(f))
		}
	}
	return problems
}
