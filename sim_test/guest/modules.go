package guest

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
)

// moduleName is a module's name as "depends" has it, from its file's name.
func moduleName(file string) string {
	name, _, _ := strings.Cut(file, ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// depends are the modules that a module says it needs.
func depends(module []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(module))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := f.Section(".modinfo")
	if s == nil {
		return nil, fmt.Errorf("no section .modinfo")
	}
	info, err := s.Data()
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(info), "\x00") {
		if list, ok := strings.CutPrefix(entry, "depends="); ok {
			return strings.FieldsFunc(list, func(r rune) bool { return r == ',' }), nil
		}
	}
	return nil, nil
}

// loadOrder returns the names in an order in which each module comes after
// those that it depends on, with all of them. read returns a module's bytes.
func loadOrder(names []string, read func(name string) ([]byte, error)) (order []string, modules map[string][]byte, err error) {
	modules = map[string][]byte{}
	var visit func(name string) error
	visit = func(name string) error {
		if modules[name] != nil {
			return nil
		}
		b, err := read(name)
		if err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
		modules[name] = b
		needs, err := depends(b)
		if err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
		for _, n := range needs {
			if err := visit(moduleName(n)); err != nil {
				return err
			}
		}
		order = append(order, name)
		return nil
	}
	for _, name := range names {
		if err := visit(name); err != nil {
			return nil, nil, err
		}
	}
	return order, modules, nil
}
