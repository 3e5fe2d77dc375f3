package mirror_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"curtsy/internal/weburl"
	"curtsy/publish/mirror"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// bomb returns a gzip body that is a thousand times as long when decoded.
func bomb(typ, begin string, n int) string {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte(begin))
	w.Write(bytes.Repeat([]byte("aaaaaaaa"), n/8))
	w.Close()
	return "HTTP/1.1 200 OK\r\nContent-Type: " + typ + "\r\nContent-Encoding: gzip\r\n\r\n" + z.String()
}

// Decoded data is bounded like fetched data: a file is cut at max_body, and a document too long
// to be rewritten is copied; both are in the report.
func TestExportBoundsWhatIsDecoded(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive := crawl(t, s)
	keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URLID: 1000, URL: s.Origin + "/long.txt"},
		Document: crawllog.Document{ContentType: "text/plain"}},
		bomb("text/plain", "", 8<<20))
	keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URLID: 1001, URL: s.Origin + "/long.html"},
		Document: crawllog.Document{ContentType: "text/html", Links: 1}},
		bomb("text/html", `<a href="/a">`, 40<<20))
	out := filepath.Join(t.TempDir(), "out")
	r, err := exportWith(t, s.Origin, archive, out, mirror.Options{MaxBody: 5 << 20})
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	files := tree(t, out)
	for name, path := range map[string]string{"long.txt": "/long.txt", "long.html": "/long.html"} {
		if n := len(files[name]); n != 5<<20 || !incomplete(files, s.Origin+path) {
			t.Errorf("%s: %d bytes; the report names it: %v", name, n, incomplete(files, s.Origin+path))
		}
	}
	if !strings.HasPrefix(files["long.html"], `<a href="/a">`) {
		t.Error("long.html was rewritten")
	}
}

// A mirror that would exceed the limit leaves the old one in place.
func TestExportBoundsTheWhole(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	if _, err := export(t, s, archive, out); err != nil {
		t.Fatal(err)
	}
	before := tree(t, out)
	keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URLID: 1000, URL: s.Origin + "/long.txt"},
		Document: crawllog.Document{ContentType: "text/plain"}},
		bomb("text/plain", "", 8<<20))
	_, err := exportWith(t, s.Origin, archive, out, mirror.Options{MaxBytes: 1 << 20})
	var disk *mirror.DiskError
	if !errors.Is(err, mirror.ErrTooMuch) || !errors.As(err, &disk) {
		t.Errorf("got %v", err)
	}
	if after := tree(t, out); len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// exportWith mirrors an archive with options.
func exportWith(t *testing.T, origin, archive, out string, o mirror.Options) (*mirror.Result, error) {
	t.Helper()
	a, err := storage.OpenRead(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	o.Seed, o.Complete = weburl.MustParse(origin+"/"), true
	r, err := mirror.Export(context.Background(), a, out, o)
	return proved(t, out, mirror.Options{}, r, err)
}

// A document over a mebibyte is rewritten to its end, whatever length is stored for its
// payload.
func TestExportOfLongDocuments(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	page := strings.Repeat("a", 3<<20) + `<a href="/a">`
	plain := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page
	for i, c := range []struct {
		name, answer string
		length       int64
	}{{"plain", plain, int64(len(page))}, {"unknown", plain, 0}, {"longer", plain, 1 << 40}, {"coded", bomb("text/html", page, 0), 9000}} {
		keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URLID: 1000 + uint64(i), URL: s.Origin + "/" + c.name},
			Document: crawllog.Document{ContentType: "text/html", Links: 1},
			Payload:  crawllog.Payload{Length: c.length}}, c.answer)
	}
	if _, err := exportWith(t, s.Origin, archive, out, mirror.Options{MaxBytes: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	files := tree(t, out)
	for _, name := range []string{"plain", "unknown", "longer", "coded"} {
		if f := files[name+".html"]; len(f) < len(page) || !strings.HasSuffix(f, `<a href="a.html">`) {
			t.Errorf("%s: %d bytes, not rewritten to the end", name, len(f))
		}
	}
}
