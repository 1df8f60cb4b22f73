package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
)

// Options say what the twin tells that the machine does not know.
type Options struct {
	// Interface is the name that the network devices of the RDMA devices go by,
	// for programs that then ask the real machine about it. Empty is the name
	// that the device gives.
	Interface string
	// CPUs is how many processors are near each device, those of this process if
	// zero.
	CPUs int
	// HostPCI is the real directory whose entries are listed in
	// /sys/bus/pci/devices beside the RDMA devices. If it is empty, that
	// directory is not listed by the twin, only the devices are there.
	HostPCI string
}

// Tree is a twin. Its methods may be called by several goroutines at once.
type Tree struct {
	dir  string
	opts Options
	task *process.Task

	writing sync.Mutex // one change after the other
	devices map[*kernel.Device][]*node

	mu   sync.RWMutex // of all below, but for the content of files
	root *node
}

// The directories that the real machine has too, and in each the names that are
// nowhere: those of RDMA devices which are not in the tree.
var shared = []struct {
	path   string
	absent []string
}{
	{"/sys", nil},
	{"/sys/class", []string{"infiniband"}},
	{"/sys/class/net", nil},
	{"/sys/devices", nil},
	{"/sys/devices/virtual", []string{"infiniband"}},
	{"/sys/bus", nil},
	{"/sys/bus/pci", nil},
	{"/sys/bus/pci/devices", nil},
	{"/sys/bus/pci/drivers", nil},
	{"/sys/dev", nil},
	{"/sys/dev/char", []string{"231:"}},
	{"/dev", []string{"infiniband"}},
	{"/dev/char", []string{"231:"}},
}

// Errors of what a tree cannot show.
var (
	errInterface = errors.New("sysfs: no network device can have that name")
	errTwice     = errors.New("sysfs: another device has that place")
)

// Write writes the twin of a machine into a directory, which is made if it is not
// there. The directory belongs to the twin: who may go there sees all of it.
func Write(dir string, m *kernel.Machine, opts Options) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("sysfs: %w", err)
	}
	if i := opts.Interface; strings.ContainsAny(i, "/\x00") || i == "." || i == ".." {
		return nil, fmt.Errorf("%w: %q", errInterface, i)
	}
	if opts.CPUs == 0 {
		opts.CPUs = runtime.NumCPU()
	}
	t := &Tree{dir: dir, opts: opts, devices: map[*kernel.Device][]*node{},
		root: &node{children: map[string]*node{}, shared: true, mode: 0o755}}
	t.task = m.NewProcess(process.Options{}).MainTask()
	for _, s := range shared {
		n := t.root.dirs(s.path)
		n.shared, n.absent = true, s.absent
	}
	t.root.dirs("/sys/bus/pci/devices").merged = opts.HostPCI != ""
	t.classes()
	if err := t.root.walk(func(n *node) error { n.keep = true; return t.create(n) }); err != nil {
		return nil, err
	}
	if err := t.listHostPCI(); err != nil {
		return nil, err
	}
	for _, d := range m.Devices() {
		if err := t.Add(d); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// classes makes what is there without any device.
func (t *Tree) classes() {
	t.root.dirs("/sys/class/infiniband")
	t.root.dirs("/sys/class/infiniband_verbs").line("abi_version", fmt.Sprint(uverbsABIVersion))
	t.root.dirs("/dev/infiniband")
}

// uverbsABIVersion is IB_USER_VERBS_ABI_VERSION.
const uverbsABIVersion = 6

// listHostPCI puts the real machine's functions beside the twin's, as links.
func (t *Tree) listHostPCI() error {
	if t.opts.HostPCI == "" {
		return nil
	}
	entries, err := os.ReadDir(t.opts.HostPCI)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sysfs: %w", err)
	}
	for _, e := range entries {
		at := filepath.Join(t.dir, "sys/bus/pci/devices", e.Name())
		if err := os.Symlink(filepath.Join(t.opts.HostPCI, e.Name()), at); err != nil {
			return fmt.Errorf("sysfs: %w", err)
		}
	}
	return nil
}

// Dir returns the twin's directory.
func (t *Tree) Dir() string { return t.dir }

// Add adds a device that came after the twin was written. One that is there or
// was removed from the machine is left alone.
func (t *Tree) Add(d *kernel.Device) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	ib := d.IBDevice()
	if ib == nil || t.devices[d] != nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range places(d, ib) {
		if t.root.lookup(p) != nil {
			return fmt.Errorf("%w: %s", errTwice, p)
		}
	}
	before := map[*node]bool{}
	_ = t.root.walk(func(n *node) error { before[n] = true; return nil })
	t.build(d, ib)
	var added []*node
	err := t.root.walk(func(n *node) error {
		if before[n] {
			return nil
		}
		added = append(added, n)
		return t.create(n)
	})
	t.devices[d] = added
	return err
}

// places are those that no two devices can share.
func places(d *kernel.Device, ib *core.Device) []string {
	all := []string{"/sys/class/infiniband/" + ib.Name, fmt.Sprintf("/dev/infiniband/uverbs%d", d.Num)}
	if pci := ib.Sysfs.PCI; pci != nil {
		all = append(all, "/sys/bus/pci/devices/"+pci.Address)
	}
	return all
}

// Remove takes a device out. Files of it that clients have open stay readable. A
// directory that other devices are in stays as long as they do.
func (t *Tree) Remove(d *kernel.Device) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, n := range slices.Backward(t.devices[d]) {
		for n.parent != nil && !n.keep && len(n.children) == 0 && n.parent.children[base(n)] == n {
			delete(n.parent.children, base(n))
			errs = append(errs, os.Remove(t.dir+n.path))
			n = n.parent
		}
	}
	delete(t.devices, d)
	return errors.Join(errs...)
}

// Refresh writes what has changed of a device since the twin was written. A file
// stays the file that clients have open. While one is rewritten by something
// shorter, a reader may for a moment find the rest of the old line behind the new
// one.
func (t *Tree) Refresh(d *kernel.Device) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	if d.IBDevice() == nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, n := range t.devices[d] {
		if err := t.rewrite(n); err != nil {
			return err
		}
	}
	return nil
}

// create makes a place of the tree in the file system.
func (t *Tree) create(n *node) error {
	at := t.dir + n.path
	var err error
	switch {
	case n.isDir():
		if err = os.MkdirAll(at, 0o755); err == nil {
			err = os.Chmod(at, os.FileMode(n.mode))
		}
	case n.isLink():
		if err = os.Symlink(n.target, at); errors.Is(err, fs.ErrExist) && n.parent.merged {
			// The real machine has a function of that address, which is not seen.
			err = errors.Join(os.Remove(at), os.Symlink(n.target, at))
		}
	default:
		n.last = n.show()
		if err = os.WriteFile(at, []byte(n.last), 0o600); err == nil {
			err = os.Chmod(at, os.FileMode(n.mode))
		}
	}
	if err != nil {
		return fmt.Errorf("sysfs: %w", err)
	}
	return nil
}

// rewrite writes a file's content if it is another than before. The file's mode
// is for clients and may keep even its owner from writing.
func (t *Tree) rewrite(n *node) error {
	if n.show == nil {
		return nil
	}
	text := n.show()
	if text == n.last {
		return nil
	}
	if err := overwrite(t.dir+n.path, text, os.FileMode(n.mode)); err != nil {
		return fmt.Errorf("sysfs: %w", err)
	}
	n.last = text
	return nil
}

func overwrite(at, text string, mode os.FileMode) (err error) {
	f, err := os.OpenFile(at, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		if err := os.Chmod(at, mode|0o200); err != nil {
			return err
		}
		f, err = os.OpenFile(at, os.O_WRONLY, 0)
		err = errors.Join(err, os.Chmod(at, mode))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}

// build adds a device's places to the tree: what ib_setup_device_attrs and
// ib_uverbs_add_one make.
func (t *Tree) build(d *kernel.Device, ib *core.Device) {
	home := t.root.dirs("/sys/devices/virtual")
	if pci := ib.Sysfs.PCI; pci != nil {
		home = t.pciFunction(pci)
		t.netdevs(home, ib)
	}
	t.ibDevice(home, ib)
	t.uverbs(home, d, ib)
}
