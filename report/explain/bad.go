package explain

import (
	"regexp"
	"strconv"

	"uverbsim/casefile"
)

// badAddresses are what a recording has in place of addresses of its program that
// could not be used, and what is to be said of those. An address may lie some bytes
// behind.
var badAddresses = []struct {
	at   uint64
	what string
}{
	{casefile.BadUnmapped, "an address that is not mapped (recorded as bad)"},
	{casefile.BadKernel, "an address above the user's half (recorded as bad)"},
}

// badRange is how many bytes behind it an address is still taken for a bad one.
const badRange = 1 << 24

// recordedAsBad says of addresses that are a recording's that they are.
func recordedAsBad(r *Refusal) {
	for i := range r.Values {
		r.Values[i].Value = sayBad(r.Values[i].Value)
	}
	for i := range r.Members {
		r.Members[i].Value = sayBad(r.Members[i].Value)
	}
	for i := range r.Attributes {
		r.Attributes[i].Value = sayBad(r.Attributes[i].Value)
	}
}

var hexadecimal = regexp.MustCompile(`\b0x[0-9a-f]+\b`)

// sayBad replaces the bad addresses in a text.
func sayBad(s string) string {
	return hexadecimal.ReplaceAllStringFunc(s, func(number string) string {
		n, err := strconv.ParseUint(number[2:], 16, 64)
		if err != nil {
			return number
		}
		if what := badAddress(n); what != "" {
			return what
		}
		return number
	})
}

func badAddress(n uint64) string {
	for _, b := range badAddresses {
		if n >= b.at && n-b.at < badRange {
			return b.what
		}
	}
	return ""
}
