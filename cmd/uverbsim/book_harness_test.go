package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readText runs a page of that text in a project of its own, and returns what is wrong and the page's text
// afterwards. In the text, ”' stands for a fence.
func readText(t *testing.T, root string, update bool, text string) ([]string, string) {
	t.Helper()
	const path = "docs/page.md"
	file := filepath.Join(root, path)
	text = strings.ReplaceAll(text, "'''", "```")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	r := &reader{root: root, module: projectRoot(t), work: t.TempDir(), programs: true, update: update}
	problems, err := r.read(parsePage(path, text))
	require.NoError(t, err)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	return problems, strings.ReplaceAll(string(after), "```", "'''")
}

func TestBookCommands(t *testing.T) {
	const more = "$ printf 'a 1\\nb 2\\nc 3\\n'\n"
	for _, c := range []struct {
		name, block string
		wrong       string // what the problem says; "" if the page is right
	}{
		{"as printed", more + "a 1\nb 2\nc 3\n", ""},
		{"another line", more + "a 1\nb 3\nc 3\n", "- b 3\n+ b 2\n"},
		{"a line too few", more + "a 1\nb 2\n", "+ c 3\n"},
		{"a line too many", more + "a 1\nb 2\nc 3\nd 4\n", "- d 4\n"},
		{"other order", more + "b 2\na 1\nc 3\n", "- b 2\n"},
		{"nothing", more, "+ a 1\n"},
		{"lines left out", more + "...\nc 3\n", ""},
		{"no lines left out", more + "a 1\n...\nb 2\n...\nc 3\n...\n", ""},
		{"left out, but wrong", more + "...\nc 4\n", "- c 4\n"},
		{"left out, but more at the end", more + "...\nb 2\n", "+ c 3\n"},
		{"text left out", more + "a ...\n...2\nc 3\n", ""},
		{"text left out, but wrong", more + "a 1...1\nb 2\nc 3\n", "- a 1...1\n"},
		{"no pattern", "$ echo abc\na.c\n", "- a.c\n"},
		{"both streams", "$ echo out; echo err >&2\nout\nerr\n", ""},
		{"status", "$ echo x; exit 7\nx\n(exit 7)\n", ""},
		{"status not told", "$ echo x; exit 7\nx\n", "+ (exit 7)\n"},
		{"another status", "$ exit 1\n(exit 2)\n", "- (exit 2)\n+ (exit 1)\n"},
		{"status that was not", "$ true\n(exit 2)\n", "- (exit 2)\n"},
		{"killed", "$ kill -9 $$\n(signal: killed)\n", ""},
		{"no end of line", "$ printf x; exit 3\nx\n(exit 3)\n", ""},
		{"two commands", "$ echo a\na\n\n$ echo b\nb\n", ""},
		{"goes on", "$ echo a \\\n> b\na b\n", ""},
		{"text for a command", "$ cat > $WORK/x <<END\n> one\n> two\n> END\n$ cat $WORK/x\none\ntwo\n", ""},
		{"text without an end", "$ cat <<END\n> one\none\n", "to END"},
		{"the folder", "$ echo $HOME\n$WORK/home\n", ""},
		{"in the root", "$ ls\ndocs\n", ""},
		{"not left running", "$ sleep 1000 & echo x\nx\n", ""},
		{"uverbsim", "$ uverbsim trace x.json\nuverbsim: open x.json: no such file or directory\n(exit 2)\n", ""},
		{"no command", "echo a\na\n", "begins with a command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems, _ := readText(t, t.TempDir(), false, "# Page\n\n'''console\n"+c.block+"'''\n")
			if c.wrong == "" {
				require.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			require.Contains(t, problems[0], c.wrong)
			require.Regexp(t, `^docs/page\.md:[34]: `, problems[0])
		})
	}
}

func TestBookUpdate(t *testing.T) {
	const before = `Text.

'''console
$ printf 'a 1\nb 2\nc 3\nd 4\ne 5\n'
a ...
b 0
...
e 5
$ true
old
'''

'''console
$ echo ok 5
ok ...
'''
`
	const after = `Text.

'''console
$ printf 'a 1\nb 2\nc 3\nd 4\ne 5\n'
a ...
b 2
...
e 5
$ true
'''

'''console
$ echo ok 5
ok ...
'''
`
	root := t.TempDir()
	problems, text := readText(t, root, false, before)
	require.Len(t, problems, 2)
	require.Equal(t, before, text, "not without -update")
	problems, text = readText(t, root, true, before)
	require.Empty(t, problems)
	require.Equal(t, after, text)
	problems, _ = readText(t, root, false, after)
	require.Empty(t, problems)
}

func TestBookForm(t *testing.T) {
	for _, c := range []struct{ name, text, wrong string }{
		{"writes to the project", "'''console\n$ echo > docs/x\n'''\n", "docs/page.md:2: the command writes docs/x"},
		{"appends to the project", "'''console\n$ echo a 2>&1 >>x\n'''\n", "docs/page.md:2: the command writes x"},
		{"writes elsewhere", "'''console\n$ a > $WORK/x 2>/dev/null; b > \"$WORK/y\"; awk '1>2 > x' >&2\n'''\n", ""},
		{"plain", "'''\n$ none\n'''\n\n'''json\n{}\n'''\n\n'''c\nint x;\n'''\n", ""},
		{"unknown block", "# x\n\n'''bash\nls\n'''\n", `docs/page.md:3: a block of "bash": known are`},
		{"no end", "\n'''text\nls\n", "docs/page.md:2: this block has no end"},
		{"a longer fence", "````text\n```bash\n````\n", ""},
		{"part of a program", "'''go\nx := 1\n'''\n", "docs/page.md:1: a go block begins with package main"},
		{"a package without a test", "'''go\npackage x\n'''\n", "docs/page.md:1: a go block"},
		{"wide", strings.Repeat("ü", 121) + "\n", "docs/page.md:1: 121 columns, of at most 120"},
		{"not wide", strings.Repeat("ü", 120) + "\n", ""},
		{"a wide table", "| " + strings.Repeat("x", 200) + " |\n", ""},
		{"a wide output", "'''\n" + strings.Repeat("x", 200) + "\n'''\n", ""},
		{"a picture without a command", "x\n![a](img/a.svg)\n", "docs/page.md:2: a picture has its command"},
		{"a command without a picture", "<!-- $ echo > docs/img/a.svg -->\n\n![a](img/a.svg)\n", "docs/page.md:1: a diagram's"},
		{"another picture", "<!-- $ echo > docs/img/a.svg -->\n![a](img/b.svg)\n", "docs/page.md:2: the picture is img/b.svg"},
		{"not in docs/img", "<!-- $ echo > a.svg -->\n![a](a.svg)\n", "docs/page.md:1: a diagram's"},
		{"a picture that says nothing", "![](img/a.svg)\n", "docs/page.md:1: a picture is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parsePage("docs/page.md", strings.ReplaceAll(c.text, "'''", "```"))
			if c.wrong == "" {
				require.Empty(t, p.problems)
				return
			}
			require.NotEmpty(t, p.problems)
			require.Contains(t, p.problems[0], c.wrong)
		})
	}
}

func TestBookDiagrams(t *testing.T) {
	const text = "<!-- $ echo '<svg>2</svg>' > docs/img/a.svg -->\n![a](img/a.svg)\n"
	root := t.TempDir()
	file := filepath.Join(root, "docs/img/a.svg")
	wrong := func(update bool) []string {
		problems, _ := readText(t, root, update, text)
		return problems
	}
	require.Len(t, wrong(false), 1, "there is none")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("<svg>1</svg>\n"), 0o644))
	require.Contains(t, wrong(false)[0], "docs/page.md:1: docs/img/a.svg is not what", "it is an old one")
	require.Empty(t, wrong(true))
	drawn, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "<svg>2</svg>\n", string(drawn))
	require.Empty(t, wrong(false))

	problems, _ := readText(t, root, true, strings.Replace(text, "<svg>2</svg>", "none", 1))
	require.Contains(t, problems[0], "prints no picture")
	problems, _ = readText(t, root, true, strings.Replace(text, "2</svg>'", "3</svg>'; exit 4;", 1))
	require.Contains(t, problems[0], "(exit 4)")
	drawn, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "<svg>2</svg>\n", string(drawn), "what fails draws nothing")
}

func TestBookPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	const program = "'''go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(6 * 7) }\n'''\n"
	const test = "'''go\npackage x\n\nimport (\n\t\"testing\"\n\n\t\"uverbsim/spec\"\n)\n\n" +
		"func TestX(t *testing.T) {\n\tif spec.Linux6_12 == nil {\n\t\tt.Fatal(\"none\")\n\t}\n}\n'''\n"
	for _, c := range []struct{ name, text, wrong string }{
		{"right", program + "\n'''text\n42\n'''\n\n" + test, ""},
		{"without output", program, ""},
		{"brackets at its end", strings.Replace(program, "6 * 7", `"(well)"`, 1), ""},
		{"another output", program + "\n'''text\n43\n'''\n", "- 43\n+ 42\n"},
		{"it fails", strings.Replace(program, "fmt.Println(6 * 7)", "panic(fmt.Sprint(6 * 7))", 1), "the program fails:\npanic: 42"},
		{"not Go", "# x\n\n" + strings.Replace(program, "fmt.Println", "fmt.Printl", 1), "docs/page.md:8"},
		{"a test that fails", strings.Replace(test, "== nil", "!= nil", 1), "the test fails"},
		{"a test that is not Go", strings.Replace(test, "== nil", "==", 1), "docs/page.md:11"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			problems, _ := readText(t, t.TempDir(), false, c.text)
			if c.wrong == "" {
				require.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			require.Contains(t, problems[0], c.wrong)
		})
	}
	_, text := readText(t, t.TempDir(), true, program+"\n'''text\n...\n43\n'''\n")
	require.Equal(t, program+"\n'''text\n...\n42\n'''\n", text)
}

func TestBookLinkChecks(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "docs"), 0o755))
	pages := map[string]*page{}
	for path, text := range map[string]string{
		"docs/README.md": "# All `of` it\n\n[a](a.md) [root](../README.md) [web](https://example.com/x)\n",
		"docs/a.md": "# A\n\n[`x`](README.md#all-of-it) [own](#b-1) `[no](link.md)`\n\n```text\n[no](link.md)\n```\n" +
			"\n## B\n\n## <a id=\"t/1\"></a>B\n",
		"docs/b.md": "# B: x, y_z\n\n[a](a.md#c)\n[c](c.md)\n[own](#b-x-y_z)\n[text](../a.txt#x)\n[tag](a.md#t/1)\n",
		"README.md": "[a](docs/a.md)\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o644))
		pages[path] = parsePage(path, text)
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), nil, 0o644))
	require.Equal(t, []string{
		"docs/b.md:3: docs/a.md has no heading for #c",
		"docs/b.md:4: there is no docs/c.md",
		"docs/b.md:6: a.txt has no heading for #x",
	}, checkLinks(root, pages))
	delete(pages, "README.md")
	require.Equal(t, []string{"docs/README.md does not lead to docs/b.md", "no page shows docs/img/a.svg"},
		checkContents(pages, []string{"/x/docs/img/a.svg"}))
}
