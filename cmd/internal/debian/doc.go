// Package debian fetches packages from a Debian archive and trusts nothing it
// has not checked: gpgv checks the release file against the archive keyring,
// the release file gives the hash of the package index, and the index gives
// the hash of every package.
//
// Where the archive is comes from the machine's own apt configuration, with
// the suite's name substituted, so the project names no host. A file that is
// already present and has the right hash is not fetched again. Files appear
// under their final name whole or not at all.
//
// It refuses unsigned releases, a release of another suite than the one asked
// for, index entries whose names could leave the archive or the cache folder,
// and streams longer than the size that was promised. An expired release gets a
// note: expiry guards installed systems against old versions, and this package
// installs nothing. It runs no maintainer script and does not resolve
// dependencies; it only parses them.
package debian
