package rule

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	idForm   = regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+$`)
	sentence = regexp.MustCompile(`^[A-Z][^\n]+\.$`)
)

// TestCatalogue holds each rule to the form that its readers rely on.
func TestCatalogue(t *testing.T) {
	require.NotEmpty(t, All())
	require.True(t, slices.IsSortedFunc(All(), func(a, b *Rule) int { return strings.Compare(a.ID, b.ID) }))
	for _, r := range All() {
		t.Run(r.ID, func(t *testing.T) {
			require.Regexp(t, idForm, r.ID)
			require.Same(t, r, Find(r.ID))
			require.NotZero(t, r.Errno)
			require.Contains(t, errnoNames, r.Errno)
			require.Regexp(t, `^[a-zA-Z_]\w*$`, r.Func)
			require.Regexp(t, `^[a-z]+/[a-z0-9_/.-]+\.[ch]$`, r.File)
			require.Regexp(t, sentence, r.Why)
			require.Regexp(t, sentence, r.Do)
		})
	}
}

func TestRuleIsItsErrno(t *testing.T) {
	var err error = HeaderLength
	require.ErrorIs(t, err, syscall.EINVAL)
	require.NotErrorIs(t, err, syscall.EFAULT)
	require.NotErrorIs(t, err, HeaderFault)
	require.Equal(t, syscall.EINVAL, Errno(err))
	require.Equal(t, syscall.EINVAL, Errno(fmt.Errorf("device: %w", err)))
	require.Equal(t, syscall.EINTR, Errno(syscall.EINTR))
	require.Zero(t, Errno(nil))
	require.Panics(t, func() { Errno(errors.New("of no rule")) })
}

func TestErrnoName(t *testing.T) {
	require.Equal(t, "", ErrnoName(0))
	require.Equal(t, "EPROTONOSUPPORT", ErrnoName(syscall.EPROTONOSUPPORT))
	require.Equal(t, "EOPNOTSUPP", ErrnoName(syscall.ENOTSUP))
}

func TestRefusingAllocatesNothing(t *testing.T) {
	var err error
	require.Zero(t, testing.AllocsPerRun(100, func() {
		err = HeaderLength
		if !errors.Is(err, syscall.EINVAL) {
			t.Error("not EINVAL")
		}
	}))
}

func ExampleRule() {
	err := error(AttrDuplicate)
	fmt.Println(err)
	var r *Rule
	if errors.As(err, &r) {
		fmt.Printf("%s in %s\n%s\n", r.Func, r.File, r.Do)
	}
	// Output:
	// EINVAL (attr/duplicate): An attribute that the method knows was sent twice.
	// uverbs_set_attr in drivers/infiniband/core/uverbs_ioctl.c
	// Send each attribute once.
}
