#!/bin/bash -eu
# The same as for OSS-Fuzz.
exec "$SRC/uverbsim/fuzz/oss-fuzz/build.sh"
