package main

import (
	"errors"
	"fmt"
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

// hinted says of a file whose JSON goes over several lines how to mend that.
func hinted(err error) error {
	var format *casefile.FormatError
	if errors.As(err, &format) && strings.Contains(format.Reason, "ends in the middle") {
		return fmt.Errorf("%w; one case a line, as \"jq -c .\" writes it", err)
	}
	return err
}
