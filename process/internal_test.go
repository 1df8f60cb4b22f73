package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFgetLastReference: a file whose last reference is gone, but which is in
// the table for a moment longer, is not found.
func TestFgetLastReference(t *testing.T) {
	p := New(nil, Options{})
	task := p.MainTask()
	f, err := NewAnonFile(task, &FileOps{}, nil, 0)
	require.NoError(t, err)
	fd, err := task.GetUnusedFD(false)
	require.NoError(t, err)
	task.FDInstall(fd, f)
	f.refs.Store(0)
	got := make(chan *File)
	go func() { got <- p.NewTask(nil).Fget(fd) }()
	time.Sleep(10 * time.Millisecond)
	p.files.take(fd)
	require.Nil(t, <-got)
	require.Zero(t, f.Refs())
}
