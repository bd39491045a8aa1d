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

package_of() { # package_of SOURCE: the one package that it is linked with
    if grep -qE '<millwright/data.h>|"options.h"' "$1"; then echo millwright_data; else echo millwright; fi
}

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
private=MILLWRIGHT_PRIVATE_$(sed -n 's/^project(millwright VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
check_symbols "$lib/libmillwright.so" "^(mw_[a-z0-9].*@@MILLWRIGHT_[0-9]+|ane_e5rt_.*@@MILLWRIGHT_[0-9]+|mw__[a-z0-9_]*@@$private|MILLWRIGHT_[0-9]+|$private)\$"
for name in data inspect chip learn ranks text view; do check_symbols "$lib/libmillwright_$name.so" '^mw_[a-z0-9]'; done
# The core shows of its inside what its siblings use, and no more.
nm -D --defined-only "$lib/libmillwright.so" | sed -n 's/.* \(mw__[a-z0-9_]*\)@@.*/\1/p' | sort >"$work/shown"
for name in data inspect chip learn ranks text view; do nm -D --undefined-only "$lib/libmillwright_$name.so"; done |
    sed -n 's/.* \(mw__[a-z0-9_]*\)@.*/\1/p' | sort -u >"$work/used"
cmp -s "$work/shown" "$work/used" || fail "marked MW__SIBLING without need:" "$(comm -23 "$work/shown" "$work/used")"
[ ! -e "$lib/libmillwright_mpi.so" ] || check_symbols "$lib/libmillwright_mpi.so" '^mw_(communicator_create_mpi|mpi_start)$'
[ ! -e "$lib/libmillwright_e5rt.so" ] || check_symbols "$lib/libmillwright_e5rt.so" '^e5rt_'

# What unpacks pictures is needed by libmillwright_data alone.
! objdump -p "$lib/libmillwright.so" | grep -E 'NEEDED.*lib(png|jpeg|webp|sndfile)' || fail "the core needs libpng, libjpeg, libwebp or libsndfile"

# --- headers: all of ours, nothing else ---
with_mpi=
[ ! -e "$lib/libmillwright_mpi.so" ] || with_mpi=yes
(cd include && find . -name '*.h' -o -name '*.hpp' | if [ -n "$with_mpi" ]; then cat; else grep -v '/mpi\.h$'; fi | LC_ALL=C sort) >"$work/ours"
(cd "$prefix/include" && find . -type f | LC_ALL=C sort) >"$work/installed"
cmp -s "$work/ours" "$work/installed" || fail "the installed headers are not those of include/"

# --- find_package ---
absolute=
for source in $sources; do absolute="$absolute;$PWD/$source"; done
cmake -G Ninja -S tests/install/find_package -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DSOURCES="${absolute#;}" \
    -DBESIDE="$PWD/tests/install/smoke_beside.c" ${with_mpi:+-DMPI_SOURCES="$PWD/tests/install/smoke_mpi.c"} >/dev/null
cmake --build "$work/cmake" >"$work/said" || fail "what find_package gives does not build:" "$(tail -n 20 "$work/said")"
"$work/cmake/smoke_millwright"
"$work/cmake/smoke_millwright_static"
"$work/cmake/smoke_beside_shared"
"$work/cmake/smoke_beside_static"

# --- pkg-config ---
PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH
for source in $sources; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2046 # pkg-config prints a list of flags
    ${CC:-cc} -std=c11 "$source" -o "$work/$name" $(pkg-config --cflags --libs "$(package_of "$source")")
    # The static archives by their own names: -lmillwright would choose the shared library beside it.
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 "$source" -o "$work/${name}_static" $(pkg-config --cflags millwright) \
        $(pkg-config --static --libs "$(package_of "$source")" | sed -E "s#-l(millwright[a-z_]*)#$lib/lib\1.a#g")
done
LD_LIBRARY_PATH=$lib "$work/smoke"
"$work/smoke_static"
# A static program has what it trains with, and not the formats that it never writes. 720,000 bytes of its text are
# straight-line code of batch norms, for each instruction set, Winograd's convolutions, int8 (codes in quads, sums and means
# of codes), pooling by lanes, and programs for several sizes over one state.
if [ -f "$work/mnist_mlp_static" ]; then
    text=$(size "$work/mnist_mlp_static" | awk 'NR == 2 { print $1 }')
    [ "$text" -le 5000000 ] || fail "the static MNIST program has $text bytes of text, more than 5,000,000"
    ! nm "$work/mnist_mlp_static" | grep -qE ' mw__(onnx|coreml)_write$' || fail "the static MNIST program has writers of ONNX or Core ML"
fi

# --- libraries beside the core: by pkg-config, opened later, and refused beside a core of another release ---
# shellcheck disable=SC2046
${CC:-cc} -std=c11 tests/install/smoke_beside.c -o "$work/beside" $(pkg-config --cflags --libs millwright_chip millwright_data millwright_learn millwright_ranks millwright_text millwright_view)
LD_LIBRARY_PATH=$lib "$work/beside"
# shellcheck disable=SC2046
${CC:-cc} -std=c11 tests/install/smoke_opened.c -o "$work/opened" $(pkg-config --cflags --libs millwright) -ldl
LD_LIBRARY_PATH=$lib "$work/opened" "$lib/libmillwright_chip.so"
mkdir "$work/other"
sed "s/$private/${private%.*}.999/" "$build/millwright.map" >"$work/other/map"
# shellcheck disable=SC2046
${CC:-cc} -shared -o "$work/other/libmillwright.so.0" -Wl,-soname,libmillwright.so.0 -Wl,--version-script="$work/other/map" \
    -Wl,--whole-archive "$lib/libmillwright.a" -Wl,--no-whole-archive \
    $(pkg-config --static --libs millwright | tr ' ' '\n' | grep -v '^-lmillwright$')
if LD_LIBRARY_PATH=$work/other:$lib "$work/beside" 2>"$work/said"; then fail "a sibling took a core of another release"; fi
grep -q "$private. not found" "$work/said" || fail "a core of another release is refused without a word of it:" "$(cat "$work/said")"

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
    ${CC:-cc} -std=c11 -DEXAMPLES_MPI "$source" -o "$work/mpi" $(pkg-config --cflags --libs millwright_mpi "$(package_of "$source")")
done
LD_LIBRARY_PATH=$lib "$work/mpi" --help >/dev/null
