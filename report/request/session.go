package request

import (
	"regexp"
	"strings"
)

// What stands around bytes in the sessions that people copy from: the prompts of
// debuggers and of Python, and Python's way of writing bytes.
var (
	prompt      = regexp.MustCompile(`^\s*(?:\(gdb\)|\(lldb\)|pwndbg>|gef➤|crash>|>>>|In \[\d+\]:|Out\[\d+\]:)`)
	answered    = regexp.MustCompile(`^\s*(?:(?:0[xX])?[0-9a-fA-F]{4,16}(?:\s+<[^>]*>)?:|(?:bytearray\()?b['"])`)
	pythonBytes = regexp.MustCompile(`^\s*(?:[A-Za-z_]\w*\s*=\s*)?\(?\s*(?:bytearray\(|bytes\()?(b)['"]`)
)

// withoutPrompt returns a line with blanks in the place of a prompt, so that
// columns stay what they are, and says whether a command follows and no bytes.
func withoutPrompt(s string) (line string, command bool) {
	p := prompt.FindString(s)
	if p == "" {
		return s, false
	}
	return strings.Repeat(" ", len(p)) + s[len(p):], !answered.MatchString(s[len(p):])
}

// python reads a line of bytes as Python writes them, b'\x28\x00'; false if it is
// none.
func (p *parser) python(s string) (bool, error) {
	m := pythonBytes.FindStringSubmatchIndex(s)
	if m == nil {
		return false, nil
	}
	r := row{line: p.n, words: never}
	for at := m[2]; at < len(s); {
		switch {
		case strings.IndexByte(" \t)],;\\", s[at]) >= 0:
			at++
			continue
		case s[at] == '#':
			at = len(s)
			continue
		case s[at] != 'b' || at+1 == len(s) || s[at+1] != '\'' && s[at+1] != '"':
			return true, failed(p.n, at+1, "%s behind bytes of Python", show(s[at:]))
		}
		b, n, err := p.text(s, at+1)
		if err != nil {
			return true, err
		}
		for _, c := range b {
			r.groups = append(r.groups, hexByte(c))
		}
		at += 1 + n
	}
	if len(r.groups) == 0 {
		return true, nil
	}
	return true, p.add(r)
}

// hexByte is a byte as two digits.
func hexByte(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}
