package casefile_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

func BenchmarkRead(b *testing.B) {
	in := bytes.Join(lines(b, "../sim_test/corpus/linux-6.12-rxe.jsonl"), []byte("\n"))
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range casefile.Read(bytes.NewReader(in), "bench") {
			require.NoError(b, err)
		}
	}
}
