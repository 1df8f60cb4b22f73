// Package wrap breaks text into lines.
package wrap

import (
	"strings"
	"unicode/utf8"
)

// Lines returns the words of a text in lines of at most width columns, as far as they can be
// broken: the first line begins with first, the others with rest. There is always a first line.
func Lines(first, rest, text string, width int) []string {
	var lines []string
	line, columns, empty := first, utf8.RuneCountInString(first), true
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case empty:
		case columns+1+n > width:
			lines = append(lines, line)
			line, columns = rest, utf8.RuneCountInString(rest)
		default:
			line += " "
			columns++
		}
		line, columns, empty = line+word, columns+n, false
	}
	return append(lines, line)
}
