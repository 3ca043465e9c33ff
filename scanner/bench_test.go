//go:build corpus

// The speed lines that the project holds itself to, compared in one run: finding
// every svc word against summing the same words, and a whole scan against
// objdump -d of the same file. `make bench`.

package scanner_test

import (
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"testing"

	"svcrelay/cachefmt"
	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

var benchSuites = []string{"bullseye", "bookworm", "trixie", "forky"}

func benchImage(b *testing.B, suite string) *elfimg.Image {
	b.Helper()
	img, err := elfimg.New(read(b, filepath.Join(corpus, "images", suite, "libc.so.6")))
	if err != nil {
		b.Fatal(err)
	}
	return img
}

// largest returns the text of an image.
func largest(img *elfimg.Image) (code []byte) {
	for _, r := range img.Exec {
		if b := img.Bytes(r); len(b) > len(code) {
			code = b
		}
	}
	return code
}

var sink uint64

func BenchmarkFind(b *testing.B) {
	code := largest(benchImage(b, "forky"))
	b.Run("svc", func(b *testing.B) {
		b.SetBytes(int64(len(code)))
		b.ReportAllocs()
		for b.Loop() {
			for off := scanner.NextSvc(code, 0); off >= 0; off = scanner.NextSvc(code, off+4) {
				sink++
			}
		}
	})
	b.Run("sum", func(b *testing.B) {
		b.SetBytes(int64(len(code)))
		for b.Loop() {
			var sum uint64
			for rest := code; len(rest) >= 8; rest = rest[8:] {
				sum += binary.LittleEndian.Uint64(rest)
			}
			sink += sum
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for _, suite := range benchSuites {
		img := benchImage(b, suite)
		b.Run(suite, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scanner.Scan(img, scanner.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkObjdump(b *testing.B) {
	for _, suite := range benchSuites {
		file := filepath.Join(corpus, "images", suite, "libc.so.6")
		b.Run(suite, func(b *testing.B) {
			for b.Loop() {
				if err := exec.Command("aarch64-linux-gnu-objdump", "-d", file).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTable(b *testing.B) {
	for _, suite := range benchSuites {
		img := benchImage(b, suite)
		r, err := scanner.Scan(img, scanner.Options{})
		if err != nil {
			b.Fatal(err)
		}
		made, err := cachefmt.FromSites(img, scanner.RecogniserVersion, r.Window, r.Sites)
		if err != nil {
			b.Fatal(err)
		}
		encoded, err := made.Append(nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(suite, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t, err := cachefmt.Decode(encoded)
				if err != nil {
					b.Fatal(err)
				}
				if err := cachefmt.Validate(t, img); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
