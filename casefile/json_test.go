package casefile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/watchdog"
)

var documents = []string{
	`{}`, ` { "a" : [ 1 , -2.5e+3 , 0 , "x" , true , false , null , {} , [] ] } `, `{"a":"\u00e9\ud83d\ude00\"\\\/"}`, `{"a":"\n"}`, `{"\u202e":1}`, `{"é":"\ud800"}`, "{\"a\":\"\xff\"}",
	``, `{`, `}`, `{]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{a:1}`, `{'a':1}`, `{"a":'x'}`,
	`{"a":01}`, `{"a":-}`, `{"a":+1}`, `{"a":.5}`, `{"a":1.}`, `{"a":1e}`, `{"a":1e+}`, `{"a":0x10}`, `{"a":1_000}`, `{"a":-0}`, `{"a":0.0}`, `{"a":1E9}`,
	`{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"`, `{"a":"\`, `{"a":"\"`, "{\"a\":\"\t\"}", "{\"a\":1}\x00", "\x00{}", `{"a":tru}`, `{"a":truer}`, `{"a":nul}`, `{"a":1}}`, `{"a":1},`, `[`, `1`, `"x"`, `{"a":NaN}`,
	"{\v}", "{}\u00a0", "\ufeff{}",
}

// FuzzParse holds the parser against encoding/json: what is JSON, and what
// stands in it.
func FuzzParse(f *testing.F) {
	for _, d := range documents {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, line string) {
		watchdog.On(t)
		n, err := parse([]byte(line))
		var want map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		valid := json.Valid([]byte(line)) && strings.HasPrefix(strings.TrimLeft(line, " \t\r\n"), "{")
		if !valid {
			require.Error(t, err)
			return
		}
		if err != nil { // three things that encoding/json lets pass
			require.Regexp(t, `stands there twice$|lists and objects in one another$|which is not printable$`, err.Error())
			return
		}
		require.NoError(t, d.Decode(&want))
		require.Equal(t, any(want), n.plain())
	})
}

// plain is the node as encoding/json would have it.
func (n *node) plain() any {
	switch n.kind {
	case boolNode:
		return n.text == "true"
	case numberNode:
		return json.Number(n.text)
	case textNode:
		return n.text
	case listNode:
		l := []any{}
		for _, k := range n.kids {
			l = append(l, k.plain())
		}
		return l
	case objectNode:
		m := map[string]any{}
		for _, k := range n.kids {
			m[k.key] = k.plain()
		}
		return m
	}
	return nil
}

func TestMemberTwiceAmongMany(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"a":{`)
	for i := range 40 {
		b.WriteString(`"` + strings.Repeat("m", i+1) + `":0,`)
	}
	_, err := parse([]byte(b.String() + `"mmm":1}}`))
	require.EqualError(t, err, `a: member "mmm" stands there twice`)
	_, err = parse([]byte(b.String() + `"mnm":1}}`))
	require.NoError(t, err)
}
