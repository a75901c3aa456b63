#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds a fuzz body with clang's libFuzzer and runs it: tests/fuzz/libfuzzer.sh BODY [SECONDS]
# BODY is the NAME of a fuzz_NAME.c. Findings go to the current directory, the corpus to build/fuzz/BODY.
set -eu

body=${1:-}
seconds=${2:-60}
top=$(cd "$(dirname "$0")/../.." && pwd)
if [ ! -f "$top/tests/fuzz/fuzz_$body.c" ] || ! [[ $seconds =~ ^[0-9]+$ ]]; then
    echo "usage: $0 BODY [SECONDS]; BODY: $(cd "$top/tests/fuzz" && echo fuzz_*.c | sed 's/fuzz_\([a-z_]*\)\.c/\1/g')" >&2
    exit 2
fi
command -v clang >/dev/null || { echo "$0: no clang; install the packages clang and libclang-rt-dev" >&2; exit 1; }

cd "$top"
case $body in
config)
    packages="glib-2.0 json-glib-1.0"
    sources=$(ls target-sim/daemon/config*.c target-sim/daemon/json_reader.c target-sim/daemon/parse.c)
    ;;
*)
    packages=glib-2.0
    sources="$(ls target-sim/engine/*.c target-sim/client/*.c) tests/unit/rig.c tests/unit/wire.c"
    case $body in
    admin | fabrics | fault | io) sources="$sources tests/fuzz/commands.c" ;;
    esac
    ;;
esac
out=$top/build/fuzz
corpus=$out/$body
mkdir -p "$corpus"
# Word splitting is wanted: lists of flags and files without spaces.
# shellcheck disable=SC2086,SC2046
compile() {
    clang -std=gnu11 -g -O1 -D_GNU_SOURCE -DLOCKSTEP_VERSION='"fuzz"' -Iinclude -Itarget-sim -Itests/unit \
        -fsanitize="$1,address,undefined" -fno-sanitize-recover=undefined \
        $(pkg-config --cflags $packages) $2 "tests/fuzz/fuzz_$body.c" $sources -o "$3" \
        $(pkg-config --libs $packages) -lisal
}
if [ "$body" = config ]; then
    cp tests/fuzz/corpus/config.json "$corpus/"
else
    compile fuzzer-no-link tests/fuzz/driver.c "$out/corpus_$body"
    "$out/corpus_$body" --write-corpus "$corpus"
fi
compile fuzzer "" "$out/fuzz_$body"
exec "$out/fuzz_$body" -max_total_time="$seconds" -max_len=16384 -rss_limit_mb=4096 "$corpus"
