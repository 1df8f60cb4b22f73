package maintaining

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// step is a marked block of the page: a change of a file, a new file, or a
// command that is run.
type step struct {
	line int // of the marker, from 1
	kind string
	// path is the file that is changed or made; of a command, the one that it
	// writes, "" if it writes none.
	path string
	text string
	// forgotten are the commands that fail without the step.
	forgotten []forgotten
}

// forgotten is a command that fails, and a part of what it says then.
type forgotten struct {
	line    int
	command string
	says    string
}

const (
	change  = "change"
	newFile = "file"
	command = "run"
)

var (
	marker        = regexp.MustCompile(`^<!-- (change|file|run)(?:: (\S+))? -->$`)
	forgottenLine = regexp.MustCompile("^Forgotten: `(.+?)` says `(.+)`\\.$")
)

// readPage returns the steps of a page, in its order.
func readPage(text string) ([]*step, error) {
	var steps []*step
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "Forgotten:") {
			m := forgottenLine.FindStringSubmatch(lines[i])
			if m == nil || len(steps) == 0 {
				return nil, fmt.Errorf("line %d: a line \"Forgotten: `COMMAND` says `TEXT`.\" stands behind a step", i+1)
			}
			last := steps[len(steps)-1]
			last.forgotten = append(last.forgotten, forgotten{i + 1, m[1], m[2]})
			continue
		}
		m := marker.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		s := &step{line: i + 1, kind: m[1], path: m[2]}
		if s.path == "" && s.kind != command {
			return nil, fmt.Errorf("line %d: which file?", i+1)
		}
		if i++; i >= len(lines) || !strings.HasPrefix(lines[i], "```") {
			return nil, fmt.Errorf("line %d: no block follows", s.line)
		}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			s.text += lines[i] + "\n"
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// hunk is a part of a change: what a file has in one place, and what it has
// there afterwards.
type hunk struct{ old, new string }

// hunks reads a change: lines that begin with a blank stay, with - go, with +
// come, and lines that begin with @@ are between two places.
func hunks(text string) ([]hunk, error) {
	var hs []hunk
	for part := range strings.SplitSeq("\n"+text, "\n@@") {
		_, part, _ = strings.Cut(part, "\n")
		var h hunk
		for line := range strings.Lines(part) {
			switch line[0] {
			case ' ':
				h.old += line[1:]
				h.new += line[1:]
			case '\n':
				h.old += line
				h.new += line
			case '-':
				h.old += line[1:]
			case '+':
				h.new += line[1:]
			default:
				return nil, fmt.Errorf("the line %q begins with none of blank, +, - and @@", line)
			}
		}
		if h.old == h.new || h.old == "" || h.new == "" {
			return nil, fmt.Errorf("a place that changes nothing, or of which nothing stays or comes:\n%s", part)
		}
		hs = append(hs, h)
	}
	return hs, nil
}

// edit makes a change of a file, or takes it back.
func edit(path, text string, back bool) error {
	hs, err := hunks(text)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s := string(b)
	for _, h := range hs {
		if back {
			h.old, h.new = h.new, h.old
		}
		if n := strings.Count(s, h.old); n != 1 {
			return fmt.Errorf("%s has this %d times:\n%s", path, n, h.old)
		}
		s = strings.Replace(s, h.old, h.new, 1)
	}
	return os.WriteFile(path, []byte(s), 0o644)
}

// write makes a file and the folder that it is in.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
