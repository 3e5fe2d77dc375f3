package fetch

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// code applies content codings in the order of Content-Encoding.
func code(t testing.TB, s string, codings ...string) string {
	t.Helper()
	for _, c := range codings {
		var b bytes.Buffer
		var w io.WriteCloser
		switch c {
		case "gzip", "x-gzip":
			w = gzip.NewWriter(&b)
		case "zlib":
			w = zlib.NewWriter(&b)
		case "raw":
			w, _ = flate.NewWriter(&b, 6)
		case "br":
			w = brotli.NewWriter(&b)
		case "zstd":
			w, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		}
		io.WriteString(w, s)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		s = b.String()
	}
	return s
}

// answerOf returns a response with a body and its Content-Encoding.
func answerOf(coding, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", coding,
		len(body), body)
}

func TestDecoded(t *testing.T) {
	t.Parallel()
	html := strings.Repeat("<p>Grüße, привет, 你好.</p>\n", 1000)
	n := int64(len(html))
	tests := []struct {
		name, coding, body string
		want               string
		cut                bool
		err                string
	}{
		{"as it is", "", html, html, false, ""},
		{"identity", "identity", html, html, false, ""},
		{"gzip", "gzip", code(t, html, "gzip"), html, false, ""},
		{"in capitals", " GZIP ", code(t, html, "gzip"), html, false, ""},
		{"x-gzip", "x-gzip", code(t, html, "gzip"), html, false, ""},
		{"deflate", "deflate", code(t, html, "zlib"), html, false, ""},
		{"deflate without zlib", "deflate", code(t, html, "raw"), html, false, ""},
		{"br", "br", code(t, html, "br"), html, false, ""},
		{"zstd", "zstd", code(t, html, "zstd"), html, false, ""},
		{"br, then gzip", "br, gzip", code(t, html, "br", "gzip"), html, false, ""},
		{"five", "gzip,br,zstd,gzip,br", code(t, html, "gzip", "br", "zstd", "gzip", "br"), html, false, ""},
		{"six", "gzip,br,zstd,gzip,br,gzip", code(t, html, "gzip", "br", "zstd", "gzip", "br", "gzip"), "", false,
			"6 content codings"},
		{"two members", "gzip", code(t, html[:9], "gzip") + code(t, html[9:], "gzip"), html, false, ""},
		{"bytes behind the last member", "gzip", code(t, html, "gzip") + "more", html, false, ""},
		{"two zstd frames", "zstd", code(t, html[:9], "zstd") + code(t, html[9:], "zstd"), html, false, ""},
		{"gzip that is none", "gzip", html, html, false, ""},
		{"gzip twice that is once", "gzip, gzip", code(t, html, "gzip"), html, false, ""},
		{"br that is none", "br", html, html, false, ""},
		{"br that is text", "br", "Just some text, without markup.", "Just some text, without markup.", false, ""},
		{"zstd that is none", "zstd", html, html, false, ""},
		{"deflate that is none", "deflate", html, html, false, ""},
		{"an empty body", "gzip", "", "", false, ""},
		{"an empty br", "br", code(t, "", "br"), "", false, ""},
		{"cut gzip", "gzip", code(t, html, "gzip")[:60], "", false, "gzip: unexpected EOF"},
		{"broken gzip", "gzip", code(t, html, "gzip")[:30] + strings.Repeat("\xff", 60), "", false, "gzip: "},
		{"broken br", "br", code(t, html, "br")[:20] + strings.Repeat("\xff", 60), "", false, "br: "},
		{"broken zstd", "zstd", code(t, html, "zstd")[:20] + strings.Repeat("\xff", 60), "", false, "zstd: "},
		{"an unknown coding", "rot13", "\x00html", "", false, `content coding "rot13": unknown coding`},
		{"a charset for a coding", "utf-8", html, html, false, ""},
		{"compress", "compress", "\x1f\x9d\x90", "", false, "unknown"},
		{"larger than allowed", "gzip", code(t, html+"x", "gzip"), html, true, ""},
		{"larger than allowed, as it is", "", html + "x", html, true, ""},
		{"larger than allowed in between", "gzip, gzip", code(t, strings.Repeat("\x00", 10<<20), "gzip", "gzip"),
			strings.Repeat("\x00", int(n)), true, ""},
	}
	for _, tt := range tests {
		for _, spill := range []int64{0, 1} {
			t.Run(fmt.Sprintf("%s, spill %d", tt.name, spill), func(t *testing.T) {
				x := do(t, local(t, Options{SpillAt: spill, Spill: spillTo(t.TempDir())}),
					say(t, answerOf(tt.coding, tt.body)).url)
				for range 2 {
					got, cut, err := x.Decoded(n)
					failed := err == nil && tt.err != "" || err != nil &&
						(tt.err == "" || !strings.Contains(err.Error(), tt.err))
					if failed || cut != tt.cut || tt.want != "" && string(got) != tt.want {
						t.Fatalf("got %d bytes %.20q, cut %v, %v; want %d bytes, cut %v, %q", len(got), got, cut, err,
							len(tt.want), tt.cut, tt.err)
					}
				}
				if got, cut, _ := x.Decoded(3); len(got) > 3 || tt.err == "" && len(tt.want) > 3 && !cut {
					t.Errorf("of three bytes got %d, cut %v", len(got), cut)
				}
				if r, n := x.Payload(); all(t, r, n) != tt.body {
					t.Error("the payload is not what came")
				}
			})
		}
	}
}

func TestTransferCodings(t *testing.T) {
	z := code(t, "hello", "gzip")
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(z), z)
	x := do(t, local(t, Options{}), say(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"+chunks).url)
	if b, _, err := x.Decoded(100); string(b) != "hello" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
}

// Decompression bombs are not unpacked beyond the limit, and input that decodes to nothing takes no
// long time either.
func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 16<<20)
	empty := code(t, "", "gzip")
	const most = 1 << 20
	tests := []struct {
		name, coding, body string
	}{
		{"gzip", "gzip", code(t, zeros, "gzip")},
		{"deflate", "deflate", code(t, zeros, "zlib")},
		{"br", "br", code(t, zeros, "br")},
		{"zstd", "zstd", code(t, zeros, "zstd")},
		{"gzip in gzip", "gzip, gzip", code(t, zeros, "gzip", "gzip")},
		{"br in zstd in gzip", "br, zstd, gzip", code(t, zeros, "br", "zstd", "gzip")},
		{"a million empty members", "gzip", strings.Repeat(empty, 1_000_000)},
		{"a million empty members, packed", "gzip, br", code(t, strings.Repeat(empty, 1_000_000), "br")},
		{"empty zstd frames", "zstd", strings.Repeat(code(t, "", "zstd"), 200_000)},
		{"skippable frames", "zstd", strings.Repeat("\x50\x2a\x4d\x18\x00\x00\x00\x00", 200_000)},
		{"a zstd window of 2 GiB", "zstd", "\x28\xb5\x2f\xfd\x00\xa8" + strings.Repeat("\x02\x00\x10a", 1000)},
	}
	c := local(t, Options{SpillAt: 64 << 20})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := do(t, c, say(t, answerOf(tt.coding, tt.body)).url)
			if x.Err != nil {
				t.Fatal(x.Err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			b, cut, err := x.Decoded(most)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if len(b) > most || took > 30*time.Second || after.Sys > before.Sys+64<<20 {
				t.Errorf("%d bytes, cut %v, %v, in %v with %d MiB", len(b), cut, err, took,
					(after.TotalAlloc-before.TotalAlloc)>>20)
			}
			t.Logf("%d of %d bytes, cut %v, %v, in %v with %d KiB", len(b), len(tt.body), cut, err, took,
				(after.TotalAlloc-before.TotalAlloc)>>10)
		})
	}
}
