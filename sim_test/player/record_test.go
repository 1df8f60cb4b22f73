package player_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/sim_test/player"
)

const ioctlStep = `{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0},"got":{"ret":99,"errno":""}}`

// TestRecord: the answers are the target's, whatever the case had, and the case
// itself is left as it was.
func TestRecord(t *testing.T) {
	f := &fake{ioctl: func(*process.Task, uint32, copyuser.Addr) (int64, error) { return -1, syscall.EINVAL }}
	c := parse(t, head+`"steps":[{"op":"open","fd":"f"},`+ioctlStep+`]}`)
	got, err := player.Record(f, c, player.Options{})
	require.NoError(t, err)
	require.Equal(t, casefile.Num("*"), got.Steps[0].Got.Ret)
	require.Equal(t, "EINVAL", *got.Steps[1].Got.Errno)
	require.Nil(t, c.Steps[0].Got)
	require.Equal(t, casefile.Num("99"), c.Steps[1].Got.Ret)
}

// TestRecordSets: a step that is not always answered alike has a set of
// outcomes with their counts; one that is has a single answer.
func TestRecordSets(t *testing.T) {
	n := 0
	f := &fake{ioctl: func(*process.Task, uint32, copyuser.Addr) (int64, error) { n++; return int64(n % 3), nil }}
	c := parse(t, head+`"repeat":6,"steps":[{"op":"open","fd":"f"},`+ioctlStep+`]}`)
	got, err := player.Record(f, c, player.Options{})
	require.NoError(t, err)
	require.NotNil(t, got.Steps[0].Got)
	require.Nil(t, got.Steps[1].Got)
	require.Len(t, got.Steps[1].GotAny, 3)
	for _, o := range got.Steps[1].GotAny {
		require.Equal(t, 2, o.N)
	}
	require.Equal(t, 6, f.boots)
	_, err = got.Marshal()
	require.NoError(t, err)

	f.boots = 0
	_, err = player.Record(f, c, player.Options{Repeat: 2})
	require.NoError(t, err)
	require.Equal(t, 2, f.boots)
}

// TestRecordPar: threads have a set even when it holds a single outcome.
func TestRecordPar(t *testing.T) {
	c := parse(t, head+`"steps":[{"op":"open","fd":"f"},{"op":"par","threads":[[{"op":"poll","fd":"f"}],[{"op":"poll","fd":"f"}]]}]}`)
	got, err := player.Record(new(fake), c, player.Options{})
	require.NoError(t, err)
	require.Len(t, got.Steps[1].GotAny, 1)
	require.Len(t, got.Steps[1].GotAny[0].Got.Par, 2)
}

// TestRecordUnplayable: a case that cannot be played to its end has no answers.
func TestRecordUnplayable(t *testing.T) {
	_, err := player.Record(new(fake), parse(t, head+`"steps":[{"op":"netdev","type":"up"}]}`), player.Options{})
	var not *player.Unplayable
	require.ErrorAs(t, err, &not)
}
