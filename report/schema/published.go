package schema

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"uverbsim/spec"
)

// Published returns the JSON schema (draft 2020-12) of a Document. It is made
// from the types, with the words of descriptions.go. It takes documents with more
// fields than it knows.
func Published() ([]byte, error) {
	g := &generator{defs: map[string]any{}}
	root := g.object(reflect.TypeFor[Document]())
	root["properties"].(schemaObject)["version"].(schemaObject)["const"] = Version
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "urn:uverbsim:uverbs:" + strconv.Itoa(Version)
	root["title"] = "What an RDMA device's uverbs interface takes"
	root["$defs"] = g.defs
	b, err := json.MarshalIndent(root, "", "  ")
	return append(b, '\n'), err
}

type generator struct{ defs map[string]any }

type schemaObject = map[string]any

// object is the schema of a struct.
func (g *generator) object(t reflect.Type) schemaObject {
	properties := schemaObject{}
	required := []string{}
	g.fields(t, t, properties, &required)
	return schemaObject{
		"type": "object", "description": descriptions[t.Name()],
		"properties": properties, "required": required,
	}
}

// fields adds the fields of t, which is embedded in owner or owner itself.
func (g *generator) fields(owner, t reflect.Type, properties schemaObject, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			g.fields(owner, f.Type, properties, required)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := g.value(f.Type)
		p["description"] = descriptions[t.Name()+"."+name]
		if list := enums[t.Name()+"."+name]; list != nil {
			values := list()
			if p["type"] == "array" {
				p["items"].(schemaObject)["enum"] = values
			} else {
				p["enum"] = values
			}
		}
		properties[name] = p
		if options != "omitempty" {
			*required = append(*required, name)
		}
	}
}

// value is the schema of a value.
func (g *generator) value(t reflect.Type) schemaObject {
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem())
	case reflect.Struct:
		if g.defs[t.Name()] == nil {
			g.defs[t.Name()] = true // against recursion
			g.defs[t.Name()] = g.object(t)
		}
		return schemaObject{"$ref": "#/$defs/" + t.Name()}
	case reflect.Slice:
		return schemaObject{"type": "array", "items": g.value(t.Elem())}
	case reflect.Map:
		return schemaObject{"type": "object", "additionalProperties": g.value(t.Elem())}
	case reflect.Bool:
		return schemaObject{"type": "boolean"}
	case reflect.String:
		return schemaObject{"type": "string"}
	case reflect.Int:
		return schemaObject{"type": "integer"}
	}
	// An unsigned number, of which JSON readers may want to know how wide it is.
	s := schemaObject{"type": "integer", "minimum": 0}
	if t.Bits() < 64 {
		s["maximum"] = uint64(1)<<t.Bits() - 1
	}
	return s
}

// enums has the values of the fields that have few.
var enums = map[string]func() []string{
	"Object.class": func() []string { return names(spec.ClassNone, spec.ClassIDR, spec.ClassFD) },
	"Attribute.type": func() []string {
		return names(spec.TypePtrIn, spec.TypePtrOut, spec.TypeIDR, spec.TypeFD, spec.TypeRawFD, spec.TypeEnumIn, spec.TypeIDRsArray)
	},
	"Attribute.direction": func() []string { return []string{in, out} },
	"Attribute.data":      func() []string { return []string{dataValue, dataAddress, dataEither, dataHandle, dataFD} },
	"Attribute.access": func() []string {
		return names(spec.AccessRead, spec.AccessWrite, spec.AccessNew, spec.AccessDestroy)
	},
	"Ref.part": func() []string {
		return []string{partDataIn, partDataOut, partRequest, partResponse, partUdataIn, partUdataOut}
	},
	"Meaning.role": func() []string {
		return names(spec.RoleUserAddr, spec.RoleResponse, spec.RoleDeviceAddr, spec.RoleMmapOffset, spec.RoleFD, spec.RoleHandle, spec.RoleCookie)
	},
}

func names[T interface{ String() string }](values ...T) []string {
	var list []string
	for _, v := range values {
		list = append(list, v.String())
	}
	return list
}
