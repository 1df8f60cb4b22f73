package dissect

import (
	"errors"
	"sync"

	"uverbsim/kernel"
	"uverbsim/report/schema"
	"uverbsim/rule"
	"uverbsim/spec"
)

// found is what the kernel finds by a command word.
type found struct {
	// method is what the word leads to, nil if it is refused before anything else
	// is looked at. Where the device lacks a command it is a hole of the kernel's
	// table: not extended, and with no sizes.
	method *kernel.WriteMethod
	// declared is the command as the core declares it, nil if it does not.
	declared *spec.Write
}

// hole says whether the device has no such command, although the kernel checks
// the header.
func (c *found) hole() bool { return c.method != nil && c.method.Name == "" }

// meantExtended says whether who made the request must have meant an extended
// command, as which its fields are read even where the kernel has a hole.
func (c *found) meantExtended() bool { return c.declared != nil && c.declared.Ex }

// tables has the tables of commands by device.
var tables sync.Map

type tableOf struct {
	driver string
	kernel *spec.Kernel
}

// table returns the tables of commands that the kernel makes for a device. One of
// a driver of which nothing is known has all operations, and the commands that
// devices have whose drivers add none.
func table(dev Device) (*kernel.API, error) {
	key := tableOf{dev.Name, dev.Kernel}
	if api, ok := tables.Load(key); ok {
		return api.(*kernel.API), nil
	}
	driver, err := schema.DriverByName(dev.Name)
	if err != nil {
		driver = schema.Driver{Name: dev.Name, ID: dev.Driver}
	}
	api, err := driver.API(dev.Kernel)
	if err == nil {
		tables.Store(key, api)
	}
	return api, err
}

// find finds the command of a word, and says at its field f what the kernel says
// to it: uapi_get_method, drivers/infiniband/core/rdma_core.h.
func (d *Dump) find(f *Field, word uint32) found {
	var c found
	if rest := word &^ (0xff | spec.IB_USER_VERBS_CMD_FLAG_EXTENDED); rest != 0 {
		f.flaw(rule.WriteCommandFlags, "%#x", rest)
		return c
	}
	c.declared = spec.FindWrite(d.defs, uint8(word), word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0)
	api, err := table(d.Device)
	if err != nil {
		return c // no definition of a driver's is that bad
	}
	m, err := api.Write(word)
	var refused *rule.Rule
	if !errors.As(err, &refused) {
		c.method = m
	}
	if c.hole() {
		refused = rule.WriteNotSupported
	}
	if refused != nil {
		who := "Linux " + d.Device.Kernel.Name
		if c.declared != nil {
			who = d.Device.Name + " on " + who
		}
		f.flaw(refused, "%s has no such command", who)
	}
	return c
}
