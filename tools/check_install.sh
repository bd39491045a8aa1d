#!/bin/sh
# Installs a build into a fresh folder, moves the folder (it must be relocatable) and uses it as a stranger would:
# find_package and pkg-config, shared and static. Also looks at SONAME and exported symbols.
# usage: tools/check_install.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/moved

fail() {
    echo "install: $*" >&2
    exit 1
}

sources=tests/install/smoke.c
[ ! -f examples/mnist_mlp.c ] || sources="$sources examples/mnist_mlp.c"

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$prefix"
lib=$(dirname "$(find "$prefix" -name 'libmillwright.so' | head -n 1)")

# --- what the shared libraries show ---
objdump -p "$lib/libmillwright.so" | grep -q 'SONAME *libmillwright\.so\.0$' || fail "the SONAME is not libmillwright.so.0"
check_symbols() { # check_symbols LIBRARY PATTERN: exports at least one name, and only such names
    names=$(nm -D --defined-only "$1" | awk '{ print $NF }')
    [ -n "$names" ] || fail "$(basename "$1") exports nothing"
    other=$(printf '%s\n' "$names" | grep -vE "$2" || true)
    [ -z "$other" ] || fail "$(basename "$1") also exports:" "$other"
}
check_symbols "$lib/libmillwright.so" '^(mw_[a-z0-9]|ane_e5rt_)'
[ ! -e "$lib/libmillwright_mpi.so" ] || check_symbols "$lib/libmillwright_mpi.so" '^mw_(communicator_mpi|mpi_start)$'
[ ! -e "$lib/libmillwright_e5rt.so" ] || check_symbols "$lib/libmillwright_e5rt.so" '^e5rt_'

# --- headers: all of ours, nothing else ---
with_mpi=
[ ! -e "$lib/libmillwright_mpi.so" ] || with_mpi=yes
(cd include && find . -name '*.h' | if [ -n "$with_mpi" ]; then cat; else grep -v '/mpi\.h$'; fi | LC_ALL=C sort) >"$work/ours"
(cd "$prefix/include" && find . -type f | LC_ALL=C sort) >"$work/installed"
cmp -s "$work/ours" "$work/installed" || fail "the installed headers are not those of include/"

# --- find_package ---
absolute=
for source in $sources; do absolute="$absolute;$PWD/$source"; done
cmake -G Ninja -S tests/install/find_package -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DSOURCES="${absolute#;}" \
    ${with_mpi:+-DMPI_SOURCES="$PWD/tests/install/smoke_mpi.c"} >/dev/null
cmake --build "$work/cmake" >/dev/null
"$work/cmake/smoke_millwright"
"$work/cmake/smoke_millwright_static"

# --- pkg-config ---
PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH
for source in $sources; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2046 # pkg-config prints a list of flags
    ${CC:-cc} -std=c11 "$source" -o "$work/$name" $(pkg-config --cflags --libs millwright)
    # The static archive by its own name: -lmillwright would choose the shared library beside it.
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 "$source" -o "$work/${name}_static" $(pkg-config --cflags millwright) "$lib/libmillwright.a" \
        $(pkg-config --static --libs millwright | tr ' ' '\n' | grep -v '^-lmillwright$')
done
LD_LIBRARY_PATH=$lib "$work/smoke"
"$work/smoke_static"

# --- pkg-config where there is nothing but the archive: every library that it needs is named ---
mkdir -p "$work/archive/lib/pkgconfig"
cp "$lib/libmillwright.a" "$work/archive/lib"
cp "$lib/pkgconfig/millwright.pc" "$work/archive/lib/pkgconfig"
cp -r "$prefix/include" "$work/archive"
# shellcheck disable=SC2046
(PKG_CONFIG_PATH=$work/archive/lib/pkgconfig
    ${CC:-cc} -std=c11 tests/install/smoke.c -o "$work/smoke_archive" \
        $(pkg-config --static --cflags --libs millwright))
"$work/smoke_archive"
own=$(sed -n 's/^Libs.private: //p' "$lib/pkgconfig/millwright.pc")
if nm "$lib/libmillwright.a" | grep -q ' U inflateInit2_$'; then
    case " $own " in *" -lz "*) ;; *) fail "millwright.pc does not name -lz: zlib may have no .pc file" ;; esac
fi

# --- Python, with no word of where the library is ---
if command -v python3 >/dev/null; then
    found=$(PYTHONPATH=$prefix/share/millwright/python PYTHONDONTWRITEBYTECODE=1 python3 -c \
        'import millwright; from millwright.library import candidates; print(candidates()[0])')
    [ "$found" = "$(realpath "$lib")/libmillwright.so.0" ] || fail "Python found the library $found"
fi

# --- over MPI: both ways, and an example with --mpi ---
[ -n "$with_mpi" ] || exit 0
"$work/cmake/smoke_mpi_millwright_mpi"
"$work/cmake/smoke_mpi_millwright_mpi_static"
for source in tests/install/smoke_mpi.c examples/mnist_mlp.c; do
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 -DEXAMPLES_MPI "$source" -o "$work/mpi" $(pkg-config --cflags --libs millwright_mpi)
done
LD_LIBRARY_PATH=$lib "$work/mpi" --help >/dev/null
