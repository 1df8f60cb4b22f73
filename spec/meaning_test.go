package spec

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// looksLikeMore are the names that those of addresses, handles and descriptors
// could be.
var looksLikeMore = regexp.MustCompile(`(?i)(addr|va|ptr|handle|handles|channel|_key|offset)$|(^|_)(fd|va|ah|dbr)$`)

// notMore are names that match and are no more than numbers, in every struct.
var notMore = regexp.MustCompile(`(?i)^(aes_key|rx_hash_key|max_ah|sge_offset|.*_db_offset|db_off|llq_desc_offset|hca_core_clock_offset)$`)

// TestEveryNumberIsDecided wants a decision on every member that could be an
// address, a handle or a descriptor, and none on members that there are not.
func TestEveryNumberIsDecided(t *testing.T) {
	unused := map[string]bool{}
	for name := range meanings {
		unused[name] = true
	}
	for name := range wireTypes() {
		members, _ := Linux6_12.Layout(name)
		for _, m := range members {
			_, decided := MeaningOf("struct "+name, m.Name)
			delete(unused, name+"."+m.Name)
			wide := m.Type == "u64" || m.Type == "s64"
			if wide || looksLikeMore.MatchString(m.Name) && !notMore.MatchString(m.Name) {
				assert.Truef(t, decided, "%s.%s (%s) is not decided", name, m.Name, m.CType())
			}
		}
	}
	require.Empty(t, unused, "decided, but there is no such member")
}

// TestMeaningsAreOnce wants one decision on each member.
func TestMeaningsAreOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range meaningRows {
		for _, m := range r.members {
			require.False(t, seen[m], m)
			seen[m] = true
			if r.is.Role == RoleHandle {
				require.NotEmpty(t, r.is.Objects, m)
			}
			require.Equal(t, r.is.Role == RoleUserAddr, r.is.Bytes != "", m)
		}
	}
}

// TestEveryAttributeIsDecided is the same for the data of attributes.
func TestEveryAttributeIsDecided(t *testing.T) {
	unused := map[string]bool{}
	for name := range attrMeanings {
		unused[name] = true
	}
	for _, d := range everything() {
		for _, m := range d.Object.Methods {
			for _, a := range m.Attrs {
				delete(unused, a.Name)
				if a.Type == TypeRawFD {
					meaning, decided := MeaningOfAttr(a.Name)
					require.True(t, decided && meaning.Role == RoleFD, a.Name)
				}
				if a.Type != TypePtrIn && a.Type != TypePtrOut || a.Udata {
					continue
				}
				if a.CType == "u64" || looksLikeMore.MatchString(a.Name) && !notMore.MatchString(a.Name) {
					_, decided := MeaningOfAttr(a.Name)
					assert.Truef(t, decided, "%s (%s) is not decided", a.Name, a.CType)
				}
			}
		}
	}
	require.Empty(t, unused, "decided, but there is no such attribute")
}

// TestAddressesOfMLX5 has what a proxy for mlx5 must know, by the offsets in
// include/uapi/rdma/mlx5-abi.h.
func TestAddressesOfMLX5(t *testing.T) {
	want := map[string]map[string]int{
		"struct mlx5_ib_create_cq":  {"buf_addr": 0, "db_addr": 8},
		"struct mlx5_ib_resize_cq":  {"buf_addr": 0},
		"struct mlx5_ib_create_qp":  {"buf_addr": 0, "db_addr": 8, "sq_buf_addr": 40},
		"struct mlx5_ib_create_srq": {"buf_addr": 0, "db_addr": 8},
		"struct mlx5_ib_create_wq":  {"buf_addr": 0, "db_addr": 8},
	}
	for name, addrs := range want {
		got := map[string]int{}
		members, _ := Linux6_12.Layout(name)
		for _, m := range members {
			if is, _ := MeaningOf(name, m.Name); is.Role == RoleUserAddr {
				got[m.Name] = m.Offset
			}
		}
		require.Equal(t, addrs, got, name)
	}
}

func TestRoleNames(t *testing.T) {
	require.Equal(t, "user_address", RoleUserAddr.String())
	require.Equal(t, "cookie", RoleCookie.String())
	require.Equal(t, "?", Role(99).String())
}
