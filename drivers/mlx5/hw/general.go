package hw

import "uverbsim/drivers/mlx5/hw/ifc"

var (
	generalRange    = ifc.Must("general_obj_in_cmd_hdr").Field("create.log_obj_range")
	generalBody     = ifc.Must("general_obj_in_cmd_hdr").Size()
	capGeneralTypes = ifc.Must("cmd_hca_cap").Field("general_obj_types")
)

// generalSelect is what an object's body begins with: what of it a modification
// is about. It is no part of what a query answers.
const generalSelect = 8

// generalObject is an object that only its body tells what it is. Its type stands
// where other commands have the operation modifier.
type generalObject struct {
	typ  uint16
	body []byte
}

func createGeneralObject(d *Device, c *command) *refusal {
	switch {
	case c.opMod >= 64 || d.cap(capGeneralTypes)>>c.opMod&1 == 0:
		return badObjectType
	case generalRange.Get(c.in) != 0:
		return badObjectRange
	}
	return createAnyObject(d, c)
}

// createAnyObject is the same for a device that takes what it is given.
func createAnyObject(d *Device, c *command) *refusal {
	o := &generalObject{typ: c.opMod}
	o.setBody(c.in)
	n, r := d.add(kindGeneralObject, c.uid, o)
	if r != nil {
		return r
	}
	putNumber(c.out, n)
	return nil
}

// setBody takes a body from a command.
func (o *generalObject) setBody(in []byte) {
	body := append([]byte(nil), in[generalBody:]...)
	clear(body[:min(len(body), generalSelect)])
	o.body = append(body, o.body[min(len(body), len(o.body)):]...)
}

// generalObject finds the object that stands at byte 8 of a command, if it is of
// the type there.
func (c *command) generalObject(d *Device, a access) *generalObject {
	o, ok := lookup[*generalObject](d, c, kindGeneralObject, 8, a)
	if !ok || o.typ != c.opMod {
		return nil
	}
	return o
}

func queryGeneralObject(d *Device, c *command) *refusal {
	o := c.generalObject(d, toRead)
	if o == nil {
		return noSuchObject
	}
	copy(c.out[generalBody:], o.body)
	return nil
}

// modifyGeneralObject replaces the body, as far as the command has one. Which
// bits of what a body begins with select what, each type has for itself.
func modifyGeneralObject(d *Device, c *command) *refusal {
	o := c.generalObject(d, toChange)
	if o == nil {
		return noSuchObject
	}
	o.setBody(c.in)
	return nil
}

func destroyGeneralObject(d *Device, c *command) *refusal {
	if c.generalObject(d, toChange) == nil {
		return noSuchObject
	}
	return destroy(kindGeneralObject, 8)(d, c)
}
