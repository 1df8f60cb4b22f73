package casefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is how deep lists and objects may lie in one another. The format
// needs 10, and a few more for sums of sums.
const maxDepth = 64

// node is one JSON value of a line that is being read.
type node struct {
	kind nodeKind
	text string // of a number as it stands, of a text unquoted, of true and false
	kids []*node
	used bool // a member that reading has asked for

	// Where it is, for error messages.
	up    *node
	key   string // as a member
	index int    // in a list
}

type nodeKind uint8

const (
	nullNode nodeKind = iota
	boolNode
	numberNode
	textNode
	listNode
	objectNode
)

var nodeNames = [...]string{"null", "true or false", "a number", "text", "a list", "an object"}

// path names the node from the case down: steps[2].attrs[0].len.
func (n *node) path() string {
	if n == nil || n.up == nil {
		return ""
	}
	up := n.up.path()
	switch {
	case n.up.kind == listNode:
		return up + "[" + strconv.Itoa(n.index) + "]"
	case up == "":
		return n.key
	}
	return up + "." + n.key
}

// find returns the member of that name, or nil.
func (n *node) find(key string) *node {
	for _, k := range n.kids {
		if k.key == key {
			return k
		}
	}
	return nil
}

// parse reads a line that is one JSON object and nothing else.
func parse(line []byte) (*node, error) {
	p := parser{s: string(line)}
	n, err := p.value(nil, "", 0, 0)
	if err != nil {
		return nil, err
	}
	if p.next(); p.at < len(p.s) {
		return nil, fmt.Errorf("byte %d: text after the end of the case", p.at)
	}
	if n.kind != objectNode {
		return nil, fmt.Errorf("a case is an object, not %s", nodeNames[n.kind])
	}
	return n, nil
}

// parser reads JSON (RFC 8259) into nodes. encoding/json would lose what a
// strict reader needs: members twice, and their case.
type parser struct {
	s     string
	at    int
	spare []node // nodes are made many at a time
}

// next passes over white space and returns the byte that follows, or 0 at the
// end of the line.
func (p *parser) next() byte {
	for ; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// wrong is the error of a byte that JSON does not have here.
func (p *parser) wrong(wanted string) error {
	if p.at >= len(p.s) {
		return errors.New("the line ends in the middle of the JSON")
	}
	return fmt.Errorf("byte %d: %q where JSON has %s", p.at, p.s[p.at], wanted)
}

// value reads what is the member key or the element index of up.
func (p *parser) value(up *node, key string, index, depth int) (*node, error) {
	if len(p.spare) == 0 {
		p.spare = make([]node, 64)
	}
	n := &p.spare[0]
	p.spare = p.spare[1:]
	n.up, n.key, n.index = up, key, index
	if depth > maxDepth {
		return nil, fmt.Errorf("byte %d: more than %d lists and objects in one another", p.at, maxDepth)
	}
	var err error
	switch c := p.next(); {
	case c == '{':
		n.kind = objectNode
		err = p.object(n, depth+1)
	case c == '[':
		n.kind = listNode
		err = p.list(n, depth+1)
	case c == '"':
		n.kind = textNode
		n.text, err = p.text()
	case c == '-' || c >= '0' && c <= '9':
		n.kind = numberNode
		n.text, err = p.number()
	default:
		err = p.word(n)
	}
	return n, err
}

func (p *parser) word(n *node) error {
	for word, kind := range map[string]nodeKind{"true": boolNode, "false": boolNode, "null": nullNode} {
		if strings.HasPrefix(p.s[p.at:], word) {
			p.at += len(word)
			n.kind, n.text = kind, word
			return nil
		}
	}
	return p.wrong("a value")
}

func (p *parser) list(n *node, depth int) error {
	p.at++
	if p.next() == ']' {
		p.at++
		return nil
	}
	for {
		k, err := p.value(n, "", len(n.kids), depth)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, k)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return nil
		default:
			return p.wrong("a comma or ]")
		}
	}
}

func (p *parser) object(n *node, depth int) error {
	p.at++
	if p.next() == '}' {
		p.at++
		return nil
	}
	var seen map[string]bool // once there are many
	for {
		if p.next() != '"' {
			return p.wrong("a member's name")
		}
		key, err := p.text()
		if err != nil {
			return err
		}
		if len(n.kids) == 16 {
			seen = map[string]bool{}
			for _, k := range n.kids {
				seen[k.key] = true
			}
		}
		if seen[key] || seen == nil && n.find(key) != nil {
			return fmt.Errorf("%smember %q stands there twice", prefix(n), shorten(key))
		}
		if p.next() != ':' {
			return p.wrong("a colon")
		}
		p.at++
		k, err := p.value(n, key, 0, depth)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, k)
		if seen != nil {
			seen[key] = true
		}
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return nil
		default:
			return p.wrong("a comma or }")
		}
	}
}

// text reads a string, which has to be printable: names and comments of cases
// go to terminals and into lines of reports. What is no UTF-8 in it becomes
// U+FFFD.
func (p *parser) text() (string, error) {
	begin := p.at
	s, err := p.quoted()
	if err != nil {
		return "", err
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return "", fmt.Errorf("byte %d: a text with %q, which is not printable", begin, r)
	}
	return s, nil
}

func (p *parser) quoted() (string, error) {
	begin, simple := p.at, true
	for p.at++; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			if simple {
				return p.s[begin+1 : p.at-1], nil
			}
			var s string
			if err := json.Unmarshal([]byte(p.s[begin:p.at]), &s); err != nil {
				return "", fmt.Errorf("byte %d: not a JSON string: %w", begin, err)
			}
			return s, nil
		case c == '\\':
			simple = false
			p.at++
		case c < ' ':
			return "", p.wrong("an escape in a string")
		case c >= utf8.RuneSelf:
			simple = false
		}
	}
	return "", p.wrong("more of a string")
}

// number reads a number and leaves it as text.
func (p *parser) number() (string, error) {
	begin := p.at
	if p.s[p.at] == '-' {
		p.at++
	}
	if p.at < len(p.s) && p.s[p.at] == '0' {
		p.at++
	} else if !p.digits() {
		return "", p.wrong("a digit")
	}
	if p.at < len(p.s) && p.s[p.at] == '.' {
		p.at++
		if !p.digits() {
			return "", p.wrong("a digit")
		}
	}
	if p.at < len(p.s) && p.s[p.at]|0x20 == 'e' {
		p.at++
		if p.at < len(p.s) && (p.s[p.at] == '+' || p.s[p.at] == '-') {
			p.at++
		}
		if !p.digits() {
			return "", p.wrong("a digit")
		}
	}
	return p.s[begin:p.at], nil
}

// digits passes over digits and says whether there were any.
func (p *parser) digits() bool {
	begin := p.at
	for p.at < len(p.s) && p.s[p.at] >= '0' && p.s[p.at] <= '9' {
		p.at++
	}
	return p.at > begin
}

// prefix is the path of a node as the beginning of a message.
func prefix(n *node) string {
	if p := n.path(); p != "" {
		return p + ": "
	}
	return ""
}

// appendQuoted writes text as a JSON string. Bytes that are no UTF-8 become
// U+FFFD, as they do when they are read.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range strings.ToValidUTF8(s, string(utf8.RuneError)) {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
