package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// execute runs a subcommand by itself and returns what it wrote.
func execute(cmd *cobra.Command, stdin string, args ...string) (string, error) {
	var out strings.Builder
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.Execute()
	return out.String(), err
}

func TestDemo(t *testing.T) {
	long, err := execute(newDemoCmd(), "")
	require.NoError(t, err)
	require.Contains(t, long, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE [ib_uverbs]() {")
	brief, err := execute(newDemoCmd(), "", "--brief")
	require.NoError(t, err)
	require.NotContains(t, brief, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE [ib_uverbs]")
	require.Contains(t, brief, "rule     attr/duplicate")
	json, err := execute(newDemoCmd(), "", "--json")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(json, `{"step":1,`))
	_, err = execute(newDemoCmd(), "", "--json", "--brief")
	require.Error(t, err)
}
