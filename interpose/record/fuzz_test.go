package record_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5"
	"uverbsim/interpose/record"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/sim_test/clients/onlooker"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

// FuzzRecord has a program make calls of whatever bytes, on memory of whatever
// bytes. The recorder writes a case of it, which can be read.
func FuzzRecord(f *testing.F) {
	query := portQuery(0x1000)
	call := func(b []byte) []byte { return append(binary.LittleEndian.AppendUint16(nil, uint16(len(b))), b...) }
	f.Add(call(query))
	f.Add(bytes.Repeat(call(query), 3))
	f.Add(append(call(query[:40]), call(nil)...))
	f.Add([]byte{0, 0x80, 1, 2, 3})
	f.Fuzz(func(t *testing.T, input []byte) {
		watchdog.On(t)
		k := kernel.NewMachine(methods.Core())
		dev, err := mlx5.New(k, mlx5.Config{})
		require.NoError(t, err)
		m := &machine{T: t, kernel: k, dev: dev}
		out := &disk{room: math.MaxInt}
		m.recorder, err = record.New(out, record.Options{Process: func(int) record.Process {
			return record.Process{Args: []string{"program"}, Caps: 1<<41 - 1, Memlock: 8 << 20}
		}})
		require.NoError(t, err)
		m.look = &onlooker.Machine{Watcher: m.recorder, Kernel: spec.Linux6_12, Device: dev.Uverbs, Settle: m.settle}
		p := m.start()
		const pages = 8
		at, err := p.sys.Mmap(-1, pages*copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
		require.NoError(t, err)
		fd, err := p.sys.Open(node, syscall.O_RDWR)
		require.NoError(t, err)
		for n := 0; len(input) > 1 && n < 16; n++ {
			size := int(binary.LittleEndian.Uint16(input))
			write := size&0x8000 != 0
			b := input[2:min(len(input), 2+size&0xfff)]
			input = input[2+len(b):]
			p.sys.Store(at, b) // it fits
			if write {
				_, _ = p.sys.Write(fd, at, uint64(len(b))) // whatever is answered is recorded
				continue
			}
			_, _ = p.sys.Ioctl(fd, spec.RDMA_VERBS_IOCTL, at) // as above
		}
		p.sys.Exit()
		_ = m.recorder.Close() // it may say what it could not record
		n := 0
		for c, err := range casefile.Read(bytes.NewReader(out.Bytes()), "recorded") {
			require.NoError(t, err)
			require.NotEmpty(t, c.Steps)
			n++
		}
		require.Positive(t, n)
	})
}
