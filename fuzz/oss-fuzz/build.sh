#!/bin/bash -eu
# Builds all fuzz targets as OSS-Fuzz and ClusterFuzzLite want them: libFuzzer
# binaries in $OUT, by the script of their image, which takes a package, a function
# and a name. Which targets there are is asked of the sources.
cd "${UVERBSIM:-$SRC/uverbsim}"

# The script's tool overlays a file of the standard library, which cannot be done
# where Go keeps a toolchain that it has downloaded for go.mod: have a copy.
goroot=$(go env GOROOT)
case $goroot in
"$(go env GOMODCACHE)"/*)
	copy=$(mktemp -d)
	cp -r "$goroot/." "$copy"
	chmod -R u+w "$copy"
	export GOROOT=$copy PATH="$copy/bin:$PATH" GOTOOLCHAIN=local
	;;
esac

# Targets whose calls come from recorded cases read these at the start.
mkdir -p "$OUT/corpus"
cp sim_test/corpus/*.jsonl "$OUT/corpus/"

targets=$(go run ./scripts/fuzz -list)
while IFS=: read -r package target; do
	name=$(tr / _ <<<"${package#uverbsim/}")_$target
	compile_native_go_fuzzer_v2 "$package" "$target" "$name"
	[ -x "$OUT/$name" ] || { echo "$package:$target was not built" >&2; exit 1; }
done <<<"$targets"
