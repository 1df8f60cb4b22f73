package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/casefile"
)

// someFile is for the arguments of a command that reads files of cases.
func someFile(cmd *cobra.Command, files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("%s: no FILE; - is the standard input", cmd.Name())
	}
	return nil
}

// mostCases is how many bytes of cases are read of a file.
const mostCases = 256 << 20

var errMostCases = fmt.Errorf("more than %d MiB of cases", mostCases>>20)

// bounded reads so many bytes of a file and refuses one that is longer.
type bounded struct {
	io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errMostCases
	}
	return n, err
}

// hinted says of a file whose JSON goes over several lines how to mend that.
func hinted(err error) error {
	var format *casefile.FormatError
	if errors.As(err, &format) && strings.Contains(format.Reason, "ends in the middle") {
		return fmt.Errorf("%w; one case a line, as \"jq -c .\" writes it", err)
	}
	return err
}
