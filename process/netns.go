package process

// NetNS is a network namespace: a struct net of include/net/net_namespace.h, of
// which uverbs only compares the address.
type NetNS struct {
	Name string // for people
}

// InitNet is the namespace that the machine starts with: init_net.
var InitNet = &NetNS{Name: "init_net"}

// NetNS returns the network namespace that the process is in:
// current->nsproxy->net_ns.
func (p *Process) NetNS() *NetNS { return p.netNS.Load() }

// SetNetNS moves the process to a namespace, as unshare(2) and setns(2) do.
// What it has open stays open.
func (p *Process) SetNetNS(ns *NetNS) { p.netNS.Store(ns) }
