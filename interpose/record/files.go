package record

import (
	"encoding/binary"

	"uverbsim/spec"
)

// standardFiles is how many descriptors a player has at the start, each of a file
// of its own.
const standardFiles = 3

// otherFiles are the descriptors in structs that only say which file is meant,
// whatever it is.
var otherFiles = map[method]field{
	command(spec.IB_USER_VERBS_CMD_OPEN_XRCD): of[spec.OpenXRCD]("FD"),
}

// openFile names an open file of a program that is no device's.
type openFile struct{ pid, fd int }

// standIn has one of the player's standard files stand in for a file that a call
// names in its request, which is in memory at each of the places. A file that
// only failed calls have named, and those beyond the standard ones, keep the
// program's number.
func (e *exchange) standIn(places ...[]byte) {
	f, ok := otherFiles[e.method]
	fd := int(int32(e.in.number(coreIn, f)))
	file := openFile{e.c.PID, fd}
	n, known := e.s.others[file]
	if !ok || fd < 0 || !known && e.c.Err != nil {
		return
	}
	if !known {
		if n = len(e.s.others); n == standardFiles {
			return
		}
		e.s.others[file] = n
	}
	for _, b := range places {
		if f.at+f.n <= len(b) {
			binary.LittleEndian.PutUint32(b[f.at:], uint32(n))
		}
	}
}
