package spec

// FindMethod returns the object's name, and the method with all attributes
// that the definitions give it: those of the definition that has its handler,
// then those that others add. It returns nil if no definition has the handler.
func FindMethod(defs []Definition, object, method uint16) (objectName string, found *Method) {
	var extra []Attr
	for i := range defs {
		o := &defs[i].Object
		if o.ID != object {
			continue
		}
		if objectName == "" {
			objectName = o.Name
		}
		m := o.Method(method)
		switch {
		case m == nil:
		case m.Extends:
			extra = append(extra, m.Attrs...)
		case found == nil:
			c := *m
			found = &c
		}
	}
	if found != nil {
		found.Attrs = append(found.Attrs[:len(found.Attrs):len(found.Attrs)], extra...)
	}
	return objectName, found
}

// FindWrite returns the write() command of that number, of the extended ones
// if ex, nil if no definition has it.
func FindWrite(defs []Definition, command uint8, ex bool) *Write {
	for i := range defs {
		for j := range defs[i].Writes {
			if w := &defs[i].Writes[j]; w.Command == command && w.Ex == ex {
				return w
			}
		}
	}
	return nil
}
