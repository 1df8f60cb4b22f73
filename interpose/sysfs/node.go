package sysfs

import (
	"path"
	"strings"
)

// node is a place of the tree: a directory, a file or a link.
type node struct {
	path     string // what clients call it, "" for the root
	parent   *node
	children map[string]*node // of a directory
	// shared is a directory that the real machine has too: what is not in
	// children is the real machine's.
	shared bool
	keep   bool // a directory that stays when it is empty
	merged bool // a shared directory that lists what both have
	// absent are the beginnings of names that are nowhere, whatever the real
	// machine has.
	absent []string

	to     *node  // what a link leads to
	target string // and how: a relative path
	show   func() string
	last   string // the content that was written last
	mode   uint32
	device *deviceNode
}

// deviceNode says that a file stands for a character device.
type deviceNode struct {
	num          int // the N of uverbsN
	major, minor uint32
}

func (n *node) isDir() bool  { return n.children != nil }
func (n *node) isLink() bool { return n.to != nil }

// dir returns a directory, or the one that is there.
func (n *node) dir(name string) *node {
	if c := n.children[name]; c != nil {
		return c
	}
	c := &node{path: n.path + "/" + name, parent: n, children: map[string]*node{}, mode: 0o755}
	n.children[name] = c
	return c
}

// dirs returns the directory at a path below n, making those that are missing.
func (n *node) dirs(p string) *node {
	for name := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		n = n.dir(name)
	}
	return n
}

// file adds a file with that content.
func (n *node) file(name string, mode uint32, show func() string) *node {
	c := &node{path: n.path + "/" + name, parent: n, mode: mode, show: show}
	n.children[name] = c
	return c
}

// line adds a file that nobody can write and that always has that one line.
func (n *node) line(name, text string) {
	n.file(name, 0o444, func() string { return text + "\n" })
}

// link adds a link to another place of the tree, relative as sysfs makes them.
func (n *node) link(name string, to *node) *node {
	c := &node{path: n.path + "/" + name, parent: n, to: to, target: relative(n.path, to.path)}
	n.children[name] = c
	return c
}

// relative is the way from a directory to a place.
func relative(from, to string) string {
	a, b := strings.Split(from, "/"), strings.Split(to, "/")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	// A link to a directory above goes by the name of that directory, as
	// sysfs_get_target_path of fs/sysfs/symlink.c has no other way to end.
	if i == len(b) {
		i--
	}
	return strings.Repeat("../", len(a)-i) + path.Join(b[i:]...)
}

// lookup finds a place by its path, without following links.
func (n *node) lookup(p string) *node {
	for name := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		if n = n.children[name]; n == nil {
			return nil
		}
	}
	return n
}

// walk calls f for n and all below it, directories before what is in them.
func (n *node) walk(f func(*node) error) error {
	if err := f(n); err != nil {
		return err
	}
	for _, c := range n.children {
		if err := c.walk(f); err != nil {
			return err
		}
	}
	return nil
}

// isAbsent says whether a name is one that is nowhere.
func (n *node) isAbsent(name string) bool {
	for _, p := range n.absent {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
