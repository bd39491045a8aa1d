# shellcheck shell=sh
# Gets onnxruntime for Node, from two npm packages that hold its libraries, into build/cache: nothing is installed, and no
# script of theirs runs. For the stage of tools/nightly.sh that compares with it.

onnxruntime_cache=build/cache
onnxruntime_sums='
fd586d4ab53d89fdade19ffcc75b208fd66ab417b247cb6ae299be1bb40d76be  onnxruntime-node-1.17.3.tgz
e7f3286257abae693305e65b212a50aac244a8b0c5284c48e9b8fa6638120a36  onnxruntime-common-1.17.3.tgz'

unpack_onnxruntime() { # unpack_onnxruntime PACKAGE: of that name in node_modules
    mkdir -p "$onnxruntime_cache/onnxruntime.part/node_modules/$1"
    tar -xzof "$onnxruntime_cache/$1-1.17.3.tgz" -C "$onnxruntime_cache/onnxruntime.part/node_modules/$1" \
        --strip-components=1
}

get_onnxruntime() (
    set -e
    tools/setup.sh npm
    mkdir -p "$onnxruntime_cache"
    for package in onnxruntime-node onnxruntime-common; do
        [ -f "$onnxruntime_cache/$package-1.17.3.tgz" ] ||
            (cd "$onnxruntime_cache" && npm pack --loglevel=error "$package@1.17.3" >/dev/null)
    done
    (cd "$onnxruntime_cache" && echo "$onnxruntime_sums" | sed '/^$/d' | sha256sum -c --quiet -)
    rm -rf "$onnxruntime_cache/onnxruntime.part" "$onnxruntime_cache/onnxruntime"
    unpack_onnxruntime onnxruntime-node
    unpack_onnxruntime onnxruntime-common
    mv "$onnxruntime_cache/onnxruntime.part" "$onnxruntime_cache/onnxruntime"
)

[ -d "$onnxruntime_cache/onnxruntime" ] || get_onnxruntime
