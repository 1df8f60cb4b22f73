package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"uverbsim/casefile"
	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/interpose"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
)

// machineOptions are the flags that say what machine a program finds.
type machineOptions struct {
	devices []string
	kernel  string
	memlock string
}

func (o *machineOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.devices, "device", nil, "mlx5[,ports=N][,profile=NAME]: an adapter that the machine has (default mlx5; may be repeated)")
	f.StringVar(&o.kernel, "kernel", "", "be this kernel: "+kernelNames()+" (default 6.12)")
	f.StringVar(&o.memlock, "memlock", "", "how many bytes a program may lock, or unlimited (default: its own limit, ulimit -l)")
}

// given returns the first of the flags that was given.
func (o *machineOptions) given() string {
	switch {
	case len(o.devices) > 0:
		return "--device"
	case o.kernel != "":
		return "--kernel"
	case o.memlock != "":
		return "--memlock"
	}
	return ""
}

// asked returns what a case has to ask of its device to get the machine's first.
func (o *machineOptions) asked() *casefile.Device {
	d, err := parseDevice(append(o.devices, "mlx5")[0])
	if err != nil || d.profile == hw.Recorded {
		return nil
	}
	return &casefile.Device{Profile: d.profile.Name()}
}

// machine is a kernel with adapters on one network.
type machine struct {
	*kernel.Machine
	adapters []*mlx5.Device
	sink     trace.Sink
	memlock  *uint64 // nil: the programs' own
}

// make makes the machine. What its adapters do by themselves is reported to the sink,
// if there is one.
func (o *machineOptions) make(sink trace.Sink) (*machine, error) {
	var version *spec.Kernel
	if o.kernel != "" {
		var err error
		if version, err = kernelByName("--kernel", o.kernel); err != nil {
			return nil, err
		}
	}
	memlock, err := parseMemlock(o.memlock)
	if err != nil {
		return nil, err
	}
	m := &machine{memlock: memlock, sink: sink, Machine: kernel.NewMachine(methods.Core(), kernel.Version(version))}
	fabric := hw.NewFabric(hw.Link{})
	devices := o.devices
	if len(devices) == 0 {
		devices = []string{"mlx5"}
	}
	for _, text := range devices {
		d, err := parseDevice(text)
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", text, err)
		}
		for range d.ports {
			if err := m.add(d, fabric); err != nil {
				return nil, fmt.Errorf("--device %s: %w", text, err)
			}
		}
	}
	return m, nil
}

// add adds a function of an adapter, with one port.
func (m *machine) add(d deviceOption, fabric *hw.Fabric) error {
	n := len(m.adapters)
	profile := d.profile
	if n > 0 {
		profile = profile.WithMAC([6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, byte(1 + n)})
	}
	begun := time.Now()
	var dma *trace.Task
	if m.sink != nil {
		dma = trace.NewTask(0, m.sink)
	}
	dev, err := mlx5.New(m.Machine, mlx5.Config{
		DMA:     dma,
		Name:    "mlx5_" + strconv.Itoa(n),
		Profile: profile,
		Addrs:   []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + n)})},
		Fabric:  fabric,
		Clock:   func() uint64 { return uint64(time.Since(begun).Nanoseconds() * clockMHz / 1000) },
	})
	if err == nil {
		m.adapters = append(m.adapters, dev)
	}
	return err
}

// parseMemlock returns a limit in bytes, nil for none of the machine's own.
func parseMemlock(text string) (*uint64, error) {
	var unlimited uint64 = process.RLIM_INFINITY
	switch text {
	case "":
		return nil, nil
	case "unlimited":
		return &unlimited, nil
	}
	number, shift := text, 0
	if i := strings.IndexByte("KMG", text[len(text)-1]); i >= 0 {
		number, shift = text[:len(text)-1], 10*(i+1)
	}
	n, err := strconv.ParseUint(number, 10, 64-shift)
	if err != nil {
		return nil, fmt.Errorf("--memlock %s: a number of bytes, as 65536 or 64K, or unlimited", text)
	}
	n <<= shift
	return &n, nil
}

// clockMHz is how fast an adapter's free-running counter counts.
const clockMHz = 156

func (m *machine) config(w *watchers, report func(string)) interpose.Config {
	c := interpose.Config{Machine: m.Machine, Memlock: m.memlock, Report: report, Trace: m.sink}
	if len(w.Watchers) > 0 {
		c.Watch = w.Watchers
	}
	for _, a := range m.adapters {
		c.Adapters = append(c.Adapters, a)
	}
	return c
}

// deviceOption is what --device says.
type deviceOption struct {
	profile *hw.Profile
	ports   int
}

// maxPorts is how many functions an adapter has at most.
const maxPorts = 16

func parseDevice(text string) (deviceOption, error) {
	d := deviceOption{profile: hw.ConnectX6Dx, ports: 1}
	fields := strings.Split(text, ",")
	if fields[0] != "mlx5" {
		return d, fmt.Errorf("the devices are: mlx5")
	}
	for _, f := range fields[1:] {
		key, val, _ := strings.Cut(f, "=")
		switch key {
		case "ports":
			n, err := strconv.Atoi(val)
			if err != nil || n < 1 || n > maxPorts {
				return d, fmt.Errorf("ports=%s: 1 to %d", val, maxPorts)
			}
			d.ports = n
		case "profile":
			if d.profile = hw.ProfileByName(val); d.profile == nil {
				return d, fmt.Errorf("profile=%s: one of %s", val, profileNames())
			}
		default:
			return d, fmt.Errorf("%q: ports=N or profile=NAME", f)
		}
	}
	return d, nil
}

func profileNames() string {
	var names []string
	for _, p := range hw.Profiles() {
		names = append(names, p.Name())
	}
	return strings.Join(names, ", ")
}
