#!/bin/sh
# Makes archive/ and keyring.gpg: a Debian archive with two suites of three tiny
# packages, signed by a key that is thrown away. Only needed when the fixture
# has to change; every hash and signature in it changes too.
# Its clock stands still in 2023, so that no machine takes the key for one from
# the future.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export GNUPGHOME="$tmp/gnupg" SOURCE_DATE_EPOCH=1700000000
mkdir -m 700 "$GNUPGHOME"
gpg() { command gpg --batch --quiet --passphrase "" --faked-system-time "$SOURCE_DATE_EPOCH" "$@"; }
rm -rf archive keyring.gpg stranger.gpg

for who in archive stranger; do
	gpg --quick-generate-key "svcrelay test $who" ed25519 sign never
done
gpg --export 'svcrelay test archive' >keyring.gpg
gpg --export 'svcrelay test stranger' >stranger.gpg

# image NAME NUMBER: a stripped arm64 library with a build-ID, and its symbols.
image() {
	printf '.globl f\n.type f, %%function\nf: mov x8, #%s\n svc #0\n ret\n.size f, .-f\n' "$2" >"$tmp/a.s"
	aarch64-linux-gnu-gcc -shared -nostdlib -Wl,--build-id=sha1 -Wl,-z,max-page-size=4096 \
		-Wl,-z,noseparate-code -o "$tmp/$1" "$tmp/a.s"
	aarch64-linux-gnu-objcopy --only-keep-debug "$tmp/$1" "$tmp/$1.debug"
	aarch64-linux-gnu-strip -s -R .comment "$tmp/$1"
	id=$(aarch64-linux-gnu-readelf -n "$tmp/$1" | sed -n 's/.*Build ID: //p')
}

# deb SUITE NAME VERSION: packs $tmp/root.
deb() {
	mkdir -p "$tmp/root/DEBIAN" "archive/pool/main/$1"
	printf 'Package: %s\nVersion: %s\nArchitecture: arm64\nMaintainer: nobody <nobody@invalid>\nDescription: fixture\n' \
		"$2" "$3" >"$tmp/root/DEBIAN/control"
	find "$tmp/root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	file="archive/pool/main/$1/$2_${3}_arm64.deb"
	dpkg-deb --root-owner-group -Zxz -b "$tmp/root" "$file" >/dev/null
	rm -rf "$tmp/root"
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: arm64\n' "$2" "$3"
		printf 'Filename: %s\nSize: %s\nSHA256: %s\n' "${file#archive/}" \
			"$(stat -c %s "$file")" "$(sha256sum "$file" | cut -d' ' -f1)"
		printf 'Description: fixture\n\n'
	} >>"$tmp/Packages"
}

# release SUITE EXTRA...: index and signed release file of what deb has collected.
release() {
	dist="archive/dists/$1"
	list=main/binary-arm64/Packages
	mkdir -p "$dist/main/binary-arm64/by-hash/SHA256"
	xz -9 -c "$tmp/Packages" >"$tmp/Packages.xz"
	sum=$(sha256sum "$tmp/Packages.xz" | cut -d' ' -f1)
	cp "$tmp/Packages.xz" "$dist/main/binary-arm64/by-hash/SHA256/$sum"
	{
		printf 'Origin: Debian\nSuite: old%s\nCodename: %s\nAcquire-By-Hash: yes\n' "$1" "$1"
		shift
		for line in "$@"; do printf '%s\n' "$line"; done
		printf 'SHA256:\n'
		for f in Packages Packages.xz; do
			printf ' %s %s main/binary-arm64/%s\n' "$(sha256sum "$tmp/$f" | cut -d' ' -f1)" \
				"$(stat -c %s "$tmp/$f")" "$f"
		done
	} >"$tmp/Release"
	gpg --local-user 'svcrelay test archive' --digest-algo SHA256 \
		--clearsign -o "$dist/InRelease" "$tmp/Release"
	rm "$tmp/Packages"
}

for suite in bullseye bookworm; do
	case $suite in
	bullseye) version=2.31-1 libc=libc-2.31.so until='Valid-Until: Sat, 06 Nov 2021 08:08:01 UTC' ;;
	bookworm) version=2.36-1 libc=libc.so.6 until='Changelogs: none' ;;
	esac
	image libc.so 56
	dir="$tmp/root/lib/aarch64-linux-gnu"
	mkdir -p "$dir/gconv"
	cp "$tmp/libc.so" "$dir/$libc"
	if [ "$libc" != libc.so.6 ]; then ln -s "$libc" "$dir/libc.so.6"; fi
	echo 'not wanted' >"$dir/gconv/libc.so.6"
	deb $suite libc6 $version
	dir="$tmp/root/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)"
	mkdir -p "$dir"
	cp "$tmp/libc.so.debug" "$dir/$(echo "$id" | cut -c3-).debug"
	echo 'not wanted' >"$dir/00.debug"
	deb $suite libc6-dbg $version
	image musl.so 57
	mkdir -p "$tmp/root/usr/lib/aarch64-linux-musl"
	cp "$tmp/musl.so" "$tmp/root/usr/lib/aarch64-linux-musl/libc.so"
	deb $suite musl 1.2.3-1
	release $suite "$until"
done
