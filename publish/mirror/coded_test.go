package mirror_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"curtsy/crawler/fetch"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// The mirror shows what the crawler decoded, whatever Content-Encoding was claimed.
func TestTheMirrorShowsWhatTheCrawlerRead(t *testing.T) {
	t.Parallel()
	const says = "Привет: это простой текст, а не brotli.\n"
	var z, b, f bytes.Buffer
	zw, bw := gzip.NewWriter(&z), brotli.NewWriter(&b)
	zw.Write([]byte(says))
	zw.Close()
	bw.Write([]byte(says))
	bw.Close()
	fw, err := zstd.NewWriter(&f)
	if err != nil {
		t.Fatal(err)
	}
	fw.Write([]byte(says))
	fw.Close()
	skipped := "\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
	cases := []struct{ says, fields, payload, want string }{
		{"a charset for a coding", "Content-Encoding: utf-8", says, says},
		{"br that is text", "Content-Encoding: br", says, says},
		{"deflate that is text", "Content-Encoding: deflate", says, says},
		{"gzip that is text", "Content-Encoding: gzip", says, says},
		{"br", "Content-Encoding: br", b.String(), says},
		{"a zstd frame behind one to skip", "Content-Encoding: zstd", skipped + f.String(), says},
		{"bytes behind gzip", "Content-Encoding: gzip", z.String() + "more", says},
		{"two members of gzip", "Content-Encoding: gzip", z.String() + z.String(), says + says},
		{"gzip twice that is once", "Content-Encoding: gzip, gzip", z.String(), says},
		{"gzip and none", "Content-Encoding: identity, GZIP, none", z.String(), says},
		{"gzip in the transfer", "Transfer-Encoding: gzip", z.String(), says},
		{"br in a gzip that is none", "Content-Encoding: br, gzip", b.String(), says},
		{"what nobody knows", "Content-Encoding: rot13", "\x00\x01\x02", ""},
		{"six codings", "Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip", z.String(), ""},
	}
	c := fetch.New(fetch.Options{})
	defer c.Close()
	s := serve(t, small)
	archive := crawl(t, s)
	for i, tt := range cases {
		head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n" + tt.fields + "\r\n\r\n"
		u := fmt.Sprintf("%s/%d.txt", s.Origin, i)
		keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URL: u, URLID: uint64(1000 + i)}, Document: crawllog.Document{ContentType: "text/plain"}}, head+tt.payload)
		x, err := c.Replay(weburl.MustParse(u), time.Now(), []byte(head), []byte(tt.payload))
		if err != nil {
			t.Fatal(err)
		}
		if body, _, _ := x.Decoded(1 << 20); string(body) != tt.want {
			t.Errorf("%s: the crawler reads %q, want %q", tt.says, body, tt.want)
		}
		x.Release()
	}
	files := exported(t, s, archive)
	for i, tt := range cases {
		name := fmt.Sprintf("%d.txt", i)
		body, ok := files[name]
		if !ok {
			body = files[name+".bin"]
		}
		if body != tt.want || incomplete(files, s.Origin+"/"+name) != (tt.want == "") {
			t.Errorf("%s: the mirror shows %q, want %q", tt.says, body, tt.want)
		}
	}
}

// The links of a page with an unknown content coding are rewritten.
func TestAPageWithACharsetForACodingIsRewritten(t *testing.T) {
	t.Parallel()
	s := serve(t, "-- / --\n<a href=/a>a</a>\n-- /c --\n<title>c</title>\n-- /a --\nHTTP 200\nContent-Type: text/html\nContent-Encoding: utf-8\n\n<!DOCTYPE html><p>Привет, <a href=/c>c</a>\n")
	if body := exported(t, s, crawl(t, s))["a.html"]; !strings.Contains(body, `Привет, <a href="c.html">c</a>`) {
		t.Errorf("the page is %q", body)
	}
}
