package live

// Why live processes are answered otherwise than recorded.
const (
	shortReads = "a read of an event descriptor is a read of a pipe: one that is too short takes the event all the same, and one that faults leaves it"
	endOfFile  = "an event descriptor whose file or device is gone is a pipe without a writer: end of file and POLLHUP, not EIO and POLLERR or POLLIN"
	cgroups    = "the RDMA controller of a program's control group is not looked at, and tests leave those of this machine alone"
	noBlocking = "close() returns before the machine hears of it, and waits for nothing"
	vfsIoctls  = "the descriptor is that of a regular file to the kernel's own ioctls"
	writable   = "the kernel does not know that the page may not become writable"
	forked     = "mappings that a child inherits are not followed"
	taken      = "the number of a descriptor that was reserved cannot be given back, and has a pipe behind it until the file is there"
	writes     = "a write() whose length no call has is not looked at"
	backlog    = "answers of commands do not wait in the machine but in the pipe"
	noRead     = "a descriptor of a kind that cannot be read is an empty pipe"
	heard      = endOfFile + ", once the machine has heard of the close; before, it is as without the close"
	raced      = endOfFile + ", if the close comes first"
	executed   = "the Go runtime of the program after exec may have a file by that number"
)

// What steps answer that are answered otherwise.
const (
	ended  = `ret=0 errno="" hex=""`          // a read that comes to the end of file
	lost   = "ret=-1 errno=EAGAIN hex=absent" // a read of an event that is gone
	again  = "errno=EAGAIN"                   // a read that fails for another reason
	quiet  = "ret=0 revents=0"                // a poll
	hungUp = "revents=16"                     // a poll: POLLHUP
)

// differs are the cases that live processes are not answered as recorded.
var differs = map[string]excuse{
	"linux-6.1-rules/rule/ioctl-fioqsize":      {why: vfsIoctls, steps: steps{2: {`ret=0 errno="" bufs.b=0000000000000000`}}},
	"linux-6.1-rxe/cmd/fionread-not-regular":   {why: vfsIoctls, steps: steps{1: {`ret=0 errno="" bufs.n=01000000`}}},
	"linux-6.1-rxe/fd/comp-after-device-close": {why: heard, steps: steps{4: {quiet, hungUp}, 5: {again, ended}}},
	"linux-6.1-rxe/write/count-0":              {why: writes, steps: steps{2: {`ret=0 errno=""`}}},
	"linux-6.12-events/ev/blocked-read-short":  {why: shortReads, steps: steps{20: {read("22110000")}, 21: {lost}}},
	"linux-6.12-events/ev/device-closed-with-event": {why: heard, steps: steps{
		25: {hungUp, "revents=1", quiet},
		26: {ended, read("2211000000000000"), again},
	}},
	"linux-6.12-events/ev/read-fault":                          {why: shortReads, steps: steps{21: {"ret=1 revents=1"}, 23: {"bufs.r_cq=0000000000000000"}}},
	"linux-6.12-events/ev/short-read":                          {why: shortReads, steps: steps{20: {read("22110000000000")}, 21: {ended}, 22: {quiet}, 23: {lost}}},
	"linux-6.12-events/ev/sqd-drained-by-work":                 {why: shortReads, steps: steps{21: {read("770000000000000005000000000000")}, 22: {lost}}},
	"linux-6.12-hold/hold/removal-close":                       {why: noBlocking, steps: steps{6: {"ret=done"}}},
	"linux-6.12-mlx5-caps/mlx5-caps/bf=0/mmap/clockinfo-write": {why: writable, steps: steps{3: {`ret=0 errno=""`}}},
	"linux-6.12-mlx5-mmap/mlx5/mmap/clock-write":               {why: writable, steps: steps{3: {`ret=0 errno=""`}}},
	"linux-6.12-mlx5-mmap/mlx5/mmap/clockinfo-write":           {why: writable, steps: steps{3: {`ret=0 errno=""`}}},
	"linux-6.12-mlx5/mlx5/devx-cmdfd/query-7":                  {why: shortReads, steps: steps{5: {read("34120000000000")}, 6: {lost}}},
	"linux-6.12-mlx5/mlx5/devx-cmdfd/query-8":                  {why: shortReads, steps: steps{5: {read("3412000000000000")}, 6: {lost}}},
	"linux-6.12-more/cred/write-order-count":                   {why: writes, steps: steps{3: {"errno=EINVAL"}}},
	"linux-6.12-more/limit/cgroup-close-uncharges":             {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-fd-objects-free":             {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-handle-1":                    {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-leave":                       {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-lower-later":                 {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-object-new-attr":             {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-order-handler":               {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-syntax":                      {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-write-path":                  {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/cgroup-zero":                        {why: cgroups, cannot: "cgroup"},
	"linux-6.12-more/limit/nofile-failed-alloc-frees":          {why: taken, steps: steps{4: {"ret=2"}, 5: {"ret=-1 errno=EMFILE"}}},
	"linux-6.12-more/proc/channel-outlives-file":               {why: heard, steps: steps{5: {again, ended}}},
	"linux-6.12-more/proc/close-during-ioctl-fd":               {why: endOfFile, steps: steps{6: {ended}}},
	"linux-6.12-more/proc/exec-cloexec":                        {why: executed, steps: steps{4: {asRecorded, "errno=ENOTTY"}}},
	"linux-6.12-more/proc/exec-event-fd-cloexec":               {why: executed, steps: steps{5: {asRecorded, "ret=*"}}},
	"linux-6.12-more/rxe-removal/channel-keeps":                {why: endOfFile, steps: steps{6: {ended}}},
	"linux-6.12-par/par/read-vs-device-close":                  {why: raced, steps: steps{3: {`par[0][0].ret=0 par[0][0].errno="" par[0][0].hex=""`, asRecorded}}},
	"linux-6.12-public-mlx5/public/I4-command-fd-closed":       {why: endOfFile, steps: steps{5: {ended}, 6: {hungUp}, 7: {ended}, 8: {ended}}},
	"linux-6.12-public-mlx5/public/I4-device-closed-data":      {why: heard, steps: steps{6: {quiet, hungUp}, 7: {ended}, 8: {ended}}},
	"linux-6.12-public-mlx5/public/I4-device-closed-omit":      {why: heard, steps: steps{6: {quiet, hungUp}, 7: {ended}, 8: {ended}}},
	"linux-6.12-public-mlx5/public/I4-reader-meets-close":      {why: endOfFile, steps: steps{7: {ended}}},
	"linux-6.12-public-stub/public/C15-close-during-removal":   {why: noBlocking, steps: steps{9: {"ret=done"}}},
	"linux-6.12-public-stub/public/C15-event-fd-outlives-file": {why: noBlocking, steps: steps{8: {"ret=done"}}},
	"linux-6.12-public-stub/public/C4-descriptor-reserved":     {why: taken, steps: steps{3: {"ret=2"}}},
	"linux-6.12-public-stub/public/F8-fork-after-removal":      {why: forked, steps: steps{6: {read("00000000")}}},
	"linux-6.12-public-stub/public/F8-fork-during-removal":     {why: forked, steps: steps{13: {"hex=00000000"}}},
	"linux-6.12-public-stub/public/G4-channel-closed":          {why: heard, steps: steps{4: {quiet, hungUp}, 5: {hungUp}, 6: {ended}}},
	"linux-6.12-public-stub/public/G4-closed-while-polling":    {why: endOfFile, steps: steps{5: {hungUp}}},
	"linux-6.12-public-stub/public/G7-exit-frees": {why: forked, steps: steps{
		7: {"text=alloc_ucontext alloc_uar mmap free_uar mmap_free"},
		9: {`text=""`},
	}},
	"linux-6.12-public/public/H7-number-again":     {why: cgroups, cannot: "cgroup"},
	"linux-6.12-removal-par/rmpar/read-channel":    {why: raced, steps: steps{3: {`par[1][0].ret=0 par[1][0].errno="" par[1][0].hex=""`, asRecorded}}},
	"linux-6.12-removal/rmev/blocked-async-short":  {why: shortReads, steps: steps{5: {read("0000000000000000")}, 6: {lost}}},
	"linux-6.12-removal/rmev/blocked-channel":      {why: endOfFile, steps: steps{5: {ended}}},
	"linux-6.12-removal/rmev/blocked-poll-channel": {why: endOfFile, steps: steps{5: {hungUp}}},
	"linux-6.12-removal/rmev/channel":              {why: endOfFile, steps: steps{7: {hungUp}, 8: {ended}}},
	"linux-6.12-removal/rmev/fatal": {why: shortReads, steps: steps{
		6:  {read("000000000000000008000000000000")},
		7:  {lost},
		11: {read("000000000000000008000000000000")},
		12: {lost},
	}},
	"linux-6.12-removal/rmmap/split-after":               {why: forked, steps: steps{5: {read("00000000")}}},
	"linux-6.12-rules-mlx5/rule/mlx5-devx-async-backlog": {why: backlog, steps: steps{36: {`ret=0 errno=""`}}},
	"linux-6.12-rules-mlx5/rule/mlx5-devx-cmd-read-fault": {why: shortReads, steps: steps{
		6: {read("341200000000000000000000000000000000000000000000")},
	}},
	"linux-6.12-rules/rule/ioctl-fioqsize":      {why: vfsIoctls, steps: steps{2: {`ret=0 errno="" bufs.b=0000000000000000`}}},
	"linux-6.12-rxe/cmd/fionread-not-regular":   {why: vfsIoctls, steps: steps{1: {`ret=0 errno="" bufs.n=01000000`}}},
	"linux-6.12-rxe/fd/comp-after-device-close": {why: heard, steps: steps{4: {quiet, hungUp}, 5: {again, ended}}},
	"linux-6.12-rxe/write/count-0":              {why: writes, steps: steps{2: {`ret=0 errno=""`}}},
	"linux-6.12-stub-more/sev/async-qp-16":      {why: shortReads, steps: steps{11: {read("770000000000000010000000000000")}, 12: {lost}}},
	"linux-6.12-stub-more/sev/async-qp-2":       {why: shortReads, steps: steps{11: {read("770000000000000002000000000000")}, 12: {lost}}},
	"linux-6.12-stub-more/sev/async-qp-3":       {why: shortReads, steps: steps{11: {read("770000000000000003000000000000")}, 12: {lost}}},
	"linux-6.12-stub-more/sev/async-qp-5":       {why: shortReads, steps: steps{11: {read("770000000000000005000000000000")}, 12: {lost}}},
	"linux-6.12-stub-more/sev/async-qp-6":       {why: shortReads, steps: steps{11: {read("770000000000000006000000000000")}, 12: {lost}}},
	"linux-6.12-stub-more/sev/async-srq-14":     {why: shortReads, steps: steps{11: {read("55000000000000000e000000000000")}, 12: {lost}}},
	"linux-6.12-stub-more/sev/queued-before-file-close": {why: heard, steps: steps{
		11: {asRecorded, "ret=-1 errno=EAGAIN*"}, // the event comes only for the next read
		12: {asRecorded, read("22110000000000000000000000000000"), read("01000000000000000a00000000000000")},
		13: {hungUp, "revents=1", quiet},
		14: {ended, read("2211000000000000"), again},
	}},
	"linux-6.12-stub/stub/fd/read-poll": {why: noRead, steps: steps{3: {quiet}, 4: {again}}},
}
