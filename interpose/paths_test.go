package interpose_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
)

func init() {
	clients["looks"] = looksClient
	clients["foreign"] = foreignClient
	clients["edges"] = edgesClient
	clients["nodestat"] = nodestatClient
}

// errnoName returns what a call has failed with, "" for none.
func errnoName(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := err.(unix.Errno); ok {
		return unix.ErrnoName(e)
	}
	return err.Error()
}

// look is what every call that takes a path says to one.
type look struct {
	Open, Openat2, Directory, Path, NoFollow, Create string
	Stat, Lstat, Fstatat, Statx                      string
	Access, Faccessat2, Readlink                     string

	Mode, LinkMode uint32
	Link           string
}

// opened opens and closes.
func opened(dir int, path string, flags int) string {
	fd, err := unix.Openat(dir, path, flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return errnoName(err)
}

// lookAt makes the calls, with the path seen from a directory.
func lookAt(dir int, path string) (l look) {
	l.Open = opened(dir, path, unix.O_RDONLY)
	fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC})
	if err == nil {
		unix.Close(fd)
	}
	l.Openat2 = errnoName(err)
	l.Directory = opened(dir, path, unix.O_RDONLY|unix.O_DIRECTORY)
	l.Path = opened(dir, path, unix.O_PATH)
	l.NoFollow = opened(dir, path, unix.O_RDONLY|unix.O_NOFOLLOW)
	l.Create = opened(dir, path, unix.O_RDONLY|unix.O_CREAT)
	var st unix.Stat_t
	l.Fstatat = errnoName(unix.Fstatat(dir, path, &st, 0))
	l.Mode = st.Mode
	l.Lstat = errnoName(unix.Fstatat(dir, path, &st, unix.AT_SYMLINK_NOFOLLOW))
	l.LinkMode = st.Mode
	if dir == unix.AT_FDCWD {
		l.Stat = errnoName(unix.Stat(path, &st))
	}
	var stx unix.Statx_t
	l.Statx = errnoName(unix.Statx(dir, path, 0, unix.STATX_BASIC_STATS, &stx))
	l.Access = errnoName(unix.Faccessat(dir, path, unix.R_OK, 0))
	l.Faccessat2 = errnoName(unix.Faccessat2(dir, path, unix.R_OK, unix.AT_EACCESS))
	b := make([]byte, 4096)
	n, err := unix.Readlinkat(dir, path, b)
	l.Readlink = errnoName(err)
	if err == nil {
		l.Link = string(b[:n])
	}
	return l
}

// looksClient prints what the calls say to each path. One that begins with @ is
// seen from the directory /sys/class/infiniband_verbs.
func looksClient(paths []string) error {
	all := make([]look, len(paths))
	for i, p := range paths {
		dir := unix.AT_FDCWD
		if rest, ok := strings.CutPrefix(p, "@"); ok {
			var err error
			if dir, err = unix.Open("/sys/class/infiniband_verbs", unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
				return fmt.Errorf("the directory: %w", err)
			}
			p = rest
		}
		all[i] = lookAt(dir, p)
		if dir != unix.AT_FDCWD {
			unix.Close(dir)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

func looks(t *testing.T, r *rig, paths []string) []look {
	t.Helper()
	var all []look
	require.NoError(t, json.Unmarshal([]byte(r.run(t, "looks", paths...)), &all))
	require.Len(t, all, len(paths))
	return all
}

// TestPaths looks at what there is of the machine by every call with a path.
func TestPaths(t *testing.T) {
	const verbs, class = "/sys/class/infiniband_verbs", "/sys/class/infiniband"
	file := look{Directory: "ENOTDIR", Readlink: "EINVAL"}
	dir := look{Readlink: "EINVAL", Create: "EISDIR"}
	chr := look{Directory: "ENOTDIR", Readlink: "EINVAL"}
	link := look{NoFollow: "ELOOP", Create: "EISDIR"}
	none := look{Open: "ENOENT", Openat2: "ENOENT", Directory: "ENOENT", Path: "ENOENT", NoFollow: "ENOENT", Create: "EACCES", Stat: "ENOENT",
		Lstat: "ENOENT", Fstatat: "ENOENT", Statx: "ENOENT", Access: "ENOENT", Faccessat2: "ENOENT", Readlink: "ENOENT"}
	cases := []struct {
		path string
		want look
		mode uint32 // type
	}{
		{class, dir, unix.S_IFDIR},
		{class + "/", dir, unix.S_IFDIR},
		{verbs + "/abi_version", file, unix.S_IFREG},
		{verbs + "//abi_version", file, unix.S_IFREG},
		{verbs + "/./abi_version", file, unix.S_IFREG},
		{"//sys//class/infiniband_verbs/abi_version", file, unix.S_IFREG},
		{class + "/../infiniband_verbs/abi_version", file, unix.S_IFREG},
		{"/sys/../sys/class/infiniband_verbs/abi_version", file, unix.S_IFREG},
		{"/sys/class/../class/infiniband_verbs/abi_version", file, unix.S_IFREG},
		{"/" + strings.Repeat("./", 1900) + "sys/class/infiniband_verbs/abi_version", file, unix.S_IFREG},
		{class + "/mlx5_0", link, unix.S_IFDIR},
		{class + "/mlx5_0/node_guid", file, unix.S_IFREG},
		{class + "/mlx5_0/device/modalias", file, unix.S_IFREG},
		{class + "/mlx5_0/no_such_file", none, 0},
		{class + "/mlx5_9", none, 0},
		{node, chr, unix.S_IFCHR},
		{"/dev//infiniband/./uverbs0", chr, unix.S_IFCHR},
		{"/dev/infiniband/../infiniband/uverbs0", chr, unix.S_IFCHR},
		{"@abi_version", file, unix.S_IFREG},
		{"@uverbs0/ibdev", file, unix.S_IFREG},
		{"@../infiniband/mlx5_0/node_guid", file, unix.S_IFREG},
	}
	r := newRig(t, nil)
	paths := make([]string, len(cases))
	for i := range cases {
		paths[i] = cases[i].path
	}
	for i, got := range looks(t, r, paths) {
		c := cases[i]
		name := c.path
		if len(name) > 100 {
			name = name[:20] + "..." + name[len(name)-40:]
		}
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.mode, got.Mode&unix.S_IFMT, "type")
			if c.want == link {
				require.Equal(t, uint32(unix.S_IFLNK), got.LinkMode&unix.S_IFMT, "type of the link")
				require.NotEmpty(t, got.Link)
			}
			if strings.HasPrefix(c.path, "@") {
				c.want.Stat = ""
			}
			got.Mode, got.LinkMode, got.Link = 0, 0, ""
			require.Equal(t, c.want, got)
		})
	}
}

// foreignPaths are paths that are not the machine's; %d is a directory of the test's.
var foreignPaths = []string{
	"%d/file", "%d/sub", "%d/link", "%d/dangling", "%d/loop", "%d/none", "%d/file/below", "%d/closed", "%d/sub/../file", "%d//file", "%d/fifo",
	"/", "/proc/self/status", "/proc/self/exe", "/dev/null", "/sys", "/sys/class", "/sys/class/net/lo", "/sys/class/xinfiniband",
	"/dev/xinfiniband/uverbs0", "/dev/../dev/null", "", "relative", "./%d", "%d/uverbs0", "%d/" + strings.Repeat("n", 300),
}

// foreignClient prints what the calls say to them.
func foreignClient(args []string) error {
	if err := os.Chdir(args[0]); err != nil {
		return err
	}
	var all []look
	for _, p := range foreignPaths {
		all = append(all, lookAt(unix.AT_FDCWD, strings.ReplaceAll(p, "%d", args[0])))
	}
	long := "/" + strings.Repeat("x/", 2100) // PATH_MAX is less
	all = append(all, lookAt(unix.AT_FDCWD, long))
	dir, err := unix.Open(args[0], unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for _, p := range []string{"file", "uverbs0", "sub/../uverbs0", "none", "sub/", "link"} {
		all = append(all, lookAt(dir, p))
	}
	all = append(all, lookAt(999, "uverbs0"), lookAt(-5, "file"))
	return json.NewEncoder(os.Stdout).Encode(all)
}

// TestForeignPaths compares what a program is told of paths that are not the
// machine's with what it is told without a Supervisor.
func TestForeignPaths(t *testing.T) {
	fill := func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "closed"), nil, 0))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "uverbs0"), nil, 0o640))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
		require.NoError(t, os.Symlink("file", filepath.Join(dir, "link")))
		require.NoError(t, os.Symlink("gone", filepath.Join(dir, "dangling")))
		require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
		require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
		// An open for reading shall not wait for a writer.
		fd, err := unix.Open(filepath.Join(dir, "fifo"), unix.O_RDWR|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		t.Cleanup(func() { unix.Close(fd) })
	}
	parse := func(out string, dir string) (all []look) {
		require.NoError(t, json.Unmarshal([]byte(out), &all))
		for i := range all {
			all[i].Link = strings.ReplaceAll(all[i].Link, dir, "%d")
		}
		return all
	}
	here, there := t.TempDir(), t.TempDir()
	fill(here)
	fill(there)
	self, err := os.Executable()
	require.NoError(t, err)
	out, err := exec.Command(self, clientArg, "foreign", here).Output()
	require.NoError(t, err)
	native := parse(string(out), here)
	names := append(foreignPaths[:len(foreignPaths):len(foreignPaths)], "a path that is too long", "file", "uverbs0", "sub/../uverbs0", "none", "sub/", "link", "no directory", "no directory")
	require.Len(t, native, len(names))
	require.Equal(t, "ENAMETOOLONG", native[len(foreignPaths)].Stat)
	r := newRig(t, nil)
	for i, got := range parse(r.run(t, "foreign", there), there) {
		require.Equal(t, native[i], got, names[i])
	}
}

// edgesClient looks at paths where reading them is the difficulty.
func edgesClient([]string) error {
	const size = 2 * copyuser.PageSize
	mem, err := unix.Mmap(-1, 0, size+copyuser.PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	if err := unix.Mprotect(mem[size:], unix.PROT_NONE); err != nil {
		return err
	}
	readOnly, err := unix.Mmap(-1, 0, copyuser.PageSize, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	base := uintptr(unsafe.Pointer(&mem[0]))
	at := func(path string, end int) uintptr {
		from := end - len(path)
		copy(mem[from:], path)
		return base + uintptr(from)
	}
	open := func(path uintptr) unix.Errno {
		fd, _, e := unix.Syscall6(unix.SYS_OPENAT, ^uintptr(99), path, unix.O_RDWR|unix.O_CLOEXEC, 0, 0, 0)
		if e == 0 {
			unix.Close(int(fd))
		}
		return e
	}
	stat := func(path, to uintptr) unix.Errno {
		_, _, e := unix.Syscall6(unix.SYS_NEWFSTATAT, ^uintptr(99), path, to, 0, 0, 0)
		return e
	}
	text := node + "\x00"
	to := base // where no path lies
	for i := 1; i < len(text); i++ {
		if e := open(at(text, copyuser.PageSize+i)); e != 0 {
			return fmt.Errorf("a path that crosses a page %d bytes before its end: %w", i, e)
		}
	}
	for _, c := range []struct {
		name string
		got  unix.Errno
		want unix.Errno
	}{
		{"a path that ends where memory ends", open(at(text, size)), 0},
		{"one that goes on there", open(at(node, size)), unix.EFAULT},
		{"no address", open(0), unix.EFAULT},
		{"an address of the kernel", open(1 << 63), unix.EFAULT},
		{"the last address", open(^uintptr(0)), unix.EFAULT},
		{"a look at the same", stat(at(node, size), to), unix.EFAULT},
		{"a look with no room", stat(at(text, size), 8), unix.EFAULT},
		{"a look with room in memory that is read-only", stat(at(text, size), uintptr(addrOf(readOnly))), unix.EFAULT},
		{"a look with room in memory that is nobody's", stat(at(text, size), base+size), unix.EFAULT},
		{"a look", stat(at(text, size), to), 0},
		{"an empty path", open(at("\x00", size)), unix.ENOENT},
	} {
		if c.got != c.want {
			return fmt.Errorf("%s: %v, not %v", c.name, c.got, c.want)
		}
	}
	return nil
}

// TestPathEdges passes paths at the edges of pages, of memory and of what an
// address can be.
func TestPathEdges(t *testing.T) { newRig(t, nil).run(t, "edges") }

// nodestatClient checks what is told of the device's node and of its descriptor.
func nodestatClient([]string) error {
	text, err := os.ReadFile("/sys/class/infiniband_verbs/uverbs0/dev")
	if err != nil {
		return err
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(string(text), "%d:%d", &major, &minor); err != nil {
		return err
	}
	fd, err := openNode()
	if err != nil {
		return err
	}
	dup, err := unix.Dup(fd)
	if err != nil {
		return err
	}
	checks := map[string]func(*unix.Stat_t) error{
		"stat":            func(st *unix.Stat_t) error { return unix.Stat(node, st) },
		"lstat":           func(st *unix.Stat_t) error { return unix.Lstat(node, st) },
		"fstat":           func(st *unix.Stat_t) error { return unix.Fstat(fd, st) },
		"fstat of a dup":  func(st *unix.Stat_t) error { return unix.Fstat(dup, st) },
		"fstatat, empty":  func(st *unix.Stat_t) error { return unix.Fstatat(fd, "", st, unix.AT_EMPTY_PATH) },
		"fstatat, a path": func(st *unix.Stat_t) error { return unix.Fstatat(fd, node, st, unix.AT_EMPTY_PATH) },
	}
	for name, check := range checks {
		var st unix.Stat_t
		if err := check(&st); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if st.Mode != unix.S_IFCHR|0o666 || unix.Major(st.Rdev) != major || unix.Minor(st.Rdev) != minor || st.Size != 0 {
			return fmt.Errorf("%s: mode %#o, device %d:%d, not %d:%d, size %d", name, st.Mode, unix.Major(st.Rdev), unix.Minor(st.Rdev), major, minor, st.Size)
		}
	}
	for name, path := range map[string]string{"statx": node, "statx of a descriptor": ""} {
		var st unix.Statx_t
		if err := unix.Statx(fd, path, unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &st); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if st.Mode != unix.S_IFCHR|0o666 || st.Rdev_major != major || st.Rdev_minor != minor {
			return fmt.Errorf("%s: mode %#o, device %d:%d", name, st.Mode, st.Rdev_major, st.Rdev_minor)
		}
	}
	return nil
}

// TestNodeStat looks at the device's node and at descriptors of it.
func TestNodeStat(t *testing.T) { newRig(t, nil).run(t, "nodestat") }
