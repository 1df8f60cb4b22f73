// Package clients has the tests that drive the command as a user would, with the
// RDMA programs of a distribution: Debian 12's ibverbs-utils, perftest,
// infiniband-diags, pyverbs, and rdma-core's own tests. What they find must be what
// they find on a machine with a card, for root and for a user without any
// capability, and nothing that one of them does may concern another.
package clients
