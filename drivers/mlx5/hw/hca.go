package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// The fields of the commands that bring the function up and down.
var (
	supportedISSI    = ifc.Must("query_issi_out").Field("supported_issi_dw0")
	currentISSI      = ifc.Must("query_issi_out").Field("current_issi")
	wantedISSI       = ifc.Must("set_issi_in").Field("current_issi")
	numPages         = ifc.Must("query_pages_out").Field("num_pages")
	inputNumEntries  = ifc.Must("manage_pages_in").Field("input_num_entries")
	outputNumEntries = ifc.Must("manage_pages_out").Field("output_num_entries")
	atomicEndianness = ifc.Must("atomic_caps").Field("atomic_req_8B_endianness_mode")
)

// pageList is where a list of page addresses begins in MANAGE_PAGES.
const pageList = 16

// capPage is where a capability page begins in QUERY_HCA_CAP and SET_HCA_CAP.
const capPage = 16

func enableHCA(d *Device, c *command) *refusal {
	d.state = max(d.state, enabled)
	return nil
}

// disableHCA undoes ENABLE_HCA and INIT_HCA alike; only the pages stay until
// the driver takes them back.
func disableHCA(d *Device, c *command) *refusal {
	d.reset()
	return nil
}

func queryISSI(d *Device, c *command) *refusal {
	copy(c.out, d.cfg.Profile.image("query_issi_out"))
	currentISSI.Set(c.out, uint64(d.issi))
	return nil
}

func setISSI(d *Device, c *command) *refusal {
	want := wantedISSI.Get(c.in)
	if supportedISSI.Get(d.cfg.Profile.image("query_issi_out"))>>want&1 == 0 {
		return badISSI
	}
	d.issi = uint16(want)
	return nil
}

// queryPages says how many pages the device wants for booting (operation
// modifier 1), for INIT_HCA (2), and while it runs.
func queryPages(d *Device, c *command) *refusal {
	numPages.Set(c.out, uint64(uint32(d.cfg.Profile.pages[c.opMod])))
	return nil
}

// The operation modifiers of MANAGE_PAGES.
const (
	pagesCantGive = iota
	pagesGive
	pagesTake
)

func managePages(d *Device, c *command) *refusal {
	n := int(inputNumEntries.Get(c.in))
	switch c.opMod {
	case pagesCantGive:
		return nil
	case pagesGive:
		list := c.in[pageList:]
		if n > len(list)/8 {
			return shortPageList
		}
		for i := range n {
			d.pages = append(d.pages, binary.BigEndian.Uint64(list[8*i:]))
		}
		return nil
	case pagesTake:
		list := c.out[pageList:]
		n = min(n, len(d.pages), len(list)/8)
		outputNumEntries.Set(c.out, uint64(n))
		for i := range n {
			last := len(d.pages) - 1
			binary.BigEndian.PutUint64(list[8*i:], d.pages[last])
			d.pages = d.pages[:last]
		}
		return nil
	}
	return badPagesMode
}

// queryHCACap answers with a capability page: as the driver has set it, or at
// its largest.
func queryHCACap(d *Device, c *command) *refusal {
	typ := ifc.CapType(c.opMod >> 1)
	page, ok := d.caps[typ]
	if !ok {
		return badCapType
	}
	if c.opMod&1 == ifc.HCA_CAP_OPMOD_GET_MAX {
		page = d.cfg.Profile.capPage(typ)
	}
	copy(c.out[capPage:], page)
	return nil
}

// setHCACap makes the page the current one. The atomic page is sent with
// nothing but the endianness mode in it, so that only this field counts.
func setHCACap(d *Device, c *command) *refusal {
	typ := ifc.CapType(c.opMod >> 1)
	page, ok := d.caps[typ]
	if !ok {
		return badSetCapType
	}
	if typ == ifc.MLX5_CAP_ATOMIC {
		atomicEndianness.Set(page, atomicEndianness.Get(c.in[capPage:]))
		return nil
	}
	copy(page, c.in[capPage:])
	return nil
}

func initHCA(d *Device, c *command) *refusal {
	if d.state == initialized {
		return alreadyInit
	}
	d.state = initialized
	return nil
}

// teardownHCA ends every object at once.
func teardownHCA(d *Device, c *command) *refusal {
	d.release()
	d.state = enabled
	return nil
}
