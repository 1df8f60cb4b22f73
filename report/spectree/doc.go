// Package spectree shows the radix tree that the kernel makes of what a device
// takes, node by node: as text, in the language of Graphviz, and as a drawing.
//
// The tree is the one of package kernel: Of walks it and keeps what it saw, so
// that a node's shift, its place in the node above, and the slots that are used
// are those of the model. What the kernel's struct radix_tree_node has besides,
// tags and pointers, is left out.
package spectree
