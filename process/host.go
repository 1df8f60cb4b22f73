package process

// Host is the kernel that a live process really runs on: its descriptors,
// credentials and limits are there, and only the files of this model are here. A
// simulated process has none. The methods are called by the task that makes the
// system call, and by several at once.
type Host interface {
	// Fget returns the file of a descriptor with one more reference; nil is none.
	Fget(t *Task, fd int) *File
	// GetUnusedFD, PutUnusedFD and FDInstall are those of a Task.
	GetUnusedFD(t *Task, cloexec bool) (int, error)
	PutUnusedFD(t *Task, fd int)
	FDInstall(t *Task, fd int, f *File)

	// Cred returns the credentials as they are now, and the same pointer as long
	// as they stay the same.
	Cred() *Cred
	// Rlimit returns a limit as it is now.
	Rlimit(r Resource) Rlimit
}
