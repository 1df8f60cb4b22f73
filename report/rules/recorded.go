package rules

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"uverbsim/rule"
)

//go:embed shown.txt
var shownText []byte

//go:embed unshown.txt
var unshownText []byte

// Recorded returns the catalogue with what the recorded cases show.
var Recorded = sync.OnceValue(func() *Catalogue {
	shown, err := ParseShown(shownText)
	if err != nil {
		panic("rules: shown.txt: " + err.Error())
	}
	unshown, err := ParseUnshown(unshownText)
	if err != nil {
		panic("rules: unshown.txt: " + err.Error())
	}
	return New(shown, unshown)
})

// Shown says by a rule's id which cases show it.
type Shown map[string]*Evidence

// Evidence are the cases that show a rule.
type Evidence struct {
	Count int
	Cases []Case // the first few
}

// maxCases is how many cases of a rule are named.
const maxCases = 3

// Add takes in one more case. Those that are added first are named.
func (s Shown) Add(id string, c Case) {
	e := s[id]
	if e == nil {
		e = new(Evidence)
		s[id] = e
	}
	e.Count++
	if len(e.Cases) < maxCases {
		e.Cases = append(e.Cases, c)
	}
}

// Text returns the text that ParseShown reads: of each rule a line with its id,
// how many cases show it, and the first of them as FILE/NAME.
func (s Shown) Text() []byte {
	var b bytes.Buffer
	for _, r := range rule.All() {
		e := s[r.ID]
		if e == nil {
			continue
		}
		fmt.Fprintf(&b, "%s %d", r.ID, e.Count)
		for _, c := range e.Cases {
			fmt.Fprintf(&b, " %s/%s", c.File, c.Name)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// ParseShown reads what Text writes.
func ParseShown(text []byte) (Shown, error) {
	s := Shown{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) < 3 {
			return nil, fmt.Errorf("line %d: an id, a count and cases are wanted", n)
		}
		count, err := strconv.Atoi(words[1])
		if err != nil || count < len(words)-2 {
			return nil, fmt.Errorf("line %d: %s is no count of these cases", n, words[1])
		}
		if rule.Find(words[0]) == nil {
			return nil, fmt.Errorf("line %d: there is no rule %s", n, words[0])
		}
		e := &Evidence{Count: count}
		for _, w := range words[2:] {
			file, name, _ := strings.Cut(w, "/")
			e.Cases = append(e.Cases, Case{file, name})
		}
		s[words[0]] = e
	}
	return s, lines.Err()
}

// ParseUnshown reads why rules are not shown. A line
//
//	KIND: SENTENCE
//
// is a reason, and the lines below it, up to an empty one, are the ids of the
// rules that it holds for, sorted.
func ParseUnshown(text []byte) (map[string]*Reason, error) {
	reasons := map[string]*Reason{}
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(block, "\n")
		name, sentence, _ := strings.Cut(lines[0], ": ")
		switch {
		case kind(name) == nil:
			return nil, fmt.Errorf("%q begins with no kind of reason", lines[0])
		case !strings.HasSuffix(sentence, "."):
			return nil, fmt.Errorf("the reason %q is no sentence", sentence)
		case len(lines) == 1:
			return nil, fmt.Errorf("no rule has the reason %q", sentence)
		case !slices.IsSorted(lines[1:]):
			return nil, fmt.Errorf("the rules under %q are not sorted", sentence)
		}
		for _, id := range lines[1:] {
			if rule.Find(id) == nil {
				return nil, fmt.Errorf("there is no rule %s", id)
			}
			if reasons[id] != nil {
				return nil, fmt.Errorf("%s has two reasons", id)
			}
			reasons[id] = &Reason{name, sentence}
		}
	}
	return reasons, nil
}
