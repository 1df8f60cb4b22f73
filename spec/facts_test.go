package spec

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// facts is testdata/uapi-6.12.json: what the compiler made of the kernel's own
// tables.
type facts struct {
	KeyLayout map[string]any `json:"key_layout"`
	Core      struct{ Objects []factObject }
	Drivers   map[string]struct{ Objects []factObject }
	Merged    map[string][]struct {
		Name    string
		Methods []factMethod
	}
	Write             []factWrite
	WriteEx           []factWrite `json:"write_ex"`
	DefaultUverbsCmds []string    `json:"default_uverbs_cmd_mask"`
	DeviceOpsNeeded   []string    `json:"device_ops_needed"`
	Since612          factSince   `json:"since_6_12"`
	Counts            map[string]map[string]any
}

type factObject struct {
	Name   string
	ID     uint16
	ObjKey uint32 `json:"obj_key"`
	Type   struct {
		Class  string
		FDName string `json:"anon_inode_name"`
		Flags  string
	}
	Conditions []struct{ Needs, Kind string }
	Methods    []factMethod
}

type factMethod struct {
	Name      string
	ID        uint16
	MethodKey uint32 `json:"method_key"`
	Key       uint32
	Kind      string
	Attrs     []factAttr
	Finalized struct {
		NumAttrs  int    `json:"num_attrs"`
		BitmapLen uint32 `json:"key_bitmap_len"`
		Mandatory string `json:"attr_mandatory_bitmap"`
		HasUdata  bool   `json:"has_udata"`
	}
}

type factAttr struct {
	Name         string
	ID           uint16
	Type         string
	Mandatory    bool
	AttrKey      uint32 `json:"attr_key"`
	Bkey         uint32
	MinLen       uint16 `json:"min_len"`
	Len          uint16
	ZeroTrailing bool `json:"zero_trailing"`
	AllocAndCopy bool `json:"alloc_and_copy"`
	Spec         string
	CType        string `json:"c_type"`
	IsUdata      bool   `json:"is_udata"`
	ObjectID     uint16 `json:"object_id"`
	Access       string
	MinElems     uint16 `json:"min_elems"`
	MaxElems     uint16 `json:"max_elems"`
	Elems        []struct {
		ElemID       uint16 `json:"elem_id"`
		Type         string
		MinLen       uint16 `json:"min_len"`
		Len          uint16
		ZeroTrailing bool `json:"zero_trailing"`
		AllocAndCopy bool `json:"alloc_and_copy"`
	}
}

type factWrite struct {
	Cmd       string
	Num       uint8
	ObjectID  uint16   `json:"object_id"`
	IsEx      bool     `json:"is_ex"`
	ReqSize   uint8    `json:"req_size"`
	RespSize  uint8    `json:"resp_size"`
	HasUdata  bool     `json:"has_udata"`
	HasResp   bool     `json:"has_resp"`
	NeedsOps  []string `json:"needs_ops"`
	Key       uint32
	InDefault bool `json:"in_default_uverbs_cmd_mask"`
}

type factSince struct {
	ByHeader map[string]struct {
		Added map[string]map[string]int `json:"added_enumerators"`
	} `json:"by_header"`
}

func loadFacts(t testing.TB) *facts {
	var f facts
	loadJSON(t, "uapi-6.12.json", &f)
	require.NotEmpty(t, f.Core.Objects)
	return &f
}

func loadJSON(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, v))
}

// objects returns the facts of one of the lists "core", "mlx5", "efa" and
// "bnxt_re".
func (f *facts) objects(list string) []factObject {
	if list == "core" {
		return f.Core.Objects
	}
	return f.Drivers[list].Objects
}
