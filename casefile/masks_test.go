package casefile_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// memory is the buffers of a case that is played.
type memory map[string][]byte

func (m memory) now(name string) ([]byte, bool) {
	b, ok := m[name]
	return b, ok
}

func mask(name string, r ...casefile.Range) *casefile.Step {
	return &casefile.Step{Do: &casefile.Bufs{}, Mask: map[string][]casefile.Range{name: r, "hex": {{Off: 0, Len: 1}}}}
}

func TestMasksShowWhatNoStepChanged(t *testing.T) {
	mem := memory{"b": make([]byte, 8)}
	var m casefile.Masks
	report := func(s *casefile.Step, change func()) string {
		look := m.Before(s, mem.now)
		change()
		return look.Report([]string{"b"}, mem.now)["b"]
	}
	masked := mask("b", casefile.Range{Off: 0, Len: 2}, casefile.Range{Off: 4, Len: 100})
	plain := &casefile.Step{Do: &casefile.Bufs{}}

	require.Equal(t, "0000000000000000", report(masked, func() {}), "untouched")
	require.Equal(t, "0000010000000000", report(masked, func() { mem["b"][2] = 1 }), "beside the mask")
	require.Equal(t, "****010000000000", report(masked, func() { mem["b"][1] = 9 }), "the whole range, and not the other")
	require.Equal(t, "****010000000000", report(plain, func() { mem["b"][0] = 3 }), "for the rest of the case")
	require.Equal(t, "****010007000000", report(plain, func() { mem["b"][4] = 7 }), "a step without the mask")
	require.Equal(t, "****0100********", report(masked, func() { mem["b"][7] = 7 }), "as far as the buffer goes")
}

func TestMasksOfSavedDescriptors(t *testing.T) {
	mem := memory{"b": make([]byte, 8)}
	ref := map[string]casefile.Ref{"ch": {Buf: "b", Off: 4, Size: 4}, "f": {Attr: 1}}
	for _, do := range []casefile.Action{&casefile.Ioctl{SaveFD: ref}, &casefile.Write{SaveFD: ref}} {
		var m casefile.Masks
		mem["b"] = make([]byte, 8)
		look := m.Before(&casefile.Step{Do: do}, mem.now)
		mem["b"][0], mem["b"][4] = 1, 5
		require.Equal(t, map[string]string{"b": "01000000********"}, look.Report([]string{"b"}, mem.now))
	}
}

func TestMasksOfUnmappedBuffers(t *testing.T) {
	mem := memory{"b": make([]byte, 2)}
	var m casefile.Masks
	look := m.Before(mask("b", casefile.Range{Off: 0, Len: 1}), mem.now)
	delete(mem, "b")
	require.Equal(t, map[string]string{"b": "unmapped"}, look.Report([]string{"b"}, mem.now))
	look = m.Before(mask("b", casefile.Range{Off: 0, Len: 1}), mem.now)
	require.Nil(t, look.Report(nil, mem.now))
}

func TestMasksOfRelocatedAddresses(t *testing.T) {
	c, err := casefile.Unmarshal([]byte(with(`"b":{"fill":"a5","len":24,"reloc":[{"at":0,"size":8,"value":{"ptr":"c"}},{"at":8,"size":8,"value":5}]},"c":{"zero":8}`)))
	require.NoError(t, err)
	mem := memory{"b": c.Bufs["b"].Bytes()}
	var m casefile.Masks
	require.NoError(t, m.Relocate("b", c.Bufs["b"], mem["b"], world{}))
	require.Equal(t, "0090000000000000"+"0500000000000000"+"a5a5a5a5a5a5a5a5", hex.EncodeToString(mem["b"]))
	report := func() string {
		return m.Before(&c.Steps[0], mem.now).Report([]string{"b"}, mem.now)["b"]
	}
	require.Equal(t, "****************"+"0500000000000000"+"a5a5a5a5a5a5a5a5", report(), "the address varies, the number does not")
	mem["b"][7] = 1
	require.Equal(t, "0090000000000001"+"0500000000000000"+"a5a5a5a5a5a5a5a5", report(), "written over")
	c.Bufs["b"].Reloc[0].Value.Name = "x"
	require.EqualError(t, m.Relocate("b", c.Bufs["b"], mem["b"], world{}), `no buffer "x"`)
}

func TestMasksOfThreads(t *testing.T) {
	mem := memory{"b": make([]byte, 3)}
	change := func(m *casefile.Masks, at int) {
		look := m.Before(mask("b", casefile.Range{Off: at, Len: 1}), mem.now)
		mem["b"][at]++
		look.Report(nil, mem.now)
	}
	report := func(m *casefile.Masks) string {
		return m.Before(&casefile.Step{}, mem.now).Report([]string{"b"}, mem.now)["b"]
	}
	var m casefile.Masks
	change(&m, 0)
	one, other := m.Twin(), m.Twin()
	change(one, 1)
	require.Equal(t, "****00", report(one))
	require.Equal(t, "**0100", report(other))
	require.Equal(t, "**0100", report(&m))
	m.Absorb(one)
	m.Absorb(other)
	require.Equal(t, "****00", report(&m))

	var empty casefile.Masks
	empty.Absorb(one)
	require.Equal(t, "****00", report(&empty))
}
