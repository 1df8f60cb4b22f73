package seccomp

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// fileMark is the byte that goes with a file: a stream carries no file without
// one.
const fileMark = 'f'

// SendFile passes an open file over a Unix socket: a listener, to a server that
// is running already.
func SendFile(conn *net.UnixConn, f *os.File) error {
	_, _, err := conn.WriteMsgUnix([]byte{fileMark}, unix.UnixRights(int(f.Fd())), nil)
	return err
}

// RecvFile receives what SendFile passed.
func RecvFile(conn *net.UnixConn) (*os.File, error) {
	mark, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := conn.ReadMsgUnix(mark, oob)
	if err != nil {
		return nil, err
	}
	f, err := passedFile(oob[:oobn])
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return nil, errors.New("the message has no file")
	case n != 1 || mark[0] != fileMark:
		f.Close()
		return nil, errors.New("the message is not one of SendFile")
	}
	return f, nil
}

// passedFile takes the file from a message's control data; nil if there is
// none.
func passedFile(oob []byte) (*os.File, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) == 0 {
		return nil, err
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return nil, err
	}
	if len(fds) != 1 {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return nil, fmt.Errorf("%d files were passed, not one", len(fds))
	}
	return os.NewFile(uintptr(fds[0]), "passed file"), nil
}
