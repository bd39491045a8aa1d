#!/bin/sh
# Installs the packages that are missing for the named groups: build, npm, mpi, mpich, fashion, amalgamation, bench, check, browser, site, packages, nightly.
# usage: tools/setup.sh GROUP...
set -eu

debian_packages() {
    case $1 in
    build) echo gcc libc6-dev cmake ninja-build pkg-config uthash-dev libxxhash-dev zlib1g-dev libpng-dev libjpeg62-turbo-dev libwebp-dev libsndfile1-dev libprotobuf-c-dev protobuf-c-compiler libplist-dev libutf8proc-dev libpcre2-dev libpopt-dev libopenblas0-pthread ;;
    npm) command -v npm >/dev/null || echo npm ;;
    mpi) echo openmpi-bin libopenmpi-dev ;;
    mpich) echo mpich libmpich-dev ;;
    bench) echo clang libopenblas-dev python3 ;;
    fashion) echo dataset-fashion-mnist ;;
    amalgamation) echo python3 uthash-dev libxxhash-dev protobuf-c-compiler ;;
    check) echo clang clang-format libclang-rt-dev llvm g++ binutils shellcheck git locales libonnx-testdata mypy python3-venv python3-protobuf ;;
    browser) echo chromium fonts-dejavu-core python3 ;;
    site) echo python3 python3-sphinx python3-myst-parser python3-sphinx-copybutton furo hunspell hunspell-en-us ;;
    packages) echo build-essential debhelper dh-python dpkg-dev lintian abigail-tools fakeroot python3 mpi-default-bin man-db ;;
    nightly) echo valgrind qemu-user-static libc6-arm64-cross python3-torch python3-sklearn ;;
    esac
}

brew_packages() {
    case $1 in
    build) echo cmake ninja pkgconf uthash xxhash libpng jpeg-turbo webp libsndfile protobuf-c libplist utf8proc pcre2 popt ;;
    npm) command -v npm >/dev/null || echo node ;;
    mpi) command -v mpicc >/dev/null || echo open-mpi ;;
    bench) command -v python3 >/dev/null || echo python ;;
    amalgamation) command -v python3 >/dev/null || echo python; echo uthash xxhash protobuf-c ;;
    check) echo clang-format shellcheck ;;
    esac
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "This needs root: su -c '$*'" >&2
        return 1
    fi
}

quietly() { # shows what a command printed only if it fails
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        rm -f "$log"
    else
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
}

debian_setup() {
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true) in
        installed) ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    echo "Installing with apt-get:$missing"
    quietly as_root apt-get update -q
    # shellcheck disable=SC2086 # a list of package names
    quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}

brew_setup() {
    missing=
    for package in "$@"; do
        brew list --versions "$package" >/dev/null 2>&1 || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    echo "Installing with brew:$missing"
    # shellcheck disable=SC2086 # a list of package names
    quietly brew install $missing
}

packages() { # packages FUNCTION GROUP...
    list=$1
    shift
    for group in "$@"; do
        "$list" "$group"
    done
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    # shellcheck disable=SC2046 # a list of package names
    debian_setup $(packages debian_packages "$@")
elif command -v brew >/dev/null; then
    # shellcheck disable=SC2046 # a list of package names
    brew_setup $(packages brew_packages "$@")
else
    for tool in cc cmake ninja; do
        command -v "$tool" >/dev/null || {
            echo "Neither apt-get nor brew is here; please install: $(packages debian_packages "$@" | tr '\n' ' ')" >&2
            exit 1
        }
    done
fi
