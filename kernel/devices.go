package kernel

// Devices returns the registered devices, in the order of their nodes.
func (m *Machine) Devices() []*Device {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*Device
	for _, n := range m.nodes {
		if n != nil {
			all = append(all, n.dev)
		}
	}
	return all
}
