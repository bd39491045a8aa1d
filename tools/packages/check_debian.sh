#!/bin/sh
# Unpacks built Debian packages into a folder of their own and uses them as a stranger would: a program by pkg-config, the
# tool, the module for Python. usage: tools/packages/check_debian.sh FOLDER_OF_PACKAGES
set -eu
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
for package in "$1"/*.deb; do dpkg-deb -x "$package" "$root"; done
lib=$(dirname "$(find "$root" -name libmillwright.so)")
export PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib" PYTHONPATH="$root/usr/lib/python3/dist-packages"

# shellcheck disable=SC2046 # pkg-config prints a list of flags
cc -std=c11 tests/install/smoke.c -o "$root/smoke" $(pkg-config --cflags --libs millwright)
"$root/smoke"
"$root/usr/bin/mw" --version
/usr/bin/python3 -c "import millwright; print('Python:', millwright.__name__)"
for script in "$root"/usr/share/man/man1/*.gz; do man -l --warnings "$script" >/dev/null; done
echo "The packages work."
