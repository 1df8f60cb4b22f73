package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// Why live processes are answered otherwise than recorded.
const (
	shortReads = "a read of an event descriptor is a read of a pipe: one that is too short takes the event all the same, and one that faults leaves it"
	endOfFile  = "an event descriptor whose file or device is gone is a pipe without a writer: end of file and POLLHUP, not EIO and POLLERR or POLLIN"
	cgroups    = "the RDMA controller of a program's control group is not looked at"
	noBlocking = "close() returns before the machine hears of it, and waits for nothing"
	vfsIoctls  = "the descriptor is that of a regular file to the kernel's own ioctls"
	writable   = "the kernel does not know that the page may not become writable"
	forked     = "mappings that a child inherits are not followed"
	taken      = "the number of a descriptor that was reserved cannot be given back, and has a pipe behind it until the file is there"
	writes     = "a write() whose length no call has is not looked at"
	backlog    = "answers of commands do not wait in the machine but in the pipe"
	noRead     = "a descriptor of a kind that cannot be read is an empty pipe"
	raced      = endOfFile + ", if the close comes first"
	executed   = "the Go runtime of the program after exec may have a file by that number"
)

// byChance are the reasons that do not always hold.
var byChance = map[string]bool{raced: true, executed: true}

// differs are the cases that live processes are not answered as recorded, with the
// reasons.
var differs = map[string]string{
	"linux-6.1-rules/rule/ioctl-fioqsize":                      vfsIoctls,
	"linux-6.1-rxe/cmd/fionread-not-regular":                   vfsIoctls,
	"linux-6.1-rxe/fd/comp-after-device-close":                 endOfFile,
	"linux-6.1-rxe/write/count-0":                              writes,
	"linux-6.12-events/ev/blocked-read-short":                  shortReads,
	"linux-6.12-events/ev/device-closed-with-event":            endOfFile,
	"linux-6.12-events/ev/read-fault":                          shortReads,
	"linux-6.12-events/ev/short-read":                          shortReads,
	"linux-6.12-events/ev/sqd-drained-by-work":                 shortReads,
	"linux-6.12-hold/hold/removal-close":                       noBlocking,
	"linux-6.12-mlx5-caps/mlx5-caps/bf=0/mmap/clockinfo-write": writable,
	"linux-6.12-mlx5-mmap/mlx5/mmap/clock-write":               writable,
	"linux-6.12-mlx5-mmap/mlx5/mmap/clockinfo-write":           writable,
	"linux-6.12-mlx5/mlx5/devx-cmdfd/query-7":                  shortReads,
	"linux-6.12-mlx5/mlx5/devx-cmdfd/query-8":                  shortReads,
	"linux-6.12-more/cred/write-order-count":                   writes,
	"linux-6.12-more/limit/cgroup-close-uncharges":             cgroups,
	"linux-6.12-more/limit/cgroup-fd-objects-free":             cgroups,
	"linux-6.12-more/limit/cgroup-handle-1":                    cgroups,
	"linux-6.12-more/limit/cgroup-leave":                       cgroups,
	"linux-6.12-more/limit/cgroup-lower-later":                 cgroups,
	"linux-6.12-more/limit/cgroup-object-new-attr":             cgroups,
	"linux-6.12-more/limit/cgroup-order-handler":               cgroups,
	"linux-6.12-more/limit/cgroup-write-path":                  cgroups,
	"linux-6.12-more/limit/nofile-failed-alloc-frees":          taken,
	"linux-6.12-more/proc/channel-outlives-file":               endOfFile,
	"linux-6.12-more/rxe-removal/channel-keeps":                endOfFile,
	"linux-6.12-more/proc/close-during-ioctl-fd":               endOfFile,
	"linux-6.12-more/proc/exec-cloexec":                        executed,
	"linux-6.12-more/proc/exec-event-fd-cloexec":               executed,
	"linux-6.12-removal-par/rmpar/read-channel":                raced,
	"linux-6.12-par/par/read-vs-device-close":                  raced,
	"linux-6.12-public-mlx5/public/I4-command-fd-closed":       endOfFile,
	"linux-6.12-public-mlx5/public/I4-device-closed-data":      endOfFile,
	"linux-6.12-public-mlx5/public/I4-device-closed-omit":      endOfFile,
	"linux-6.12-public-mlx5/public/I4-reader-meets-close":      endOfFile,
	"linux-6.12-public-stub/public/C15-close-during-removal":   noBlocking,
	"linux-6.12-public-stub/public/C15-event-fd-outlives-file": noBlocking,
	"linux-6.12-public-stub/public/C4-descriptor-reserved":     taken,
	"linux-6.12-public-stub/public/F8-fork-after-removal":      forked,
	"linux-6.12-public-stub/public/F8-fork-during-removal":     forked,
	"linux-6.12-public-stub/public/G4-channel-closed":          endOfFile,
	"linux-6.12-public-stub/public/G4-closed-while-polling":    endOfFile,
	"linux-6.12-public-stub/public/G7-exit-frees":              forked,
	"linux-6.12-public/public/H7-number-again":                 cgroups,
	"linux-6.12-removal/rmev/blocked-async-short":              shortReads,
	"linux-6.12-removal/rmev/blocked-channel":                  endOfFile,
	"linux-6.12-removal/rmev/blocked-poll-channel":             endOfFile,
	"linux-6.12-stub-more/sev/queued-before-file-close":        endOfFile,
	"linux-6.12-removal/rmev/channel":                          endOfFile,
	"linux-6.12-removal/rmev/fatal":                            shortReads,
	"linux-6.12-removal/rmmap/split-after":                     forked,
	"linux-6.12-rules-mlx5/rule/mlx5-devx-async-backlog":       backlog,
	"linux-6.12-rules-mlx5/rule/mlx5-devx-cmd-read-fault":      shortReads,
	"linux-6.12-rules/rule/ioctl-fioqsize":                     vfsIoctls,
	"linux-6.12-rxe/cmd/fionread-not-regular":                  vfsIoctls,
	"linux-6.12-rxe/fd/comp-after-device-close":                endOfFile,
	"linux-6.12-rxe/write/count-0":                             writes,
	"linux-6.12-stub-more/sev/async-qp-16":                     shortReads,
	"linux-6.12-stub-more/sev/async-qp-2":                      shortReads,
	"linux-6.12-stub-more/sev/async-qp-3":                      shortReads,
	"linux-6.12-stub-more/sev/async-qp-5":                      shortReads,
	"linux-6.12-stub-more/sev/async-qp-6":                      shortReads,
	"linux-6.12-stub-more/sev/async-srq-14":                    shortReads,
	"linux-6.12-stub/stub/fd/read-poll":                        noRead,
}

// TestDiffersAreCases: each case that is excused is one.
func TestDiffersAreCases(t *testing.T) {
	recorded := map[string]map[string]bool{}
	for key := range differs {
		file, name, _ := strings.Cut(key, "/")
		if recorded[file] == nil {
			recorded[file] = map[string]bool{}
			cases, err := casefile.ReadFile("../corpus/" + file + ".jsonl")
			require.NoError(t, err)
			for _, c := range cases {
				recorded[file][c.Name] = true
			}
		}
		require.True(t, recorded[file][name], "there is no case %s", key)
	}
}
