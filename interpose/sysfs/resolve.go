package sysfs

import "strings"

// Kind says what a path is.
type Kind uint8

const (
	// Path is a path of the twin, where it may exist or not.
	Path Kind = iota
	// DeviceNode is a device node, or a link to one: opening it opens the
	// device.
	DeviceNode
)

// Entry is what Resolve says of a path.
type Entry struct {
	// Twin is the path below the twin's directory. Every system call but the
	// opening and the stat of a device node has the right answer there: if the
	// client's path does not exist, so does not this one. The last part may be a
	// link, which leads to another place of the twin.
	Twin string
	Kind Kind
	Link bool // the path is a link itself

	// Of a device node: the N of uverbsN, its number, and the bits of its mode.
	Device       int
	Major, Minor uint32
	Mode         uint32
}

// mayBeOurs is what can be said of a path without walking it.
func mayBeOurs(p string) bool {
	switch {
	case len(p) < 5 || p[0] != '/':
		return false
	case strings.Contains(p, "/.") || strings.Contains(p, "//"): // it has a part that leads nowhere or up
		return true
	case p[:5] == "/sys/":
		p = p[5:]
		return strings.HasPrefix(p, "class/infiniband") || strings.HasPrefix(p, "devices/") ||
			strings.HasPrefix(p, "bus/pci/") || strings.HasPrefix(p, "dev/char/")
	case p[:5] == "/dev/":
		return strings.HasPrefix(p[5:], "infiniband") || strings.HasPrefix(p[5:], "char/")
	}
	return false
}

// Resolve says what the twin knows of an absolute path; it is not the twin's
// business if ok is false. Parts that are "." or empty are skipped; ".." leads up
// from where the path before it really is. A relative path, which the kernel
// follows by itself, is nobody's.
func (t *Tree) Resolve(p string) (e Entry, ok bool) {
	if !mayBeOurs(p) {
		return Entry{}, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, outside := t.root, 0
	rest := p[1:]
	for {
		var name string
		var last bool
		name, rest, last = next(rest)
		switch {
		case name == "" && last:
			return t.entry(at, outside)
		case name == "..":
			switch {
			case outside > 0:
				outside--
			case at.parent != nil:
				at = at.parent
			}
			continue
		case outside > 0:
			outside++
			continue
		}
		child := at.children[name]
		switch {
		case child == nil && at.shared && !at.isAbsent(name):
			outside++
			continue
		case child == nil:
			return Entry{Twin: t.dir + at.path + "/" + name}, true
		case last && rest == "":
			return t.entry(child, 0)
		case child.isLink():
			child = child.to // never a link itself
		}
		if !child.isDir() {
			return Entry{Twin: t.dir + child.path + "/"}, true // ENOTDIR
		}
		at = child
	}
}

// next takes the first part off a path, without those that lead nowhere. It is
// the last if nothing follows; what follows is "/" if the path ends with a slash.
func next(p string) (name, rest string, last bool) {
	for {
		i := strings.IndexByte(p, '/')
		if i < 0 {
			name, rest = p, ""
		} else {
			name, rest = p[:i], p[i+1:]
		}
		switch {
		case name == "" || name == ".":
			if i < 0 {
				return "", "", true
			}
			p = rest
			continue
		case i < 0:
			return name, "", true
		}
		return name, rest, false
	}
}

// entry is what is said of a place that a path ends at.
func (t *Tree) entry(n *node, outside int) (Entry, bool) {
	if outside > 0 || n.shared && !n.merged {
		return Entry{}, false
	}
	e := Entry{Twin: t.dir + n.path, Link: n.isLink()}
	if e.Link && n.to.device != nil {
		n = n.to
	}
	if d := n.device; d != nil {
		e.Kind, e.Device, e.Major, e.Minor, e.Mode = DeviceNode, d.num, d.major, d.minor, n.mode
	}
	return e, true
}
