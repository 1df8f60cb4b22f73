package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"uverbsim/spec"
)

var update = flag.Bool("update", false, "write docs/uverbs.schema.json")

const published = "../../docs/uverbs.schema.json"

// TestPublished holds the published file to the types.
func TestPublished(t *testing.T) {
	got, err := Published()
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(published, got, 0o644))
	}
	want, err := os.ReadFile(published)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "the format has changed: if a reader of the old one would be misled, Version grows; "+
		"go test ./report/schema -update writes the file")
}

// TestDescriptions wants words for every type and field, and none for others.
func TestDescriptions(t *testing.T) {
	unused := map[string]bool{}
	for name := range descriptions {
		unused[name] = true
	}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(typ.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		require.NotEmpty(t, descriptions[typ.Name()], typ.Name())
		delete(unused, typ.Name())
		for i := range typ.NumField() {
			f := typ.Field(i)
			if !f.Anonymous {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				require.NotEmpty(t, descriptions[typ.Name()+"."+name], "%s.%s", typ.Name(), name)
				delete(unused, typ.Name()+"."+name)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[Document]())
	require.Empty(t, unused)
}

func compile(t *testing.T) *jsonschema.Schema {
	b, err := os.ReadFile(published)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("urn:uverbsim:uverbs:1", doc))
	s, err := c.Compile("urn:uverbsim:uverbs:1")
	require.NoError(t, err)
	return s
}

// asJSON is a document as a reader sees it.
func asJSON(t *testing.T, d *Document) any {
	b, err := json.Marshal(d)
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	require.NoError(t, err)
	return v
}

// TestDocumentsAreValid validates the document of each driver on each kernel,
// and each part of it that can be asked for.
func TestDocumentsAreValid(t *testing.T) {
	s := compile(t)
	for _, d := range Drivers() {
		for _, k := range spec.Kernels() {
			t.Run(d.Name+"/"+k.Name, func(t *testing.T) {
				doc := build(t, d.Name, k)
				require.NoError(t, s.Validate(asJSON(t, doc)))
				for i := range doc.Objects {
					o := &doc.Objects[i]
					require.NoError(t, s.Validate(asJSON(t, doc.Only(Selection{Object: o}))))
				}
				sel, err := doc.Find("cq.create")
				require.NoError(t, err)
				require.NoError(t, s.Validate(asJSON(t, doc.Only(sel))))
			})
		}
	}
}

// TestSchemaRefuses wants documents that are wrong to be refused.
func TestSchemaRefuses(t *testing.T) {
	s := compile(t)
	for name, breakIt := range map[string]func(map[string]any){
		"no version":      func(m map[string]any) { delete(m, "version") },
		"a new version":   func(m map[string]any) { m["version"] = json.Number("2") },
		"a wrong option":  func(m map[string]any) { m["objects"].([]any)[0].(map[string]any)["condition"] = true },
		"a wrong class":   func(m map[string]any) { m["objects"].([]any)[0].(map[string]any)["class"] = "uuid" },
		"a large id":      func(m map[string]any) { m["objects"].([]any)[0].(map[string]any)["id"] = json.Number("65536") },
		"a text as count": func(m map[string]any) { m["ioctl"].(map[string]any)["attr_size"] = "16" },
	} {
		t.Run(name, func(t *testing.T) {
			v := asJSON(t, build(t, "rxe", spec.Linux6_12))
			require.NoError(t, s.Validate(v))
			breakIt(v.(map[string]any))
			require.Error(t, s.Validate(v))
		})
	}
}

// TestComplete wants every struct and object that is named to be there.
func TestComplete(t *testing.T) {
	for _, d := range Drivers() {
		for _, k := range spec.Kernels() {
			doc := build(t, d.Name, k)
			objects := map[string]bool{"any": true}
			for _, o := range doc.Objects {
				objects[o.Name] = true
			}
			has := func(name string) {
				if strings.HasPrefix(name, "struct ") {
					require.Contains(t, doc.Structs, name)
				}
			}
			refs := func(list []Ref) {
				for _, r := range list {
					has(r.Struct)
					for _, o := range r.Objects {
						require.True(t, objects[o], o)
					}
				}
			}
			for _, o := range doc.Objects {
				require.NotEmpty(t, o.Since)
				for _, m := range o.Methods {
					require.NotEmpty(t, m.Since)
					for _, a := range m.Attrs {
						require.NotEmpty(t, a.Since)
						require.NotEmpty(t, a.Data, a.Name)
						require.True(t, a.Object == "" || objects[a.Object], a.Object)
						has(a.CType)
						refs(a.Refs)
						if strings.HasPrefix(a.CType, "enum ") {
							require.Contains(t, doc.Enums, a.CType)
						}
					}
				}
				for _, w := range o.Writes {
					require.NotEmpty(t, w.Since)
					has(w.Request)
					has(w.Response)
					refs(w.Refs)
				}
			}
			for _, s := range doc.Structs {
				for _, m := range s.Members {
					has(m.Type)
				}
			}
		}
	}
}

// TestSchemaTakesMore wants a reader with this schema to take a document of a
// later program that has more fields.
func TestSchemaTakesMore(t *testing.T) {
	v := asJSON(t, build(t, "rxe", spec.Linux6_12))
	v.(map[string]any)["later"] = true
	v.(map[string]any)["objects"].([]any)[0].(map[string]any)["later"] = "too"
	require.NoError(t, compile(t).Validate(v))
}
