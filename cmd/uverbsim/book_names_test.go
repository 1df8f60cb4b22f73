package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
)

// What a page has between backticks may be the name of a file or folder, of a rule or of a case.
var (
	fileName   = regexp.MustCompile(`^[a-z_0-9]+(/[\w.*-]+)*(\.go|\.jsonl?|\.md|/)$`)
	dottedName = regexp.MustCompile(`^[a-z0-9-]+(/[a-z0-9-]+)+/?$`)
	caseName   = regexp.MustCompile(`"name":"([^"]+)"`)
)

// foreign begin names of files of Linux and of rdma-core; "area/slug" stands for any rule.
var foreign = []string{"drivers/infiniband", "include/", "libibverbs/", "providers/", "area/slug"}

// TestBookNames: the files, rules and cases that the pages name are there.
func TestBookNames(t *testing.T) {
	root := projectRoot(t)
	cases, err := caseNames(filepath.Join(root, "sim_test/corpus/*.jsonl"), filepath.Join(root, "docs/cases/*"))
	require.NoError(t, err)
	pages := bookPages(t, root)
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		for _, problem := range checkNames(root, pages[path], cases) {
			t.Error(problem)
		}
	}
}

// caseNames returns the names of all cases in files, sorted.
func caseNames(patterns ...string) ([]string, error) {
	var names []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(text)) {
				if m := caseName.FindStringSubmatch(line); m != nil {
					names = append(names, m[1])
				}
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// checkNames says which names in a page are nobody's. A case may be named by how it begins.
func checkNames(root string, p *page, cases []string) []string {
	at := &page{path: p.path}
	p.prose(func(i int, line string) {
		for _, span := range codeSpan.FindAllString(line, -1) {
			name := strings.Trim(span, "`")
			if !fileName.MatchString(name) && !dottedName.MatchString(name) || !strings.Contains(name, "/") ||
				slices.ContainsFunc(foreign, func(f string) bool { return strings.HasPrefix(name, f) }) {
				continue
			}
			if rule.Find(name) != nil || isCase(cases, name) {
				continue
			}
			if found, err := filepath.Glob(filepath.Join(root, name)); err != nil || len(found) == 0 {
				at.problem(i, "%s is no file, no rule and no case", name)
			}
		}
	})
	return at.problems
}

func isCase(cases []string, name string) bool {
	i, _ := slices.BinarySearch(cases, name)
	return i < len(cases) && strings.HasPrefix(cases[i], name)
}

func TestBookNameChecks(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "kernel"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "kernel/ioctl.go"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "cases.jsonl"), []byte(`{"v":1,"name":"attr/x-1"}`+"\n"), 0o644))
	cases, err := caseNames(filepath.Join(root, "*.jsonl"))
	require.NoError(t, err)
	p := parsePage("docs/a.md", "`kernel/ioctl.go` `kernel/` `kernel/*.go` `cases.jsonl` `header/length` `attr/x-1` `attr/`\n"+
		"`drivers/infiniband/core/none.go` `a/b c` `x.go` `/dev/infiniband/uverbs0`\n"+
		"`kernel/none.go` `none/` `kernel/n*.go`\n`header/none` `attr/x-2`\n```\n`none/none`\n```\n")
	require.Empty(t, p.problems)
	require.Equal(t, []string{
		"docs/a.md:3: kernel/none.go is no file, no rule and no case",
		"docs/a.md:3: none/ is no file, no rule and no case",
		"docs/a.md:3: kernel/n*.go is no file, no rule and no case",
		"docs/a.md:4: header/none is no file, no rule and no case",
		"docs/a.md:4: attr/x-2 is no file, no rule and no case",
	}, checkNames(root, p, cases))
}
