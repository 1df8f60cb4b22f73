package schema

import "uverbsim/spec"

// Version is the version of what a Document looks like. It grows when a reader
// of the one before would be misled; a field that is added does not change it.
const Version = 1

// Document is what the devices of one driver take on one kernel.
type Document struct {
	Version int                     `json:"version"`
	Kernel  Kernel                  `json:"kernel"`
	Driver  DriverInfo              `json:"driver"`
	Ioctl   Ioctl                   `json:"ioctl"`
	Write   WriteHeader             `json:"write"`
	Objects []Object                `json:"objects"`
	Structs map[string]Struct       `json:"structs"`
	Enums   map[string][]Enumerator `json:"enums"`
	Newer   []Newer                 `json:"newer"`
}

// Kernel is the kernel that is described.
type Kernel struct {
	Name       string   `json:"name"`
	Release    string   `json:"release"`
	ABIVersion int      `json:"abi_version"`
	Features   []string `json:"features"`
}

// DriverInfo names the driver.
type DriverInfo struct {
	Name string `json:"name"`
	ID   uint32 `json:"id"`
}

// Ioctl has the numbers that frame a call.
type Ioctl struct {
	Command    uint32 `json:"command"`
	HeaderSize int    `json:"header_size"`
	AttrSize   int    `json:"attr_size"`
	InlineSize int    `json:"inline_size"`
	DriverNS   uint16 `json:"driver_namespace_bit"`
}

// WriteHeader has those of a write() command.
type WriteHeader struct {
	HeaderSize   int    `json:"header_size"`
	ExHeaderSize int    `json:"ex_header_size"`
	ExFlag       uint32 `json:"ex_flag"`
	Word         int    `json:"word_size"`
	ExWord       int    `json:"ex_word_size"`
}

// Object is a type of objects, or of none, with its methods and write()
// commands.
type Object struct {
	ID         uint16   `json:"id"`
	Name       string   `json:"name"`
	Short      string   `json:"short"`
	Key        uint32   `json:"key"`
	DriverNS   bool     `json:"driver_namespace"`
	Class      string   `json:"class"`
	FDName     string   `json:"fd_name,omitempty"`
	DeclaredBy string   `json:"declared_by"`
	Since      string   `json:"since"`
	Needs      []string `json:"needs,omitempty"`
	Condition  string   `json:"condition,omitempty"`
	Pruned     string   `json:"pruned,omitempty"`
	Methods    []Method `json:"methods"`
	Writes     []Write  `json:"writes"`
}

// Method is an ioctl method.
type Method struct {
	ID         uint16      `json:"id"`
	Name       string      `json:"name"`
	Short      string      `json:"short"`
	Key        uint32      `json:"key"`
	DriverNS   bool        `json:"driver_namespace"`
	DeclaredBy string      `json:"declared_by"`
	Since      string      `json:"since"`
	Creates    string      `json:"creates,omitempty"`
	Destroys   string      `json:"destroys,omitempty"`
	TakesFD    bool        `json:"takes_fd"`
	ReturnsFD  bool        `json:"returns_fd"`
	Pointer    bool        `json:"carries_pointer"`
	Pruned     string      `json:"pruned,omitempty"`
	Finalized  *Finalized  `json:"finalized,omitempty"`
	Attrs      []Attribute `json:"attributes"`
}

// Finalized is what the kernel computes of a method when the device is
// registered.
type Finalized struct {
	NumAttrs     int    `json:"num_attrs"`
	KeyBitmapLen int    `json:"key_bitmap_len"`
	Mandatory    uint64 `json:"mandatory_bitmap"`
	HasUdata     bool   `json:"has_udata"`
	UseStack     bool   `json:"use_stack"`
	BundleSize   int    `json:"bundle_size"`
}

// Attribute is one attribute of a method.
type Attribute struct {
	ID         uint16 `json:"id"`
	Name       string `json:"name"`
	Key        uint32 `json:"key"`
	DriverNS   bool   `json:"driver_namespace"`
	DeclaredBy string `json:"declared_by"`
	Since      string `json:"since"`
	Type       string `json:"type"`
	Direction  string `json:"direction"`
	Data       string `json:"data"`
	Mandatory  bool   `json:"mandatory"`

	MinLen       *int   `json:"min_len,omitempty"`
	MaxLen       *int   `json:"max_len,omitempty"`
	Last         string `json:"last_member,omitempty"`
	ZeroTrailing bool   `json:"zero_trailing,omitempty"`
	AllocAndCopy bool   `json:"alloc_and_copy,omitempty"`
	Udata        bool   `json:"udata,omitempty"`
	CType        string `json:"ctype,omitempty"`
	Element      string `json:"element,omitempty"`

	Object   string `json:"object,omitempty"`
	ObjectID *int   `json:"object_id,omitempty"`
	Access   string `json:"access,omitempty"`
	MinItems int    `json:"min_items,omitempty"`
	MaxItems int    `json:"max_items,omitempty"`

	Choices []Choice `json:"choices,omitempty"`
	Is      *Meaning `json:"is,omitempty"`
	Structs []string `json:"structs,omitempty"`
	Refs    []Ref    `json:"refs,omitempty"`
}

// Choice is one of the values of an ENUM_IN attribute.
type Choice struct {
	Value  int    `json:"value"`
	Name   string `json:"name"`
	MinLen int    `json:"min_len"`
	MaxLen int    `json:"max_len"`
}

// Write is a command of the write() interface, which is also what
// UVERBS_METHOD_INVOKE_WRITE takes.
type Write struct {
	Command  uint32   `json:"command"`
	Name     string   `json:"name"`
	Short    string   `json:"short"`
	Ex       bool     `json:"ex"`
	Key      uint32   `json:"key"`
	Since    string   `json:"since"`
	Needs    []string `json:"needs,omitempty"`
	Pruned   string   `json:"pruned,omitempty"`
	Request  string   `json:"request"`
	ReqMin   int      `json:"request_min"`
	Fills    bool     `json:"request_filled"`
	Response string   `json:"response,omitempty"`
	RespMin  int      `json:"response_min"`
	HasResp  bool     `json:"has_response"`
	HasUdata bool     `json:"has_udata"`
	UdataIn  []string `json:"udata_in,omitempty"`
	UdataOut []string `json:"udata_out,omitempty"`
	TakesFD  bool     `json:"takes_fd"`
	GivesFD  bool     `json:"returns_fd"`
	Pointer  bool     `json:"carries_pointer"`
	Refs     []Ref    `json:"refs,omitempty"`
}

// Meaning is what a number stands for.
type Meaning struct {
	Role    string   `json:"role"`
	Objects []string `json:"objects,omitempty"`
	Bytes   string   `json:"bytes,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// Ref is a member of a struct in a call's buffers that is more than a number.
type Ref struct {
	Part   string `json:"part"`
	Struct string `json:"struct"`
	Member string `json:"member"`
	Offset int    `json:"offset"`
	Size   int    `json:"size"`
	Each   bool   `json:"each,omitempty"`
	Meaning
}

// Struct is the layout of a C struct.
type Struct struct {
	Size    int      `json:"size"`
	Members []Member `json:"members"`
	Tails   []Tail   `json:"tails,omitempty"`
}

// Member is one member of a struct.
type Member struct {
	Name   string   `json:"name"`
	Offset int      `json:"offset"`
	Size   int      `json:"size"`
	Type   string   `json:"type"`
	Count  int      `json:"count,omitempty"`
	Is     *Meaning `json:"is,omitempty"`
}

// Tail is an array that follows a struct in its buffer.
type Tail struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Count  string   `json:"count"`
	Stride string   `json:"stride,omitempty"`
	Is     *Meaning `json:"is,omitempty"`

	Variants []string `json:"variants,omitempty"`
}

// Enumerator is a name of a C enum.
type Enumerator struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// Newer is an id that a newer kernel has and this one refuses.
type Newer struct {
	Object int    `json:"object"`
	Method *int   `json:"method,omitempty"`
	Attr   *int   `json:"attribute,omitempty"`
	Name   string `json:"name"`
}

func meaning(m spec.Meaning, names func(uint16) string) *Meaning {
	if m.Role == spec.RolePlain {
		return nil
	}
	out := &Meaning{Role: m.Role.String(), Bytes: m.Bytes, Note: m.Note}
	for _, id := range m.Objects {
		out.Objects = append(out.Objects, names(id))
	}
	return out
}
