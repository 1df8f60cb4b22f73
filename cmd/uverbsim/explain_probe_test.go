package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"sort"

	"uverbsim/casefile"
	"uverbsim/report/explain"
	"uverbsim/sim_test/player"
)

func TestProbe(t *testing.T) {
	files, _ := filepath.Glob("../../sim_test/corpus/*.jsonl")
	lost := map[string]int{}
	ex := map[string]string{}
	total, found := 0, 0
	for _, f := range files {
		if p := os.Getenv("ONLY"); p != "" {
			if ok, _ := filepath.Match(p, filepath.Base(f)); !ok { continue }
		}
		in, _ := os.Open(f)
		for c, err := range casefile.Read(in, f) {
			if err != nil {
				t.Fatal(err)
			}
			e := &explained{}
			c.Repeat = 1
			player.Play(e, c, player.Options{Repeat: 1})
			for _, call := range e.calls {
				total++
				r := explain.Explain(call)
				k := ""
				if r == nil {
					k = "norule "+fmt.Sprint(call.Err)
				} else {
				holds, known := r.Holds()
				if os.Getenv("SHOW") == r.Decided.Rule { fmt.Println(c.Name); explain.Debug(call) }
				switch {
				case !r.Placed(): k = "nosite "+call.Name+" "+r.Decided.Rule
				case known && !holds:
					k = "FALSE "+r.Decided.Rule+": "+r.Decided.Condition
				case len(r.Values) == 0:
					k = "novalue "+r.Decided.Rule+": "+r.Decided.Condition
				case !known: k = "unknown "
				}
				if r.Placed() { found++ }
				}
				lost[k]++
				ex[k] = filepath.Base(f)+" "+c.Name
			}
		}
	}
	fmt.Println(total, found)
	var keys []string
	for k := range lost { keys = append(keys, k) }
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	for _, k := range keys { fmt.Println(lost[k], k, "   ", ex[k]) }
}
