#!/bin/sh
# Replaces itself by the program of this package, which so gets every signal and gives its own exit status.
oldest_glibc=35

refuse() {
  echo "refract: $1. This package is for Linux on x86-64 with glibc 2.$oldest_glibc or later, such as Debian 12 and Ubuntu 22.04." >&2
  exit 1
}

system="$(uname -s) $(uname -m)"
[ "$system" = 'Linux x86_64' ] || refuse "this is $system"
# musl has none, and would only report that the program is not found
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null)
case $glibc in
'glibc 2.'*) [ "${glibc#glibc 2.}" -ge "$oldest_glibc" ] || refuse "this has $glibc" ;;
*) [ -e /lib64/ld-linux-x86-64.so.2 ] || refuse 'this system has no glibc' ;;
esac

program=$(dirname -- "$(readlink -f -- "$0")")/../lib/refract
# an installer may drop the mode
[ -x "$program" ] || chmod +x -- "$program" || exit 126
exec "$program" "$@"
