# Runs once in a container of the base image; /opt/agent becomes the image's only layer.
set -eu
mkdir -p /opt/agent/lib
cp /usr/bin/node /opt/agent/lib/node
ldd /usr/bin/node | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\) .*/\1/p' | while read -r library; do
  cp -L "$library" "/opt/agent/lib/$(basename "$library")"
done
# Names are looked up by these at run time, though nothing links to them.
cp -L /lib/x86_64-linux-gnu/libnss_dns.so.2 /lib/x86_64-linux-gnu/libnss_files.so.2 /lib/x86_64-linux-gnu/libresolv.so.2 /opt/agent/lib/

# Debian's Node reads some built-in modules (fetch, the CommonJS lexer) from /usr/share/nodejs, which other images lack. The new
# path has the same length, so it can take the old one's place in the library.
for library in /opt/agent/lib/libnode.so.*; do
  grep -a -o '/usr/share/nodejs/[A-Za-z0-9._/-]*' "$library" | sort -u | while read -r module; do
    [ -f "$module" ] || continue
    copy="/opt/agent/nodejs/${module#/usr/share/nodejs/}"
    mkdir -p "$(dirname "$copy")"
    cp -L "$module" "$copy"
  done
  LC_ALL=C sed -i 's#/usr/share/nodejs/#/opt/agent/nodejs/#g' "$library"
done
