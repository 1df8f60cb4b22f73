package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommand(t *testing.T) {
	require.Equal(t, `go test ./sim_test/guest -run '^TestPrograms$/^small$' -all`, command("sim_test/guest", "TestPrograms/small"))
	require.Equal(t, `go test ./a -run '^TestX$/^rc_-n_5\+$' -all`, command("a", "TestX/rc_-n_5+"))
	require.Equal(t, "sim_test/suite", directory())
}

// leftOut are the calls by which a test does less without -all.
var leftOut = regexp.MustCompile(`suite\.(All|Long|Share)\(`)

// know returns the packages whose tests do less without -all, and those that know the
// flag at all: a test binary that does not fails on it.
func know(t *testing.T) (less, flag []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f",
		`{{.ImportPath}}|{{.Dir}}|{{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`, "uverbsim/...").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		path, dir := "."+strings.TrimPrefix(f[0], "uverbsim"), f[1]
		if !slices.Contains(strings.Fields(f[3]), "uverbsim/sim_test/suite") {
			continue
		}
		flag = append(flag, path)
		for _, file := range strings.Fields(f[2]) {
			text, err := os.ReadFile(dir + "/" + file)
			require.NoError(t, err)
			if leftOut.Match(text) {
				less = append(less, path)
				break
			}
		}
	}
	return less, flag
}

// TestNamed: the page on testing and CI have a command with -all for each package that
// leaves something out, and for none that does not know the flag.
func TestNamed(t *testing.T) {
	less, flag := know(t)
	require.NotEmpty(t, less)
	allCommand := regexp.MustCompile(`(?m)^go test (.*) -all\b`)
	for _, file := range []string{"../../docs/testing.md", "../../.ci/run"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var named []string
		for _, m := range allCommand.FindAllStringSubmatch(string(text), -1) {
			for _, word := range strings.Fields(m[1]) {
				if strings.HasPrefix(word, "./") {
					named = append(named, word)
				}
			}
		}
		require.Subset(t, named, less, "%s: go test PACKAGE -all", file)
		require.Subset(t, flag, named, "%s: packages that do not know -all", file)
	}
}

// TestReliability: the commands that the page of figures names are those of tests that
// there are.
func TestReliability(t *testing.T) {
	_, flag := know(t)
	text, err := os.ReadFile("../../docs/reliability.md")
	require.NoError(t, err)
	commands := regexp.MustCompile("`go test ([^`]*)`").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, commands)
	for _, c := range commands {
		words := strings.Fields(c[1])
		pkg := words[slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "./") })]
		files, err := filepath.Glob("../../" + pkg + "/*_test.go")
		require.NoError(t, err)
		var tests strings.Builder
		for _, f := range files {
			source, err := os.ReadFile(f)
			require.NoError(t, err)
			tests.Write(source)
		}
		run := slices.Index(words, "-run") + 1
		require.Positive(t, run, c[0])
		require.Contains(t, tests.String(), "\nfunc "+words[run]+"(t *testing.T)", c[0])
		if slices.Contains(words, "-all") {
			require.Contains(t, flag, pkg, c[0])
		}
	}
}
