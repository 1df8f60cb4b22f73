package verbs

// addElement returns a handle by which the kernel is to name an object to the
// program in events. In the C library it is the address of the object's struct.
func (c *Context) addElement(object any) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastHandle++
	c.elements[c.lastHandle] = object
	return c.lastHandle
}

func (c *Context) delElement(handle uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.elements, handle)
}

// element is the object of a handle, nil if there is none.
func (c *Context) element(handle uint64) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elements[handle]
}
