#!/bin/sh
# Installs Windlass from this folder, or removes it.
#
#   ./install.sh [--prefix DIR] [--uninstall]
#
# DIR is /usr/local for root and ~/.local for anybody else. Nothing is written
# outside of it, and nothing is downloaded.
set -eu

usage() {
    echo "usage: $0 [--prefix DIR] [--uninstall]" >&2
    exit 2
}

if [ "$(id -u)" -eq 0 ]; then
    prefix=/usr/local
else
    prefix=${HOME:?}/.local
fi
uninstall=
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -ge 2 ] || usage
        prefix=$2
        shift
        ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) uninstall=yes ;;
    *) usage ;;
    esac
    shift
done
case $prefix in
/*) ;;
*) prefix=$PWD/$prefix ;;
esac

cd "$(dirname "$0")"
find bin share -type f | LC_ALL=C sort | while read -r file; do
    if [ -n "$uninstall" ]; then
        rm -f "$prefix/$file"
        folder=$(dirname "$file")
        # Folders that were ours alone go too.
        while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do
            folder=$(dirname "$folder")
        done
    else
        mode=644
        case $file in bin/*) mode=755 ;; esac
        mkdir -p "$prefix/$(dirname "$file")"
        # A program that runs cannot be overwritten, but it can be replaced.
        cp "$file" "$prefix/$file.new"
        chmod "$mode" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
    fi
done

if [ -n "$uninstall" ]; then
    echo "removed Windlass from $prefix"
    exit
fi
echo "installed $prefix/bin/windlass"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "add $prefix/bin to your PATH" ;;
esac
