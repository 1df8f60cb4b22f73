package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// page is a page of docs/, taken apart.
type page struct {
	path     string // from the root of the project
	lines    []string
	commands []command
	programs []program
	diagrams []diagram
	problems []string // what is wrong with its form
}

// command is a command of a console block. Its output are the lines from and up to to.
type command struct {
	line     int // the index of the line that it begins in
	text     string
	from, to int
}

// program is a go block: one that is run, or a test.
type program struct {
	line     int // the index of the first line of its text
	text     string
	test     bool
	from, to int // its output, if told
	told     bool
}

// diagram is a picture with the command that draws it.
type diagram struct {
	line    int
	command string // without the file that it is written to
	file    string // from the root of the project
}

// plainFences are blocks that nothing is done with.
var plainFences = []string{"", "text", "c", "json", "diff"}

// fileMarker begins the line above a go block that is a file of the project in the making, which
// sim_test/maintaining builds.
const fileMarker = "<!-- file: "

var (
	fenceLine   = regexp.MustCompile("^(```+)\\s*(\\S*)\\s*$")
	diagramLine = regexp.MustCompile(`^<!-- \$ (.+?) > (docs/img/[\w.-]+\.svg) -->$`)
	imageLine   = regexp.MustCompile(`^!\[[^\]]+\]\(([^)]+)\)$`)
	testFunc    = regexp.MustCompile(`(?m)^func Test\w*\(`)
)

// maxColumns is how wide a line of text may be; the lines of generated pages are as long as their sentences.
const maxColumns = 120

var generatedPages = []string{"docs/problems.md", "docs/rules.md", "docs/versions.md"}

// parsePage takes a page apart. path is its file, from the root of the project.
func parsePage(path, text string) *page {
	p := &page{path: path, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	for i := 0; i < len(p.lines); i++ {
		line := p.lines[i]
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			i = p.fence(i, m[1], m[2])
			continue
		}
		p.width(i)
		p.picture(i)
	}
	return p
}

func (p *page) width(i int) {
	line := p.lines[i]
	if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "<!-- ") || slices.Contains(generatedPages, p.path) {
		return
	}
	if n := len([]rune(line)); n > maxColumns {
		p.problem(i, "%d columns, of at most %d", n, maxColumns)
	}
}

func (p *page) problem(line int, format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf("%s:%d: ", p.path, line+1)+fmt.Sprintf(format, args...))
}

// fence reads the block that the line begins, and returns the index of its last line.
func (p *page) fence(first int, mark, kind string) int {
	last := first + 1
	for last < len(p.lines) && p.lines[last] != mark {
		last++
	}
	if last == len(p.lines) {
		p.problem(first, "this block has no end")
		return last
	}
	switch {
	case kind == "console":
		p.console(first+1, last)
	case kind == "go" && first > 0 && strings.HasPrefix(p.lines[first-1], fileMarker):
	case kind == "go":
		p.program(first+1, last)
	case !slices.Contains(plainFences, kind):
		p.problem(first, "a block of %q: known are console, go, and %s", kind, strings.Join(plainFences[1:], ", "))
	}
	return last
}

// console reads the commands of a block and what they print.
func (p *page) console(from, to int) {
	if from == to || !strings.HasPrefix(p.lines[from], "$ ") {
		p.problem(from-1, "a console block begins with a command: $ and a blank")
		return
	}
	for i := from; i < to; {
		c := command{line: i, text: strings.TrimPrefix(p.lines[i], "$ ")}
		for i++; strings.HasSuffix(c.text, "\\") && i < to && strings.HasPrefix(p.lines[i], "> "); i++ {
			c.text = strings.TrimSuffix(c.text, "\\") + strings.TrimPrefix(p.lines[i], "> ")
		}
		if heredoc := heredocEnd(c.text); heredoc != "" {
			for ; i < to && strings.HasPrefix(p.lines[i], "> "); i++ {
				c.text += "\n" + strings.TrimPrefix(p.lines[i], "> ")
			}
			if !strings.HasSuffix(c.text, "\n"+heredoc) {
				p.problem(c.line, "what follows << has to go on in lines that begin with > and a blank, to %s", heredoc)
			}
		}
		c.from = i
		for i < to && !strings.HasPrefix(p.lines[i], "$ ") {
			i++
		}
		c.to = i
		for c.to > c.from && p.lines[c.to-1] == "" { // a blank line between two commands
			c.to--
		}
		if file := writtenFile(c.text); file != "" {
			p.problem(c.line, "the command writes %s: what pages write is in $WORK", file)
		}
		p.commands = append(p.commands, c)
	}
}

var (
	quoted      = regexp.MustCompile(`'[^']*'`)
	redirection = regexp.MustCompile(`(?:^|[^<>&=-])>{1,2} *"?([^\s;|&")]+)`)
)

// writtenFile returns the file outside of $WORK that a command writes its output to, or "".
func writtenFile(command string) string {
	line, _, _ := strings.Cut(command, "\n")
	for _, m := range redirection.FindAllStringSubmatch(quoted.ReplaceAllString(line, ""), -1) {
		if !strings.HasPrefix(m[1], "$WORK") && m[1] != "/dev/null" {
			return m[1]
		}
	}
	return ""
}

var heredocWord = regexp.MustCompile(`<<\s*'?([A-Za-z_]\w*)'?`)

// heredocEnd returns the word that ends the text which a command has behind <<, or "".
func heredocEnd(command string) string {
	if m := heredocWord.FindStringSubmatch(command); m != nil {
		return m[1]
	}
	return ""
}

// program reads a go block, and the text block behind it.
func (p *page) program(from, to int) {
	g := program{line: from, text: strings.Join(p.lines[from:to], "\n") + "\n"}
	switch {
	case strings.HasPrefix(g.text, "package main\n"):
	case strings.HasPrefix(g.text, "package ") && testFunc.MatchString(g.text):
		g.test = true
	default:
		p.problem(from-1, "a go block begins with package main, or with another package and has a Test")
		return
	}
	next := to + 1
	for next < len(p.lines) && p.lines[next] == "" {
		next++
	}
	if !g.test && next < len(p.lines) && p.lines[next] == "```text" {
		g.told, g.from, g.to = true, next+1, next+1
		for g.to < len(p.lines) && p.lines[g.to] != "```" {
			g.to++
		}
	}
	p.programs = append(p.programs, g)
}

// picture reads a line that shows a diagram, and the comment in front of it.
func (p *page) picture(i int) {
	line := p.lines[i]
	if strings.HasPrefix(line, "<!-- $") {
		if !diagramLine.MatchString(line) {
			p.problem(i, "a diagram's command is <!-- $ COMMAND > docs/img/NAME.svg -->")
		} else if i+1 == len(p.lines) || !imageLine.MatchString(p.lines[i+1]) {
			p.problem(i, "a diagram's command stands directly above its picture")
		}
		return
	}
	if !strings.HasPrefix(line, "![") {
		return
	}
	image := imageLine.FindStringSubmatch(line)
	if image == nil {
		p.problem(i, "a picture is ![what it shows](img/NAME.svg), and the line has nothing else")
		return
	}
	var m []string
	if i > 0 {
		m = diagramLine.FindStringSubmatch(p.lines[i-1])
	}
	switch {
	case m == nil:
		p.problem(i, "a picture has its command directly above it: <!-- $ COMMAND > docs/img/NAME.svg -->")
	case m[2] != "docs/"+image[1]:
		p.problem(i, "the picture is %s, its command writes %s", image[1], m[2])
	default:
		p.diagrams = append(p.diagrams, diagram{line: i - 1, command: m[1], file: m[2]})
	}
}

var (
	codeSpan    = regexp.MustCompile("`[^`]*`")
	linkTarget  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingLine = regexp.MustCompile(`^#+ +(.*?) *$`)
	linkText    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	htmlTag     = regexp.MustCompile(`<[^>]*>`)
	anchorTag   = regexp.MustCompile(`<a id="([^"]+)">`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// prose calls f for each line outside of blocks.
func (p *page) prose(f func(i int, line string)) {
	mark := ""
	for i, line := range p.lines {
		m := fenceLine.FindStringSubmatch(line)
		switch {
		case mark != "":
			if line == mark {
				mark = ""
			}
		case m != nil:
			mark = m[1]
		default:
			f(i, line)
		}
	}
}

// link is a link to something in the project, or in the page.
type link struct {
	line         int
	path, anchor string
}

func (p *page) links() []link {
	var links []link
	p.prose(func(i int, line string) {
		for _, m := range linkTarget.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			links = append(links, link{i, path, anchor})
		}
	})
	return links
}

// anchors returns what a link may have behind #: what GitHub makes from headings, and what tags say.
func (p *page) anchors() map[string]bool {
	anchors := map[string]bool{}
	p.prose(func(_ int, line string) {
		for _, m := range anchorTag.FindAllStringSubmatch(line, -1) {
			anchors[m[1]] = true
		}
		m := headingLine.FindStringSubmatch(line)
		if m == nil {
			return
		}
		base := strings.ToLower(htmlTag.ReplaceAllString(linkText.ReplaceAllString(m[1], "$1"), ""))
		base = strings.ReplaceAll(notInAnchor.ReplaceAllString(base, ""), " ", "-")
		anchor := base
		for n := 1; anchors[anchor]; n++ {
			anchor = fmt.Sprintf("%s-%d", base, n)
		}
		anchors[anchor] = true
	})
	return anchors
}
