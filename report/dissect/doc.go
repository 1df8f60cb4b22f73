// Package dissect takes the bytes of a request to a uverbs device to pieces: each
// field with its offset, its bytes, what they mean, and what the kernel will not
// like about them, and each buffer that the request points to and the text shows.
//
// What is wrong at sight is told by the rules of package rule, by the order and
// the conditions of ib_uverbs_ioctl and uverbs_process_attr
// (drivers/infiniband/core/uverbs_ioctl.c) and of verify_hdr
// (drivers/infiniband/core/uverbs_main.c). Nothing is called and nothing is looked
// up on a device: the answer to expect, whoever plays the request fills in.
package dissect
