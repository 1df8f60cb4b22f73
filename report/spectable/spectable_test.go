package spectable

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/schema"
	"uverbsim/spec"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	for file, tt := range map[string]struct{ driver, name string }{
		"mlx5.txt":       {"mlx5", ""},
		"efa.txt":        {"efa", ""},
		"cq-create.txt":  {"mlx5", "cq.create"},
		"efa-srq.txt":    {"efa", "srq"},
		"post-send.txt":  {"rxe", "qp.post_send"},
		"matcher.txt":    {"mlx5", "flow_matcher.create"},
		"poll-cq.txt":    {"mlx5", "cq.poll_cq"},
		"create-rwq.txt": {"mlx5", "rwq_ind_tbl.ex_create_rwq_ind_tbl"},
		"mlx5-cq.txt":    {"mlx5", "cq"},
		"notify-drv.txt": {"bnxt_re", "notify_drv"},
	} {
		t.Run(file, func(t *testing.T) {
			d, err := schema.DriverByName(tt.driver)
			require.NoError(t, err)
			doc, err := schema.Build(d, spec.Linux6_12)
			require.NoError(t, err)
			var b strings.Builder
			if tt.name == "" {
				require.NoError(t, Print(&b, doc))
			} else {
				sel, err := doc.Find(tt.name)
				require.NoError(t, err)
				require.NoError(t, PrintSelection(&b, doc, sel))
			}
			if *update {
				require.NoError(t, os.WriteFile("testdata/"+file, []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile("testdata/" + file)
			require.NoError(t, err)
			require.Equal(t, string(want), b.String())
		})
	}
}

// TestEverything prints each part of each document: every attribute and every
// member of a struct is named.
func TestEverything(t *testing.T) {
	for _, d := range schema.Drivers() {
		doc, err := schema.Build(d, spec.Linux6_12)
		require.NoError(t, err)
		for i := range doc.Objects {
			o := &doc.Objects[i]
			for j := range o.Methods {
				var b strings.Builder
				require.NoError(t, PrintSelection(&b, doc, schema.Selection{Object: o, Method: &o.Methods[j]}))
				for _, a := range o.Methods[j].Attrs {
					require.Contains(t, b.String(), a.Name)
					for _, s := range a.Structs {
						for _, m := range doc.Structs[s].Members {
							require.Contains(t, b.String(), "  "+m.Name)
						}
					}
				}
				for _, line := range strings.Split(b.String(), "\n") {
					require.Equal(t, strings.TrimRight(line, " "), line)
				}
			}
			for j := range o.Writes {
				var b strings.Builder
				require.NoError(t, PrintSelection(&b, doc, schema.Selection{Object: o, Write: &o.Writes[j]}))
				require.Contains(t, b.String(), o.Writes[j].Request)
			}
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteError(t *testing.T) {
	d, err := schema.DriverByName("core")
	require.NoError(t, err)
	doc, err := schema.Build(d, spec.Linux6_12)
	require.NoError(t, err)
	require.ErrorIs(t, Print(brokenPipe{}, doc), os.ErrClosed)
}
