package crawler_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"curtsy/internal/weburl"
	"curtsy/publish/mirror"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Whatever the crawler can parse, everything that reads the archive can too: verify its digest, a
// rebuild its links, and the mirror its page.
func TestOddHeadsReadBackAsTheyWereRead(t *testing.T) {
	long(t)
	const leads = `<p>hello <a href="/b">b</a></p>`
	packed := gzipped(leads)
	for name, answer := range map[string]string{
		"a line without a colon": "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nthis is no field\r\n\r\n" +
			leads,
		"a blank in a name":            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX Powered By: y\r\n\r\n" + leads,
		"NUL in a value":               "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A: a\x00b\r\n\r\n" + leads,
		"a fold":                       "HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n charset=utf-8\r\n\r\n" + leads,
		"a fold behind nothing":        "HTTP/1.1 200 OK\r\n x\r\nContent-Type: text/html\r\n\r\n" + leads,
		"a line of CR alone":           "HTTP/1.1 200 OK\r\nX-A: b\r\n\r\r\nContent-Type: text/html\r\n\r\n" + leads,
		"line feeds alone":             "HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + leads,
		"blanks before the status":     "HTTP/1.1  200\r\nContent-Type: text/html\r\n\r\n" + leads,
		"transfer coding identity":     "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: identity\r\n\r\n" + leads,
		"chunks after identity":        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: identity, chunked\r\n\r\n" + strings.Replace(chunk(leads), "\r", " ;x\r", 1) + "0\r\nA: b\r\n\r\n",
		"chunks of an HTTP/1.0 server": "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n" + leads,
		"a transfer coding":            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: gzip\r\n\r\n" + packed,
		"a transfer coding in chunks":  "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunk(packed) + "0\r\n\r\n",
		"chunks and their length":      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(leads) + "0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a"), "/b": html("the end")})
			s.set("/a", page{serve: func(w http.ResponseWriter, _ *http.Request) {
				c, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				c.Write([]byte(answer))
				c.Close()
			}})
			dir, o := filepath.Join(t.TempDir(), "archive"), options(s.URL+"/")
			crawl(t, dir, o)
			if r := rows(t, dir); r["/a"].Kept != crawllog.KeptResponse || r["/b"].Kept != crawllog.KeptResponse {
				t.Fatalf("/a is %+v, what it leads to %+v", r["/a"], r["/b"])
			}
			out := mirrored(t, s, dir)
			if body, err := os.ReadFile(filepath.Join(out, "a.html")); err != nil ||
				!strings.Contains(string(body), strings.Replace(leads, "/b", "b.html", 1)) {
				t.Errorf("the mirror's page is %q, %v", body, err)
			}
			want := told(t, dir)
			if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
				t.Fatal(err)
			}
			s.forget()
			rebuilt(t, dir, o)
			diff(t, told(t, dir), want)
			crawl(t, dir, o)
			same(t, "requests", s.requests(), nil)
		})
	}
}

// chunk returns s as one chunk.
func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// mirrored exports an archive as a mirror and returns its directory.
func mirrored(t *testing.T, s *site, dir string) string {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	out := filepath.Join(t.TempDir(), "out")
	r, err := mirror.Export(t.Context(), a, out, mirror.Options{Seed: weburl.MustParse(s.URL + "/"), Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("mirror: %+v", p)
	}
	return out
}
