package hostile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// piece is the content of bombs. It compresses extremely well, and ends with a link that must
// not be read from a page truncated there.
const pieceSize = 16 << 20

var piece = sync.OnceValue(func() []byte { return bytes.Repeat([]byte(" "), pieceSize) })

func packed(wrap func(io.Writer) io.WriteCloser) func() string {
	return sync.OnceValue(func() string {
		var b bytes.Buffer
		w := wrap(&b)
		w.Write([]byte("<title>bomb</title><a href=good>x</a>"))
		w.Write(piece())
		w.Close()
		return b.String()
	})
}

var (
	gzipPiece  = packed(func(w io.Writer) io.WriteCloser { z, _ := gzip.NewWriterLevel(w, 9); return z })
	zlibPiece  = packed(func(w io.Writer) io.WriteCloser { z, _ := zlib.NewWriterLevel(w, 9); return z })
	flatePiece = packed(func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 9); return z })
	brPiece    = packed(func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 5) })
	zstdPiece  = packed(func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z })
)

// coded is a body with a Content-Encoding.
func coded(coding string, body func() string) Answer {
	return func(c *Conn) { c.Reply(200, "Content-Type: text/html\nContent-Encoding: "+coding, body()) }
}

func again(f func(string) string, times int) func(string) string {
	return func(s string) string {
		for range times {
			s = f(s)
		}
		return s
	}
}

func zip(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

// members is a gzip body with many members.
func members(n int) func() string {
	one := zip("")
	return func() string { return zip("<a href=good>x</a>") + rep(one, n) }
}

// undecoded marks a fixture whose first page is archived but failed, since it cannot be
// decoded.
func undecoded(f *Fixture) *Fixture {
	f.Want[""] = failed + "fetch: the body cannot be decoded to its end"
	return f
}

func bombs() []*Fixture {
	bomb := func(name, attack, coding string, body func() string) *Fixture {
		return &Fixture{Line: 6, Name: name, Attack: attack, Pages: map[string]Answer{"": coded(coding, body),
			"good": good}, Want: map[string]string{"": fetched}}
	}
	sitemap := func(name, attack string, a Answer, want string) *Fixture {
		return &Fixture{Line: 6, Name: name, Attack: attack, Pages: map[string]Answer{"": good, "s*": a, "good": good},
			Sitemaps: []string{"s0"}, Want: map[string]string{"s0": want}}
	}
	return []*Fixture{
		undecoded(bomb("gzip-bomb", "gzip: 1 GB in 1 MB, 64 members", "gzip",
			func() string { return rep(gzipPiece(), 64) })),
		undecoded(bomb("zstd-bomb", "zstd: 1 GB in 64 frames", "zstd", func() string { return rep(zstdPiece(), 64) })),
		bomb("br-bomb", "brotli: 16 MB in 50 bytes", "br", brPiece),
		bomb("deflate-bomb", "deflate: 16 MB in 16 KB", "deflate", zlibPiece),
		bomb("raw-deflate-bomb", "deflate without its wrapping", "deflate", flatePiece),
		bomb("nested-gzip", "gzip in gzip in gzip: 16 MB in 300 bytes", "gzip, gzip, gzip",
			func() string { return again(zip, 2)(gzipPiece()) }),
		undecoded(bomb("ten-codings", "ten codings one in the other", rep("gzip, ", 9)+"gzip",
			func() string { return again(zip, 10)("<a href=evil>") })),
		undecoded(bomb("million-members", "a gzip body of a million members", "gzip", members(1_000_000))),
		bomb("mislabelled", "text that claims to be gzip", "gzip",
			func() string { return "<title>plain</title><a href=good>x</a>" }),
		undecoded(bomb("mislabelled-br", "random octets that claim to be brotli", "br",
			func() string { return rep("\x8b\x01\xfe\x77\xa3", 10_000) })),
		undecoded(bomb("cut-gzip", "a gzip body that is cut", "gzip",
			func() string { return zip("<a href=good>x</a>" + noise("cut", 500))[:1000] })),
		undecoded(bomb("unknown-coding", "a coding that nobody knows", "x-evil",
			func() string { return "\x00\x01\x02" + rep("evil", 100) })),
		sitemap("sitemap-bomb", "a sitemap of 1 GB in 1 MB of gzip", func(c *Conn) {
			c.Reply(200, "Content-Type: application/gzip", zip("<?xml version='1.0'?><urlset><url><loc>"+
				c.Server.Origin+c.Dir+"good</loc></url>")+rep(gzipPiece(), 64))
		}, ""),
		sitemap("sitemap-coded-bomb", "a gzip sitemap in a gzip coding, 1 GB", func(c *Conn) {
			c.Reply(200, "Content-Type: application/gzip\nContent-Encoding: gzip", zip(rep(gzipPiece(), 64)))
		}, ""),
		{Line: 6, Name: "sitemap-cycle", Attack: "sitemap indexes in a circle, ever deeper, and of ever new names",
			Most: 1100, Pages: map[string]Answer{"": good, "s*": func(c *Conn) {
				var b strings.Builder
				for i := range 20 {
					fmt.Fprintf(&b, "<sitemap><loc>%s%s-%d</loc></sitemap>", c.Server.Origin, c.Target, i)
				}
				c.Reply(200, "Content-Type: application/xml", "<?xml version='1.0'?><sitemapindex><sitemap><loc>"+
					c.Server.Origin+c.Target+"</loc></sitemap>"+b.String()+"</sitemapindex>")
			}}, Sitemaps: []string{"s0"}, Want: map[string]string{"s0": fetched, "s0-1-1-1-1": unknown},
			Counts: map[string]int{"sitemap: over 1000": 1}},
		sitemap("sitemap-entities", "XML entities that grow a billionfold, external entities, a DTD",
			typed("application/xml",
				`<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e SYSTEM "file:///etc/passwd"><!ENTITY % p SYSTEM "http://HOST/evil.dtd">%p;]><urlset><url><loc>ORIGINDIR&d;&e;</loc></url><url><loc>ORIGINDIRgood</loc></url></urlset>`), ""),
		sitemap("sitemap-deep", "XML, a million tags deep",
			typed("application/xml", "<?xml version='1.0'?><urlset>"+rep("<a>", 1_000_000)), ""),
		sitemap("sitemap-utf16", "a sitemap in UTF-16, one that claims UTF-7",
			typed("application/xml", "\xff\xfe<\x00?\x00x\x00m\x00l\x00?\x00>\x00<\x00u\x00r\x00l\x00s\x00e\x00t\x00>\x00<\x00/\x00u\x00r\x00l\x00s\x00e\x00t\x00>\x00"), ""),
		{Line: 6, Name: "sitemap-huge", Attack: "a sitemap of 500,000 URLs, ten times what is allowed", Heavy: true,
			Most: 3, Pages: map[string]Answer{"": good, "s0": func(c *Conn) {
				var b strings.Builder
				b.WriteString("<?xml version='1.0'?><urlset>")
				for i := range 500_000 {
					fmt.Fprintf(&b, "<url><loc>http://other.invalid/%d</loc></url>", i)
				}
				c.Reply(200, "Content-Type: application/xml", b.String())
			}}, Sitemaps: []string{"s0"}},
	}
}
