package mirror_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"curtsy/internal/testkit/sitetest"
	"curtsy/publish/mirror"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// keep adds a page to an archive as if a crawl had fetched it.
func keep(t *testing.T, dir string, v crawllog.Visit, answer string) crawllog.Record {
	t.Helper()
	a, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	v.N, v.At, v.Status, v.Kept, v.Record = 1, time.Now(), 200, crawllog.KeptResponse,
		&crawllog.Record{ID: warc.NewID()}
	if err := a.Append(&v, func(w io.Writer, infoID string) error {
		h := warc.Header{Type: warc.TypeResponse, ID: v.Record.ID, Date: v.At, TargetURI: v.URL, WarcinfoID: infoID,
			BlockDigest: warc.Sum("", []byte(answer))}
		_, err := w.Write(warc.NewEncoder().Append(nil, &h, warc.Stored, []byte(answer)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(nil); err != nil {
		t.Fatal(err)
	}
	return *v.Record
}

// A page whose HTTP head cannot be parsed is missing in the mirror, and listed as such; a
// damaged record fails the export.
func TestExportWithAHeadThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const lengths = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy"
	s := serve(t, small)
	archive := crawl(t, s)
	keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URL: s.Origin + "/two-lengths", URLID: 1000}, Document: crawllog.Document{ContentType: "text/html", Links: 1}},
		lengths)
	keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URL: s.Origin + "/image", URLID: 1001}, Document: crawllog.Document{ContentType: "image/png"}}, lengths)
	last := keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URL: s.Origin + "/untyped", URLID: 1002}}, "no head at all")
	files := exported(t, s, archive)
	if !strings.Contains(files["index.html"], `<a href="a.html">`) || !strings.Contains(files["a.html"], "home") {
		t.Errorf("the other pages: %q, %q", files["index.html"], files["a.html"])
	}
	for _, path := range []string{"/two-lengths", "/image", "/untyped"} {
		if !incomplete(files, s.Origin+path) {
			t.Errorf("the report does not name %s", path)
		}
	}
	segment := filepath.Join(archive, "warc", last.Segment)
	b, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	b[strings.Index(string(b), "no head at all")] = 'N'
	if err := os.WriteFile(segment, b, 0o644); err != nil {
		t.Fatal(err)
	}
	var damage *storage.DamageError
	if _, err := export(t, s, archive, filepath.Join(t.TempDir(), "out")); !errors.As(err, &damage) {
		t.Errorf("a damaged record: %v", err)
	}
}

// exported mirrors an archive and returns the files.
func exported(t *testing.T, s *sitetest.Site, archive string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	r, err := export(t, s, archive, out)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("%s: %s %s", p.File, p.What, p.Ref)
	}
	return tree(t, out)
}

// incomplete reports whether the report lists a URL as incomplete.
func incomplete(files map[string]string, url string) bool {
	_, section, _ := strings.Cut(files[mirror.ReportFile], ">Incomplete ")
	section, _, _ = strings.Cut(section, "</details>")
	return strings.Contains(section, `href="`+url+`"`)
}

// A body with an error in its coding is a problem of that page alone.
func TestExportWithABodyThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte(strings.Repeat("some text ", 1000)))
	w.Close()
	broken := append(z.Bytes()[:20:20], bytes.Repeat([]byte{0xff}, 200)...)
	s := serve(t, small)
	archive := crawl(t, s)
	for i, v := range []crawllog.Visit{
		{Asked: crawllog.Asked{URL: s.Origin + "/p.png"}, Document: crawllog.Document{ContentType: "image/png"}},
		{Asked: crawllog.Asked{URL: s.Origin + "/p.js"}, Document: crawllog.Document{ContentType: "text/javascript"}},
		{Asked: crawllog.Asked{URL: s.Origin + "/p.css"}, Document: crawllog.Document{ContentType: "text/css"}},
		{Asked: crawllog.Asked{URL: s.Origin + "/p.txt"}, Document: crawllog.Document{ContentType: "text/plain"}},
	} {
		v.URLID = uint64(1000 + i)
		keep(t, archive, v, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"+string(broken))
	}
	files := exported(t, s, archive)
	if !strings.Contains(files["index.html"], `<a href="a.html">`) {
		t.Errorf("the start page: %q", files["index.html"])
	}
	for _, path := range []string{"/p.png", "/p.js", "/p.css", "/p.txt"} {
		if body, ok := files[path[1:]]; !ok || body != "" || !incomplete(files, s.Origin+path) {
			t.Errorf("%s: %v, %q", path, ok, body)
		}
	}
}

// If the coding of a document is broken half-way, the mirror has what could be decoded, and the
// report says that it is not all.
func TestExportWithADocumentThatBreaksOff(t *testing.T) {
	t.Parallel()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte("<!DOCTYPE html><title>half</title>"))
	w.Flush()
	first := z.Len()
	w.Write([]byte(strings.Repeat("<p>the other half", 100)))
	w.Close()
	s := serve(t, small)
	archive := crawl(t, s)
	keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URLID: 1000, URL: s.Origin + "/half.html"}, Document: crawllog.Document{ContentType: "text/html"}},
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"+string(z.Bytes()[:first]))
	files := exported(t, s, archive)
	if !strings.Contains(files["half.html"], "<title>half</title>") || !incomplete(files, s.Origin+"/half.html") {
		t.Errorf("%q; the report names it: %v", files["half.html"], incomplete(files, s.Origin+"/half.html"))
	}
}

// Files without a type keep their name, unless a browser would take them for a page or a server
// would execute them.
func TestExportNamesOctets(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive := crawl(t, s)
	bodies := map[string]string{"/x.tar.gz": "\x1f\x8b\x08\x00octets", "/README": "read me",
		"/v.mp4": "\x00\x00\x00\x18ftypmp42", "/w.mp4": "no film", "/page": "<h1>a</h1>", "/p.html": "<h1>b</h1>",
		"/doc": "<!DOCTYPE html><p>", "/run.php": "<?php x();"}
	n := uint64(1000)
	for path, body := range bodies {
		n++
		keep(t, archive, crawllog.Visit{Asked: crawllog.Asked{URLID: n, URL: s.Origin + path}, Document: crawllog.Document{ContentType: "application/octet-stream"}},
			"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n"+body)
	}
	files := exported(t, s, archive)
	for name, path := range map[string]string{"x.tar.gz": "/x.tar.gz", "README": "/README", "v.mp4": "/v.mp4",
		"w.mp4": "/w.mp4", "doc.html": "/doc", "page.bin": "/page", "p.html.bin": "/p.html",
		"run_php.bin": "/run.php"} {
		if !strings.HasSuffix(files[name], bodies[path]) && name != "doc.html" || files[name] == "" {
			t.Errorf("%s is not %s", name, path)
		}
	}
}

// A page that a repair shows as fetched, or as its scripts left it, stays so; if the page has
// changed since, the next export reports that its scripts run again.
func TestTheNextExportKeepsStillPages(t *testing.T) {
	t.Parallel()
	s := serve(t, "-- / --\n<!DOCTYPE html><title>s</title><a href=/a>a</a><script>1</script>\n-- /a --\n<!DOCTYPE html><title>a</title><script>2</script>")
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	repaired := mirror.Options{Still: func(url string) ([]byte, bool, error) {
		if strings.HasSuffix(url, "/a") {
			return []byte("<!DOCTYPE html><title>a</title><a href=/>as its scripts left it</a>"), true, nil
		}
		return nil, true, nil
	}}
	r, err := exportWith(t, s.Origin, archive, out, repaired)
	if err != nil || r.Still != 2 || r.Moving != 0 {
		t.Fatal(r, err)
	}
	for range 2 { // the choice is kept over more than one export
		if r, err = export(t, s, archive, out); err != nil || r.Still != 2 || r.Moving != 0 {
			t.Fatal(r, err)
		}
		files := tree(t, out)
		if !strings.Contains(files["index.html"], "script-src 'none'") ||
			!strings.Contains(files["a.html"], `<a href="index.html">as its scripts`) {
			t.Errorf("got %q and %q", files["index.html"], files["a.html"])
		}
	}
	name := filepath.Join(out, "mirror-stills.json")
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, bytes.ReplaceAll(text, []byte("sha256:"), []byte("sha256:0")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, err = export(t, s, archive, out); err != nil || r.Moving != 1 || r.Still != 1 {
		t.Error(r, err)
	}
}
