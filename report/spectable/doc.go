// Package spectable prints a schema.Document, or a part of it, as tables for
// people: the objects of a device, the methods of an object, the attributes of a
// method with the layouts of their structs.
package spectable
