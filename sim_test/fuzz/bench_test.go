package fuzz

import "testing"

// BenchmarkLife is what an execution costs without -fuzz: the recorded programs, one
// after another.
func BenchmarkLife(b *testing.B) {
	for _, driver := range []string{"rxe", "mlx5"} {
		b.Run(driver, func(b *testing.B) {
			bed := newBed(driver)
			var programs [][]byte
			for _, c := range showcase(b, driver) {
				if p, _, err := bed.programOf(c); err == nil {
					programs = append(programs, p)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				p := programs[i%len(programs)]
				if _, err := bed.used(p, func(l *life) { l.run(p) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
