package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/casefile"
	"uverbsim/report/dissect"
	"uverbsim/report/request"
	"uverbsim/sim_test/model"
	"uverbsim/spec"
)

func newDecodeCmd() *cobra.Command {
	var d decoder
	cmd := &cobra.Command{
		Use:   "decode [flags] [HEX...|FILE|-]",
		Short: "Say what the bytes of a request mean, and what the kernel answers",
		Long: `Decode reads the bytes of one request to a uverbs device, an RDMA_VERBS_IOCTL or
a command of write(), and prints each field with its offset, its bytes, its name
and what it means, what is wrong with it at sight, and the answer to expect: the
request is played on a machine of its own, with the device open and a context
got, and nothing else made.

The bytes may be given as they are found:

  digits   28 00 00 00, 28000000, 0x28,0x00, \x28\x00, a C array; 0x before 4, 8
           or 16 digits is a little-endian word
  dumps    of hexdump, hexdump -C, xxd, od -tx1 (-tx2, -tx4, -tx8), gdb's x/40xb
           and x/5xg, print_hex_dump in dmesg
  strace   write(3, "\x03\x00...", 24), with the lines of -e write=all or without;
           ioctl(3, RDMA_VERBS_IOCTL, 0x7ffd...), followed by a dump of what lies there
  sessions of gdb, lldb and Python with their prompts; bytes as Python has them,
           b'\x28\x00'
  binary   the bytes themselves, in a file or on the standard input

A dump with addresses may show several ranges of memory. The first one has the
request, or that which a line of strace names, and the others are what it points
to; --data adds more. What the request points to and nothing shows is taken to be
readable and zero, and what the answer hangs on is printed with it.

If the answer hangs on objects that the request names, the one that it has when
they exist is printed too, where they can be made: PDs, CQs, QPs, SRQs, MRs and
event files.

The bytes of a write() do not tell for which driver they are. Without --driver
they are read for mlx5.

--json prints one object: call, driver, other_drivers, kernel, object, method;
parts, each with its fields (at, bytes, name, value, says) and what is wrong with
them (flaws: rule, errno, text); unsent attributes; memory and objects, what the
answer hangs on; answer and then, each with on, ret, errno, rule. --case prints the request as a
case, for explain, trace, replay and shrink.`,
		Example: `  uverbsim decode 28 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 \
      01 00 00 00 00 00 00 00 00 00 08 00 01 00 00 00 01 00 00 00 00 00 00 00
  gdb -batch -p 4711 -ex 'x/19xg 0x7ffd8ec7be80' | grep ^0x | uverbsim decode
  strace -e write=all ./old_program 2>&1 | grep -A4 -m1 uverbs0 | uverbsim decode --driver rxe
  uverbsim decode --case request.txt | uverbsim explain -`,
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&d.driver, "driver", "", "read and play it for this driver: "+model.DriverNames()+" (default: the one that an ioctl's header names, else mlx5)")
	f.StringVar(&d.kernel, "kernel", "", "be this kernel: "+kernelNames()+" (default: "+spec.Linux6_12.Name+")")
	f.BoolVar(&d.ioctl, "ioctl", false, "the bytes are an ioctl's, where it cannot be told")
	f.BoolVar(&d.write, "write", false, "the bytes are a write()'s, where it cannot be told")
	f.BoolVar(&d.bare, "no-context", false, "play it on a file that has no context")
	f.StringArrayVar(&d.data, "data", nil, "ADDR=HEX: what lies at an address of the program's memory")
	f.BoolVar(&d.asCase, "case", false, "print the request as a case instead")
	f.BoolVar(&d.json, "json", false, "print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("ioctl", "write")
	cmd.MarkFlagsMutuallyExclusive("json", "case")
	return cmd
}

// decoder are the flags of decode.
type decoder struct {
	modelFlags
	ioctl, write bool
	bare         bool
	data         []string
	asCase, json bool
}

func (d *decoder) run(cmd *cobra.Command, args []string) error {
	k, err := d.version()
	if err != nil {
		return err
	}
	if k == nil {
		k = spec.Linux6_12
	}
	r, err := d.read(cmd.InOrStdin(), args)
	if err != nil {
		return err
	}
	dev := d.device(r, k)
	c, err := requestCase(r, dev, d.bare)
	if err != nil {
		return err
	}
	dump := dissect.Of(r, dev)
	c = playRequest(r, dump, c, d.bare)
	out := bufio.NewWriter(cmd.OutOrStdout())
	switch {
	case d.asCase:
		_, err = c.WriteTo(out)
	case d.json:
		err = dissect.JSON(out, dump)
	default:
		err = dissect.Text(out, dump)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// read reads the request, and says by which call it is made.
func (d *decoder) read(stdin io.Reader, args []string) (*request.Request, error) {
	text, from, err := decodeInput(stdin, args)
	if err != nil {
		return nil, err
	}
	r, err := request.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	for _, s := range d.data {
		at, b, err := memoryFlag(s)
		if err == nil {
			err = r.AddMemory(at, b)
		}
		if err != nil {
			return nil, fmt.Errorf("--data %s: %w", s, err)
		}
	}
	if err := d.kind(r); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return r.Placed(), nil
}

// memoryFlag reads ADDR=HEX.
func memoryFlag(s string) (at uint64, b []byte, err error) {
	addr, digits, ok := strings.Cut(s, "=")
	if !ok {
		return 0, nil, errors.New("it is ADDR=HEX")
	}
	if at, err = strconv.ParseUint(addr, 0, 64); err != nil {
		return 0, nil, fmt.Errorf("%q is no address", addr)
	}
	r, err := request.Parse(digits)
	if err != nil {
		return 0, nil, err
	}
	return at, r.Bytes, nil
}

// kind settles by which call the request is made.
func (d *decoder) kind(r *request.Request) error {
	asked := request.Unknown
	switch {
	case d.ioctl:
		asked = request.Ioctl
	case d.write:
		asked = request.Write
	}
	switch {
	case asked != request.Unknown && r.Kind != request.Unknown && r.Kind != asked:
		return fmt.Errorf("the line of strace is a %s, and --%s says otherwise", r.Kind, asked)
	case asked != request.Unknown:
		r.Kind = asked
	case r.Kind == request.Unknown:
		r.Kind = request.Guess(r.Bytes, len(r.Bytes))
	}
	if r.Kind == request.Unknown {
		return errors.New("the bytes are neither surely an ioctl's nor surely a write()'s: say which with --ioctl or --write")
	}
	return nil
}

// device is what the request is read for.
func (d *decoder) device(r *request.Request, k *spec.Kernel) dissect.Device {
	name := d.driver
	if name == "" {
		name = "mlx5"
		if id, ok := driverOf(r); ok && id == spec.RDMA_DRIVER_RXE {
			name = "rxe"
		}
	}
	id, _ := casefile.DriverID(name)
	dev := dissect.Device{Name: name, Driver: id, Kernel: k}
	if d.driver == "" && r.Kind == request.Write {
		dev.Others = slices.DeleteFunc(strings.Split(model.DriverNames(), ", "), func(n string) bool { return n == name })
	}
	return dev
}

// driverOf is the driver that an ioctl's header names.
func driverOf(r *request.Request) (uint32, bool) {
	if r.Kind != request.Ioctl || len(r.Bytes) < spec.IoctlHdrSize {
		return 0, false
	}
	h := spec.DecodeIoctlHdr((*[spec.IoctlHdrSize]byte)(r.Bytes))
	return h.DriverID, true
}
