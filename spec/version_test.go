package spec

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKernels(t *testing.T) {
	require.Equal(t, []*Kernel{Linux6_1, Linux6_12}, Kernels()[:2])
	for _, k := range Kernels() {
		found, ok := KernelByName(k.Name)
		require.True(t, ok)
		require.Same(t, k, found)
		require.Equal(t, 6, k.ABIVersion)
		require.Len(t, k.Definitions(RDMA_DRIVER_RXE), len(Core()))
	}
	_, ok := KernelByName("6.13")
	require.False(t, ok)
	require.Len(t, Linux6_12.Definitions(RDMA_DRIVER_MLX5), len(Core())+len(MLX5()))
}

func TestKernelByRelease(t *testing.T) {
	for release, want := range map[string]*Kernel{
		"6.1.0-57-amd64 (Debian 6.1.192-3)":                Linux6_1,
		"6.12.117+deb12-amd64 (Debian 6.12.117-1~deb12u1)": Linux6_12,
		"6.1": Linux6_1, "6.12": Linux6_12,
		"6.13.1": nil, "6.13": nil, "6": nil, "16.1.2": nil, "": nil,
	} {
		k, ok := KernelByRelease(release)
		require.Equal(t, want != nil, ok, release)
		require.Same(t, want, k, release)
	}
}

func TestFeaturesOfKernels(t *testing.T) {
	require.Len(t, Features(), len(features))
	for _, f := range Features() {
		first, ok := KernelByName(f.Info().Since)
		require.Truef(t, ok, "%v is of no kernel", f)
		for i, k := range Kernels() {
			require.Equal(t, i >= slices.Index(Kernels(), first), k.Has(f), "%v in %s", f, k.Name)
		}
		require.Equal(t, Linux6_12.Has(f), (*Kernel)(nil).Has(f), f)
		require.False(t, Linux6_1.Has(f), f)
		require.True(t, Linux6_1.With(f).Has(f), f)
		require.False(t, first.Without(f).Has(f), f)
	}
	require.False(t, Linux6_1.With(MRAccessFlush).Has(UmemPinByAccess))
}

// TestDeclaredIn6_1 compares the definitions with those of 6.1's sources: what
// grep finds to be missing there.
func TestDeclaredIn6_1(t *testing.T) {
	all := Linux6_1.Definitions(RDMA_DRIVER_MLX5)
	_, cq := FindMethod(all, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE)
	require.NotNil(t, cq)
	require.Nil(t, cq.Attr(MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX))
	require.NotNil(t, cq.Attr(UVERBS_ATTR_CREATE_CQ_HANDLE))
	_, m := FindMethod(all, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH)
	require.Nil(t, m)
	_, m = FindMethod(all, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT)
	require.NotNil(t, m)
	_, mr := FindMethod(all, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR)
	require.NotNil(t, mr)
	require.Nil(t, mr.Attr(MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS))

	attrs := func(defs []Definition) (n int) {
		for _, d := range defs {
			for _, m := range d.Object.Methods {
				n += len(m.Attrs)
			}
		}
		return n
	}
	require.Equal(t, attrs(Linux6_12.Definitions(RDMA_DRIVER_MLX5))-3, attrs(all))
	require.Len(t, Linux6_1.Definitions(RDMA_DRIVER_EFA), len(Core()))
	require.Len(t, Linux6_1.Definitions(RDMA_DRIVER_BNXT_RE), len(Core()))
	require.Len(t, Linux6_12.Definitions(RDMA_DRIVER_BNXT_RE), len(Core())+3)
}

// TestHeadersOf6_1 wants the features to account for all that 6.12's headers
// have and 6.1's have not.
func TestHeadersOf6_1(t *testing.T) {
	var oldC, newC map[string]map[string]int64
	loadJSON(t, "constants-6.1.json", &oldC)
	loadJSON(t, "constants-6.12.json", &newC)
	var oldL, newL map[string]layout
	loadJSON(t, "layout-6.1.json", &oldL)
	loadJSON(t, "layout-6.12.json", &newL)

	has := map[string]int64{}
	for _, enum := range oldC {
		for name, value := range enum {
			has[name] = value
		}
	}
	var added []string
	for enum, names := range newC {
		if oldC[enum] == nil && ofIBVerbs(enum) {
			continue
		}
		for name, value := range names {
			if old, ok := has[name]; ok {
				require.Equal(t, old, value, name)
			} else {
				added = append(added, name)
			}
		}
	}
	for name, l := range newL {
		old, ok := oldL[name]
		if !ok || old.Size != l.Size || !slices.Equal(old.Members, l.Members) {
			added = append(added, "struct "+name)
		}
	}
	for name := range oldL {
		require.Contains(t, newL, name)
	}

	used := map[string]bool{}
	for _, name := range added {
		n := 0
		for _, f := range Features() {
			for _, h := range f.Info().Headers {
				if comesWith(name, h) {
					used[h] = true
					n++
				}
			}
		}
		require.Equal(t, 1, n, "%s belongs to how many features", name)
	}
	for _, f := range Features() {
		for _, h := range f.Info().Headers {
			if Linux6_12.Has(f) {
				require.True(t, used[h], "%v: 6.1 has %s too", f, h)
			}
		}
	}
}

// comesWith says whether a feature with h among its headers brings that name.
func comesWith(name, h string) bool {
	head, many := strings.CutSuffix(h, "*")
	return name == h || many && strings.HasPrefix(name, head)
}

// ofIBVerbs says whether an enum is one of include/rdma/ib_verbs.h, which no
// package of 6.1 has.
func ofIBVerbs(enum string) bool {
	return slices.Contains([]string{"enum rdma_link_layer", "enum rdma_transport_type", "enum rdma_remove_reason"}, enum) ||
		strings.HasPrefix(enum, "enum ib_") && !strings.HasPrefix(enum, "enum ib_uverbs_") &&
			enum != "enum ib_placement_type" && enum != "enum ib_selectivity_level"
}

// TestHeadersKeepTheirValues wants every constant of 6.1's headers to be one of
// 6.12's, with the same value, but for two that no program uses.
func TestHeadersKeepTheirValues(t *testing.T) {
	values := func(file string) map[string]int64 {
		var enums map[string]map[string]int64
		loadJSON(t, file, &enums)
		all := map[string]int64{}
		for _, names := range enums {
			maps.Copy(all, names)
		}
		return all
	}
	old, now := values("constants-6.1.json"), values("constants-6.12.json")
	require.Greater(t, len(old), 600)
	var gone []string
	for name, v := range old {
		if n, ok := now[name]; !ok {
			gone = append(gone, name)
		} else {
			require.Equal(t, v, n, name)
		}
	}
	require.ElementsMatch(t, []string{"UVERBS_UDATA_DRIVER_DATA_FLAG", "UVERBS_UDATA_DRIVER_DATA_NS"}, gone)
}
