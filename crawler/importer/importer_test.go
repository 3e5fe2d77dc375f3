package importer_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"curtsy/crawler"
	"curtsy/crawler/importer"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/sitetest"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// record makes a WARC record; fields are further header lines.
func record(kind, url, id, block string, fields ...string) string {
	head := "WARC/1.0\r\nWARC-Type: " + kind + "\r\nWARC-Target-URI: " + url + "\r\nWARC-Record-ID: <urn:uuid:" +
		uuid(id) + ">\r\n"
	date := "WARC-Date: 2019-01-02T03:04:05Z"
	for _, f := range fields {
		if strings.HasPrefix(f, "WARC-Date:") {
			date = f
			continue
		}
		head += f + "\r\n"
	}
	return head + date + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(block)) + block + "\r\n\r\n"
}

func uuid(n string) string { return fmt.Sprintf("00000000-0000-4000-8000-%012s", n) }

func page(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

const http = "Content-Type: application/http; msgtype=response"

func compressed(records ...string) []byte {
	var b bytes.Buffer
	for _, r := range records {
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, r)
		z.Close()
	}
	return b.Bytes()
}

type imported struct {
	t        *testing.T
	dir      string
	result   *importer.Result
	refusals []importer.Refusal
	link     bool
	stdin    string
}

// imports imports files into an archive, which is then checked.
func imports(t *testing.T, dir string, files ...string) *imported {
	t.Helper()
	i := &imported{t: t, dir: dir}
	if err := i.run(t.Context(), func(importer.Progress) {}, files...); err != nil {
		t.Fatal(err)
	}
	return i
}

func (i *imported) run(ctx context.Context, watch func(importer.Progress), files ...string) error {
	refused := func(r importer.Refusal) { i.refusals = append(i.refusals, r) }
	sources, err := importer.Sources(files, strings.NewReader(i.stdin), refused)
	if err != nil {
		i.t.Fatal(err)
	}
	o := crawler.Options{Seed: weburl.MustParse("http://h.example/"),
		Remembered: crawler.Remembered{Settings: map[string]any{"Proxy": "archived"}}}
	i.result, err = importer.Import(ctx, i.dir, sources, importer.Options{Crawl: o, Refused: refused, Watch: watch,
		Link: i.link})
	a, failed := storage.OpenRead(i.dir)
	if failed != nil {
		i.t.Fatal(failed)
	}
	defer a.Close()
	report, failed := a.Verify(nil)
	if failed != nil || len(report.Problems) > 0 {
		i.t.Fatalf("%v, %+v", failed, report.Problems)
	}
	return err
}

// body returns the payload of the last capture of a URL.
func (i *imported) body(url string) string {
	a, err := storage.OpenRead(i.dir)
	if err != nil {
		i.t.Fatal(err)
	}
	defer a.Close()
	visits := a.VisitsAt(url)
	if len(visits) == 0 {
		return "none"
	}
	v := visits[len(visits)-1]
	if !v.HasBody() {
		return v.Kept
	}
	r, err := a.Response(v)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	coding := r.Header.Get("Content-Encoding")
	return strings.Join(strings.Fields(fmt.Sprint(r.Status, " ", coding)), " ") + " " + string(b)
}

func write(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRecords(t *testing.T) {
	const u = "http://h.example/p"
	coded := string(compressed("text"))
	get := "GET /p HTTP/1.1\r\nHost: h.example\r\n\r\n"
	for _, test := range []struct {
		name    string
		records []string
		url     string // whose capture is read; "" is u
		want    string
		refused string
	}{
		{"a response", []string{record("response", u, "1", page("text"), http)}, "", "200 text", ""},
		{"URL in brackets, as wget writes it", []string{record("response", "<"+u+">", "1", page("text"), http)}, "",
			"200 text", ""},
		{"URL in another form", []string{record("response", "HTTP://H.example:80/a/../p#x", "1", page("text"), http)},
			"", "200 text", ""},
		{"request before", []string{record("request", u, "2", get), record("response", u, "1", page("text"), http,
			"WARC-Concurrent-To: <urn:uuid:"+uuid("2")+">")}, "", "200 text", ""},
		{"a resource", []string{record("resource", u, "1", "text", "Content-Type: text/html")}, "", "200 text", ""},
		{"a conversion alone", []string{record("conversion", u, "1", "text", "Content-Type: text/plain")}, "",
			"200 text", ""},
		{"a conversion of what is here", []string{record("response", u, "1", page("page"), http),
			record("conversion", u, "2", "text", "Content-Type: text/plain")}, "", "200 page", ""},
		{"HTTP/2", []string{record("response", u, "1", "HTTP/2 200\r\ncontent-type: text/html\r\n\r\ntext", http)}, "",
			"200 text", ""},
		{"HTTP/3 with words", []string{record("response", u, "1",
			"HTTP/3 200 fine\r\ncontent-type: text/html\r\n\r\ntext", http)}, "", "200 text", ""},
		{"chunks", []string{record("response", u, "1",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\n\r\n", http)}, "", "200 text", ""},
		{"chunks undone", []string{record("response", u, "1",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ntext", http)}, "", "200 text", ""},
		{"gzip undone", []string{record("response", u, "1", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\ntext",
			http)}, "", "200 text", ""},
		{"gzip in chunks", []string{record("response", u, "1",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"+
				fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(coded), coded), http)}, "", "200 gzip " + coded, ""},
		{"gzip in chunks undone", []string{record("response", u, "1",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n4\r\ntext\r\n0\r\n\r\n",
			http)}, "", "200 text", ""},
		{"two lengths", []string{record("response", u, "1",
			"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 9\r\n\r\ntext", http)}, "", "200 text", ""},
		{"an answer to POST", []string{record("response", u, "1", page("posted"), http),
			record("request", u, "2", "POST /p HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=b",
				"WARC-Concurrent-To: <urn:uuid:"+uuid("1")+">")},
			u + "?__wb_method=POST&a=b", "200 posted", ""},
		{"an answer to HEAD", []string{record("response", u, "1", page("")), record("request", u, "2",
			"HEAD /p HTTP/1.1\r\n\r\n", "WARC-Concurrent-To: <urn:uuid:"+uuid("1")+">")}, "", "none", ""},
		{"noarchive", []string{record("response", u, "1", page("<meta name=robots content=noarchive>secret"), http)},
			"", "withheld", ""},
		{"noarchive in the head", []string{record("response", u, "1",
			"HTTP/1.1 200 OK\r\nX-Robots-Tag: noarchive\r\nContent-Type: image/png\r\n\r\nsecret", http)}, "",
			"withheld", ""},
		{"revisit by id", []string{record("response", "http://h.example/o", "1", page("text"), http),
			record("revisit", u, "2", "HTTP/1.1 200 OK\r\n\r\n", "WARC-Refers-To: <urn:uuid:"+uuid("1")+">",
				"WARC-Refers-To-Target-URI: http://h.example/o")}, "", "200 text", ""},
		{"revisit by URL and date", []string{record("response", "http://h.example/o", "1", page("text"), http),
			record("revisit", u, "2", "HTTP/1.1 200 OK", "WARC-Refers-To-Date: 2019-01-02T03:04:05Z",
				"WARC-Refers-To-Target-URI: http://h.example/o")}, "", "200 text", ""},
		{"revisit by digest of another URL", []string{record("response", "http://h.example/o", "1", page("text"), http,
			"WARC-Payload-Digest: sha1:G4XKBDFLGPTRYAWGKHN4QOSHJUZMM5XK"),
			record("revisit", u, "2", "HTTP/1.1 200 OK\r\n\r\n",
				"WARC-Payload-Digest: sha1:G4XKBDFLGPTRYAWGKHN4QOSHJUZMM5XK")}, "", "200 text", ""},
		{"revisit without a head", []string{record("response", "http://h.example/o", "1", page("text"), http),
			record("revisit", u, "2", "", "WARC-Refers-To-Date: 2019-01-02T03:04:05Z",
				"WARC-Refers-To-Target-URI: http://h.example/o")}, "", "200 text", ""},
		{"revisit before its original", []string{record("revisit", u, "2", "HTTP/1.1 200 OK\r\n\r\n",
			"WARC-Refers-To: <urn:uuid:"+uuid("1")+">", "WARC-Refers-To-Target-URI: http://h.example/o"),
			record("response", "http://h.example/o", "1", page("text"), http)}, "", "200 text", ""},
		{"revisit of nothing", []string{record("revisit", u, "2", "HTTP/1.1 200 OK\r\n\r\n",
			"WARC-Refers-To: <urn:uuid:"+uuid("1")+">")}, "", "none", "not in the archive"},
		{"older after newer", []string{record("response", u, "1", page("new"), http, "WARC-Date: 2020-01-01T00:00:00Z"),
			record("response", u, "2", page("old"), http)}, "", "200 new", ""},
		{"urn:", []string{record("resource", "urn:pageinfo:"+u, "1", "{}")}, "", "none", ""},
		{"another block digest", []string{record("response", u, "1", page("text"), http,
			"WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")}, "", "200 text", "block digest"},
		{"another payload digest", []string{record("response", u, "1", page("text"), http,
			"WARC-Payload-Digest: sha256:"+strings.Repeat("0", 64))}, "", "200 text", "payload digest"},
		{"an unknown digest", []string{record("response", u, "1", page("text"), http, "WARC-Block-Digest: blake3:zzz")},
			"", "200 text", ""},
		{"no date", []string{record("response", u, "1", page("text"), http, "WARC-Date: yesterday")}, "", "none",
			"no WARC-Date"},
		{"a date to come", []string{record("response", u, "1", page("text"), http, "WARC-Date: 9999-01-02T03:04:05Z")},
			"", "none", "cannot be right"},
		{"a date before the web", []string{record("response", u, "1", page("text"), http,
			"WARC-Date: 0001-01-02T03:04:05Z")}, "", "none", "cannot be right"},
		{"no URL", []string{record("response", "http://[::1/p", "1", page("text"), http)}, "", "none",
			"not a valid URL"},
		{"a URL of 1 MB", []string{record("response", u+strings.Repeat("x", 900_000), "1", page("text"), http)}, "",
			"none", "longer than"},
		{"no HTTP head", []string{record("response", u, "1", "text", http)}, "", "none", "no HTTP head"},
		{"no status", []string{record("response", u, "1", "HTTP/1.1 OK\r\n\r\ntext", http)}, "", "none", "status line"},
		{"a head of 3 MB", []string{record("response", u, "1", "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 3<<20)+
			"\r\n\r\ntext", http)}, "", "none", "HTTP head"},
		{"20,000 fields", []string{record("response", u, "1", "HTTP/1.1 200 OK\r\n"+strings.Repeat("X: x\r\n", 20_000)+
			"\r\ntext", http)}, "", "none", "header lines"},
		{"line ends in fields", []string{record("response", u, "1", page("text"), http,
			"WARC-Protocol: a\rWARC-Type: warcinfo")}, "", "200 text", ""},
		{"controls in the id", []string{record("response", u, "\x01\x02", page("text"), http)}, "", "200 text", ""},
		{"more than is held in memory", []string{record("response", u, "1", page(strings.Repeat("x", 5<<20)), http)},
			"", "200 " + strings.Repeat("x", 5<<20), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			good := record("response", "http://h.example/good", "9", page("good"), http)
			i := imports(t, t.TempDir(), write(t, compressed(append(test.records, good)...)))
			url := test.url
			if url == "" {
				url = u
			}
			if got := i.body(url); got != test.want {
				t.Errorf("got %.200q, want %.200q", got, test.want)
			}
			if got := i.body("http://h.example/good"); got != "200 good" {
				t.Errorf("the record behind it: %q", got)
			}
			if n := len(i.refusals); (n == 0) != (test.refused == "") || n > 0 &&
				!strings.Contains(i.refusals[0].What, test.refused) {
				t.Errorf("refused: %.300v, want %q", i.refusals, test.refused)
			}
		})
	}
}

func TestARevisitWaitsForItsOriginal(t *testing.T) {
	revisit := write(t, compressed(record("revisit", "http://h.example/p", "2", "HTTP/1.1 200 OK\r\n\r\n",
		"WARC-Refers-To-Date: 2019-01-02T03:04:05Z", "WARC-Refers-To-Target-URI: http://h.example/o")))
	original := write(t, compressed(record("response", "http://h.example/o", "1", page("text"), http)))
	dir := t.TempDir()
	i := imports(t, dir, revisit)
	if i.body("http://h.example/p") != "none" || i.result.Later != 1 || len(i.refusals) != 1 {
		t.Errorf("before: %+v, %v", i.result, i.refusals)
	}
	if i = imports(t, dir, original); i.body("http://h.example/p") != "200 text" || i.result.Revisits != 1 {
		t.Errorf("after: %q, %+v", i.body("http://h.example/p"), i.result)
	}
}

// A block too large for memory is spilled to a file, which is closed if the block ends early.
func TestABlockThatEndsEarlyLeavesNoOpenFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc tells which files are open on Linux alone")
	}
	whole := record("response", "http://h.example/large", "1", page(strings.Repeat("x", 6<<20)), http)
	file, dir := write(t, []byte(whole[:5<<20])), t.TempDir()
	i := &imported{t: t, dir: dir}
	if err := i.run(t.Context(), func(importer.Progress) {}, file); err != nil || len(i.refusals) == 0 {
		t.Errorf("%v, %v: want a record that is refused", err, i.refusals)
	}
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(open) == 0 {
		t.Fatal(open, err)
	}
	for _, fd := range open {
		if name, _ := os.Readlink(fd); strings.HasPrefix(name, dir) {
			t.Errorf("%s is open still", name)
		}
	}
}

// TestLinksAreReadLater: an import reads only a page's metadata; its links are read when the crawl
// continues.
func TestLinksAreReadLater(t *testing.T) {
	text := "<head><meta charset=utf-8><title>T</title><meta name=robots content=noindex></head>" +
		"<body><a href=/next>n</a>" +
		strings.Repeat("words enough to be a page ", 100)
	dir := t.TempDir()
	imports(t, dir, write(t, compressed(record("response", "http://h.example/p", "1", page(text), http))))
	look := func() (queued int, v *crawllog.Visit) {
		a, err := storage.OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		f, err := a.Frontier()
		if err != nil {
			t.Fatal(err)
		}
		return f.Counts().Queued(), a.VisitsAt("http://h.example/p")[0]
	}
	before, v := look()
	if v.Title != "T" || v.Body != crawllog.BodyWhole || v.Directives == nil || v.Links == 0 {
		t.Errorf("imported: %+v", v)
	}
	given := struct{ Proxy string }{"given"} // a stranger's archive may name any proxy
	o := crawler.Options{Seed: weburl.MustParse("http://h.example/"), Remembered: crawler.Remembered{Settings: &given}}
	for _, want := range []int{1, 0} {
		if n, err := rebuild.ReadLinks(t.Context(), dir, o); n != want || err != nil {
			t.Errorf("read the links of %d, %v, want %d", n, err, want)
		}
	}
	if given.Proxy != "given" {
		t.Errorf("the archive's settings are in those that were given: %+v", given)
	}
	after, w := look()
	if w.Title != v.Title || w.Body != v.Body || !reflect.DeepEqual(w.Directives, v.Directives) || w.Links != 1 ||
		after != before+1 {
		t.Errorf("then: %+v; queued %d, before %d", w, after, before)
	}
}

// TestBeside: requests and metadata are imported with their response wherever in the file they are:
// copied or linked, compressed or not, and when the import was interrupted between them.
func TestBeside(t *testing.T) {
	of := func(id string) string { return "WARC-Concurrent-To: <urn:uuid:" + uuid(id) + ">" }
	digest := func(block string) string { return "WARC-Block-Digest: " + warc.Sum("sha1:", []byte(block)) }
	response := func(id string, fields ...string) string {
		block := page("page " + id)
		return record("response", "http://h.example/"+id, id, block, append(fields, http, digest(block))...)
	}
	request := func(id, of string, fields ...string) string {
		block := "GET /" + of + " HTTP/1.1\r\n\r\n"
		return record("request", "http://h.example/"+of, id, block, append(fields, digest(block))...)
	}
	metadata := func(id string, fields ...string) string {
		block := "via: http://h.example/from" + id + "\r\n"
		return record("metadata", "http://h.example/", id, block, append(fields, digest(block))...)
	}
	var many []string
	for n := range 12 {
		many = append(many, response(fmt.Sprint(100+n)))
	}
	between := strings.Join(many, "\x00")
	for name, c := range map[string]struct {
		records string
		want    string // the records of capture 1, then of capture 2
	}{
		"wget: the request, then the response, which names it": {
			request("11", "1") + "\x00" + response("1", of("11")) + "\x00" + request("12", "2") + "\x00" +
				response("2", of("12")), "response 1, request 11; response 2, request 12"},
		"both requests, then both responses": {
			request("11", "1", of("1")) + "\x00" + request("12", "2", of("2")) + "\x00" + response("1") + "\x00" +
				response("2"), "response 1, request 11; response 2, request 12"},
		"both responses, then both requests": {
			response("1") + "\x00" + response("2") + "\x00" + request("12", "2", of("2")) + "\x00" +
				request("11", "1", of("1")), "response 1, request 11; response 2, request 12"},
		"metadata that names the request, both before": {
			metadata("21", of("11")) + "\x00" + request("11", "1", of("1")) + "\x00" + response("1") + "\x00" +
				response("2"), "response 1, metadata 21, request 11; response 2"},
		"several, far apart": {
			request("11", "1", of("1")) + "\x00" + metadata("21", of("2")) + "\x00" + between + "\x00" + response("1") +
				"\x00" + response("2", of("13"), of("14")) + "\x00" + response("201") + "\x00" + response("202") + "\x00" + request("13", "2") +
				"\x00" + request("14", "2") + "\x00" + metadata("22", of("1")),
			"response 1, request 11, metadata 22; response 2, metadata 21, request 13, request 14"},
		"by the URL alone, side by side": {
			request("11", "1") + "\x00" + response("1") + "\x00" + response("2") + "\x00" + request("12", "2"),
			"response 1, request 11; response 2, request 12"},
		"not by the URL alone over other responses": {
			request("11", "1") + "\x00" + response("2") + "\x00" + response("1"), "response 1; response 2"},
	} {
		records := strings.Split(c.records, "\x00")
		for form, file := range map[string][]byte{
			"gzip": compressed(records...), "plain": []byte(strings.Join(records, "")),
			"one gzip stream": compressed(strings.Join(records, ""))} {
			for _, link := range []bool{false, true} {
				i := &imported{t: t, dir: t.TempDir(), link: link}
				path, n := write(t, file), 0
				ctx, stop := context.WithCancel(t.Context())
				err := i.run(ctx, func(importer.Progress) {
					if n++; n == len(records)/2+1 {
						stop()
					}
				}, path)
				if err == nil && len(records) > 2 {
					t.Fatal("it was not interrupted")
				}
				if err := i.run(t.Context(), func(importer.Progress) {}, path); err != nil {
					t.Fatal(err)
				}
				got := i.recordsOf("http://h.example/1") + "; " + i.recordsOf("http://h.example/2")
				if got != c.want {
					t.Errorf("%s, %s, link %v: %s, want %s", name, form, link, got, c.want)
				}
				counts := i.result.Counts
				if counts.Records != len(records) || link && form != "one gzip stream" && counts.Linked != counts.Kept {
					t.Errorf("%s, %s, link %v: %+v of %d records", name, form, link, counts, len(records))
				}
			}
		}
	}
}

// recordsOf lists type and id of the records of a URL's first capture, without those curtsy added.
func (i *imported) recordsOf(url string) string {
	a, err := storage.OpenRead(i.dir)
	if err != nil {
		i.t.Fatal(err)
	}
	defer a.Close()
	v := a.VisitsAt(url)[0]
	f, err := a.OpenSegment(v.Record.Segment)
	if err != nil {
		i.t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	for _, x := range v.Record.Extents() {
		if _, err := warc.CopyMembers(&b, f, x.Offset, x.Length); err != nil {
			i.t.Fatal(err)
		}
	}
	var list []string
	for w := warc.NewReader(&b, 0); ; {
		w.Any = true
		h, err := w.Next()
		if err == io.EOF {
			return strings.Join(list, ", ")
		}
		if err != nil {
			i.t.Fatal(err)
		}
		if id := strings.TrimLeft(strings.TrimPrefix(h.ID, "urn:uuid:00000000-0000-4000-8000-"), "0"); len(id) < 13 {
			list = append(list, h.Type+" "+id)
		}
	}
}

// TestHops: the path on which Heritrix found a URL is kept, in curtsy's metadata record and with the
// URL.
func TestHops(t *testing.T) {
	response := record("response", "http://h.example/s.css", "1", page("x"), http)
	i := imports(t, t.TempDir(), write(t, compressed(response, record("metadata", "http://h.example/s.css", "2",
		"via: http://h.example/a\r\nhopsFromSeed: LRE\r\nfetchTimeMs: 7\r\n",
		"WARC-Concurrent-To: <urn:uuid:"+uuid("1")+">", "Content-Type: application/warc-fields"))))
	a, err := storage.OpenRead(i.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	f, err := a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Find(weburl.MustParse("http://h.example/s.css"))
	if err != nil || len(found) != 1 || found[0].How != "imported, hop E" || found[0].Depth != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	v := a.VisitsAt("http://h.example/s.css")[0]
	file, err := a.OpenSegment(v.Record.Segment)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := warc.NewReader(io.NewSectionReader(file, v.Record.Offset, v.Record.Length), 0)
	for range 3 {
		if _, err = w.Next(); err != nil {
			t.Fatal(err)
		}
	}
	block, err := io.ReadAll(w)
	if err != nil || !strings.Contains(string(block), "hopsFromSeed: LRE\r\n") || !strings.Contains(string(block), "curtsy-visit") {
		t.Errorf("%s, %v", block, err)
	}
}

// TestPoorerCapture: a capture that is not the page (empty, a redirect to the home page or a login, or
// one that curtsy marked) does not replace a better one, just as in a crawl, in any order of the files.
func TestPoorerCapture(t *testing.T) {
	at := func(day int) string { return fmt.Sprintf("WARC-Date: 2019-01-%02dT03:04:05Z", day) }
	text := page("<title>T</title>" + strings.Repeat("words enough to be a page ", 100))
	led := func(to string) string {
		return "HTTP/1.1 302 Found\r\nLocation: " + to + "\r\nContent-Length: 0\r\n\r\n"
	}
	var good, later []string
	want := map[string]string{"empty": revisit.Empty, "home": revisit.ToHome, "login": revisit.ToLogin,
		"noted": revisit.SameBody, "odd": "", "moved": "", "other": revisit.ToHome}
	for i, name := range slices.Sorted(maps.Keys(want)) {
		url, id := "http://h.example/"+name, fmt.Sprint(i+1)
		answer := map[string]string{"empty": page(""), "home": led("/"), "login": led("/login?to=p"), "moved": led("/new"),
			"other": led("http://o.example/")}[name]
		if name == "other" {
			url = "http://o.example/" + name
		}
		if answer == "" {
			answer = page("sorry")
		}
		good = append(good, record("response", url, id, text, http, at(1)))
		later = append(later, record("response", url, "5"+id, answer, http, at(2)))
		if said := map[string]string{"noted": revisit.SameBody, "odd": "made up"}[name]; said != "" {
			later = append(later, record("metadata", url, "6"+id, `curtsy-visit: {"suspect":"`+said+`"}`+"\r\n", at(2),
				"WARC-Concurrent-To: <urn:uuid:"+uuid("5"+id)+">", "Content-Type: application/warc-fields"))
		}
	}
	files := []string{write(t, compressed(good...)), write(t, compressed(later...))}
	for range 2 {
		dir := t.TempDir()
		imports(t, dir, files[0])
		imports(t, dir, files[1])
		a, err := storage.OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		for name, want := range want {
			host := "h"
			if name == "other" {
				host = "o"
			}
			visits := a.VisitsAt("http://" + host + ".example/" + name)
			if len(visits) != 2 || visits[0].Suspect != "" || visits[1].Suspect != want {
				t.Errorf("%s: %d visits, want the second %q: %+v", name, len(visits), want, visits)
			}
		}
		slices.Reverse(files)
	}
}

// A file in which nothing can be read does not make the crawl count as ended.
func TestNothingImported(t *testing.T) {
	_, seed := crawltest.Site(t, "-- / --\n<title>A</title><a href=/b>\n-- /b --\n<title>B</title>\n")
	dir := t.TempDir()
	crawltest.Archive(t, dir, seed)
	ended := func() string {
		a, err := storage.OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		var s status.State
		if _, err := a.Crawl(&s); err != nil {
			t.Fatal(err)
		}
		return s.Ended
	}
	before := ended()
	imports(t, dir, write(t, []byte("no WARC at all")))
	if after := ended(); after != before || after == "imported" {
		t.Errorf("ended %q, before the import %q", after, before)
	}
}

// TestBesideChanged: in a file without checksums, verify also checks the record before a response.
func TestBesideChanged(t *testing.T) {
	ask, answer := "GET /p HTTP/1.1\r\n\r\n", page("text")
	digest := func(block string) string { return "WARC-Block-Digest: " + warc.Sum("sha1:", []byte(block)) }
	file := record("request", "http://h.example/p", "2", ask, digest(ask)) +
		record("response", "http://h.example/p", "1", answer, http, digest(answer)) +
		record("response", "http://h.example/bare", "3", page("bare"), http)
	i := &imported{t: t, dir: t.TempDir(), link: true}
	path := write(t, []byte(file))
	if err := i.run(t.Context(), func(importer.Progress) {}, path); err != nil {
		t.Fatal(err)
	}
	if c := i.result.Counts; c.Kept != 2 || c.Linked != 1 { // the record without a digest is not linked
		t.Errorf("%+v", c)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(file, "GET", "PUT", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := storage.OpenRead(i.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	report, err := a.Verify(nil)
	if err != nil || len(report.Problems) != 1 || !strings.Contains(report.Problems[0].What, "changed since it was linked") {
		t.Errorf("%v, %+v", err, report.Problems)
	}
}

// TestLink: records are referenced in place, the file is never written to, and a change to the file
// is reported.
func TestLink(t *testing.T) {
	path, dir := write(t, compressed(
		record("request", "http://h.example/p", "2", "GET /p HTTP/1.1\r\n\r\n",
			"WARC-Concurrent-To: <urn:uuid:"+uuid("1")+">"),
		record("response", "<http://h.example/p>", "1", page("text"), http),
		record("response", "http://h.example/secret", "3", "HTTP/1.1 200 OK\r\nX-Robots-Tag: noarchive\r\n\r\nhush",
			http),
		record("response", "http://h.example/two", "4", "HTTP/2 200\r\nContent-Type: text/html\r\n\r\nsecond", http),
		record("response", "http://h.example/bad", "5", page("x"), http,
			"WARC-Block-Digest: sha1:"+strings.Repeat("A", 32)),
		record("response", "http://h.example/none", "6", "garbage", http))), t.TempDir()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := &imported{t: t, dir: dir, link: true}
	if err := i.run(t.Context(), func(importer.Progress) {}, path); err != nil {
		t.Fatal(err)
	}
	c := i.result.Counts
	if c.Kept != 3 || c.Linked != 1 || c.Withheld != 1 || c.Refused != 1 {
		t.Errorf("%+v", c)
	}
	want := map[string]string{"p": "200 text", "secret": "withheld", "two": "200 second", "bad": "200 x"}
	check := func(where string) {
		t.Helper()
		for name, body := range want {
			if got := i.body("http://h.example/" + name); got != body {
				t.Errorf("%s: %s is %q, want %q", where, name, got, body)
			}
		}
	}
	check("linked")
	moved := filepath.Join(t.TempDir(), "moved.warc.gz")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	problems := func() (list []string) {
		a, err := storage.OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		report, err := a.Verify(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range report.Problems {
			list = append(list, p.File+": "+p.What)
		}
		if len(report.Damaged) > 0 {
			t.Errorf("a repair would discard %v", report.Damaged)
		}
		return list
	}
	if list := problems(); len(list) != 1 || !strings.Contains(list[0], path+": cannot be read") {
		t.Errorf("moved: %q", list)
	}
	if err := i.run(t.Context(), func(importer.Progress) {}, moved); err != nil || !i.result.Files[0].Before {
		t.Errorf("linked anew: %v, %+v", err, i.result)
	}
	check("linked anew")
	for what, change := range map[string]func([]byte) []byte{
		"when it was linked":          func(b []byte) []byte { return b[:len(b)-100] },
		"changed since it was linked": func(b []byte) []byte { b[300] ^= 1; return b },
	} {
		if err := os.WriteFile(moved, change(bytes.Clone(before)), 0o600); err != nil {
			t.Fatal(err)
		}
		if list := problems(); len(list) == 0 || !strings.Contains(strings.Join(list, "\n"), what) {
			t.Errorf("%s: %q", what, list)
		}
	}
	if err := os.WriteFile(moved, before, 0o400); err != nil {
		t.Fatal(err)
	}
	a, err := storage.Open(dir, storage.Options{Mend: true})
	if err != nil {
		t.Fatal(err)
	}
	if said, err := a.Salvage(nil, nil); len(said) > 0 || err != nil {
		t.Errorf("salvaged %q, %v", said, err)
	}
	a.Close()
	check("salvaged")
	if now, err := os.ReadFile(moved); err != nil || !bytes.Equal(now, before) {
		t.Errorf("the file is another: %v", err)
	}
}

// TestStoppedAnywhere stops an import at every record: the next one continues, and the result equals
// that of an uninterrupted import.
func TestStoppedAnywhere(t *testing.T) {
	var records []string
	for n := range 40 {
		url := fmt.Sprintf("http://h.example/%d", n%30)
		records = append(records, record("request", url, fmt.Sprint(100+n), "GET / HTTP/1.1\r\n\r\n"),
			record("response", url, fmt.Sprint(n+1), page(fmt.Sprint("page ", n)), http,
				fmt.Sprintf("WARC-Date: 2019-01-02T03:04:%02dZ", n)))
	}
	for name, file := range map[string][]byte{"members": compressed(records...),
		"whole": compressed(strings.Join(records, ""))} {
		t.Run(name, func(t *testing.T) {
			path := write(t, file)
			want := urls(t, imports(t, t.TempDir(), path).dir)
			i := &imported{t: t, dir: t.TempDir()}
			for stop := 1; ; stop += 7 {
				ctx, cancel := context.WithCancel(t.Context())
				n := 0
				err := i.run(ctx, func(importer.Progress) {
					if n++; n == stop {
						cancel()
					}
				}, path)
				cancel()
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) || stop > 1000 {
					t.Fatal(err)
				}
			}
			if got := urls(t, i.dir); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
			if again := imports(t, i.dir, path); !again.result.Files[0].Before || again.result.Kept != 40 {
				t.Errorf("once more: %+v", again.result)
			}
		})
	}
}

// TestStoppedBehindACircle: redirects in a circle are failures also if the import was stopped after it
// had read them.
func TestStoppedBehindACircle(t *testing.T) {
	var records []string
	for n := range 300 {
		block := page(fmt.Sprint("page ", n))
		if n < 2 {
			block = fmt.Sprintf("HTTP/1.1 301 Moved\r\nLocation: /%d\r\nContent-Length: 0\r\n\r\n", 1-n)
		}
		records = append(records, record("response", fmt.Sprintf("http://h.example/%d", n), fmt.Sprint(n+1), block, http))
	}
	path := write(t, compressed(records...))
	i := &imported{t: t, dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := i.run(ctx, func(p importer.Progress) {
		if p.URLs > 0 {
			cancel()
		}
	}, path)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("not stopped: %v", err)
	}
	imports(t, i.dir, path)
	a, err := storage.OpenRead(i.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	f, err := a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []frontier.State{frontier.StateFailed, frontier.StateFailed, frontier.StateFetched} {
		found, err := f.Find(weburl.MustParse(fmt.Sprintf("http://h.example/%d", n)))
		if err != nil || len(found) != 1 || found[0].State != want {
			t.Errorf("/%d: %+v, %v, want %v", n, found, err, want)
		}
	}
}

// urls lists the visits of an archive.
func urls(t *testing.T, dir string) string {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var b strings.Builder
	if err := sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		fmt.Fprintln(&b, v.URL, v.N, v.At, v.Digest, v.Status, v.Class, v.Title)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// waczOf makes a WACZ file of the given files.
func waczOf(t *testing.T, files map[string][]byte) string {
	t.Helper()
	return write(t, zipped(files))
}

// zipped makes a zip in which files that are compressed already are stored.
func zipped(files map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		isStored := strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".wacz")
		w, _ := z.CreateHeader(&zip.FileHeader{Name: name, Method: map[bool]uint16{true: zip.Store,
			false: zip.Deflate}[isStored]}) // writing to a buffer cannot fail
		_, _ = w.Write(content)
	}
	_ = z.Close()
	return b.Bytes()
}

func inner(warc []byte) []byte { return zipped(map[string][]byte{"archive/data.warc.gz": warc}) }

func TestWACZ(t *testing.T) {
	good := record("response", "http://h.example/p", "1", page("text"), http)
	for _, test := range []struct {
		name    string
		files   map[string][]byte
		want    string
		refused string
	}{
		{"stored", map[string][]byte{"archive/data.warc.gz": compressed(good),
			"pages/pages.jsonl": []byte("{}\n{\"url\":\"http://h.example/first\"}\n")}, "200 text", ""},
		{"deflated", map[string][]byte{"archive/data.warc": []byte(good)}, "200 text", ""},
		{"names that lead out", map[string][]byte{"archive/../../../evil.warc.gz": compressed(good), "../evil": nil,
			"/etc/evil.warc.gz": nil}, "200 text", ""},
		{"a zip in it", map[string][]byte{"archive/data.warc.gz": compressed(good),
			"archive/more.warc.zip": []byte("PK\x03\x04")}, "200 text", "not a WARC file"},
		{"no archive", map[string][]byte{"index.html": nil}, "", "no WARC file"},
		{"several in one", map[string][]byte{"a.wacz": inner(compressed(good)), "b.wacz": inner(compressed(good))},
			"200 text", ""},
		{"several in one, one of them none", map[string][]byte{"a.wacz": inner(compressed(good)),
			"b.wacz": []byte("PK")}, "", "b.wacz: "},
		{"deeper than one", map[string][]byte{"a.wacz": zipped(map[string][]byte{"b.wacz": inner(compressed(good))})},
			"", "no WARC file"},
	} {
		path := waczOf(t, test.files)
		i := &imported{t: t, dir: t.TempDir()}
		sources, err := importer.Sources([]string{path}, nil,
			func(r importer.Refusal) { i.refusals = append(i.refusals, r) })
		if err != nil {
			t.Fatal(err)
		}
		if len(sources) > 0 {
			i = imports(t, t.TempDir(), path)
			if got := i.body("http://h.example/p"); got != test.want {
				t.Errorf("%s: got %q, want %q", test.name, got, test.want)
			}
		}
		if n := len(i.refusals); (n == 0) != (test.refused == "") || n > 0 &&
			!strings.Contains(i.refusals[0].What, test.refused) {
			t.Errorf("%s: refused %v, want %q", test.name, i.refusals, test.refused)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(i.dir), "evil.warc.gz")); err == nil {
			t.Errorf("%s: a file was written outside of the archive", test.name)
		}
	}
}

func TestHAR(t *testing.T) {
	entry := func(url, text, encoding string) map[string]any {
		return map[string]any{"startedDateTime": "2019-01-02T03:04:05.678+01:00", "serverIPAddress": "[2001:db8::1]",
			"request": map[string]any{"method": "GET", "url": url, "httpVersion": "HTTP/2",
				"headers": []any{map[string]string{"name": ":path", "value": "/"}}},
			"response": map[string]any{"status": 200, "statusText": "",
				"headers": []any{map[string]string{"name": "content-encoding", "value": "br"},
					map[string]string{"name": "content-type", "value": "text/html"}},
				"content": map[string]any{"size": 4, "text": text, "encoding": encoding}}}
	}
	declared := func(url, text, typ string) map[string]any {
		e := entry(url, text, "")
		e["response"].(map[string]any)["headers"] = []any{map[string]string{"name": "Content-Type", "value": typ}}
		return e
	}
	const meta = "<meta charset=windows-1251>мир"
	lost := entry("http://h.example/lost", "", "")
	delete(lost["response"].(map[string]any)["content"].(map[string]any), "text")
	b, err := json.Marshal(map[string]any{"log": map[string]any{"version": "1.2",
		"entries": []any{entry("http://h.example/p", "text", ""), entry("http://h.example/b", "dGV4dA==", "base64"),
			lost, entry("http://h.example/x", "!", "base64"), "no entry", entry("data:text/plain,x", "x", ""),
			declared("http://h.example/header", "мир", "text/html; charset=koi8-r"),
			declared("http://h.example/meta", meta, "text/html"), declared("http://h.example/not", "мир 漢", "text/html; charset=koi8-r"),
			declared("http://h.example/utf8", "мир", "text/html; charset=utf-8"),
			entry("http://h.example/last", "last", "")}}})
	if err != nil {
		t.Fatal(err)
	}
	i := imports(t, t.TempDir(), write(t, b))
	for url, want := range map[string]string{"/p": "200 text", "/b": "200 text", "/lost": "none", "/x": "none",
		"/header": "200 \xcd\xc9\xd2", "/meta": "200 <meta charset=windows-1251>\xec\xe8\xf0", "/not": "200 мир 漢",
		"/utf8": "200 мир", "/last": "200 last"} {
		if got := i.body("http://h.example" + url); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
	if len(i.refusals) != 3 {
		t.Errorf("refused %v", i.refusals)
	}
	piped := &imported{t: t, dir: t.TempDir(), stdin: "\ufeff" + string(b)} // with a byte order mark
	if err := piped.run(t.Context(), func(importer.Progress) {}, importer.Stdin); err != nil || piped.result.Kept != i.result.Kept {
		t.Errorf("from a pipe: %v, %+v, want %+v", err, piped.result, i.result)
	}
}

func TestSpoofedDigestsOfRevisits(t *testing.T) {
	// A revisit that refers to a response only by a digest that its payload does not have gets no body.
	i := imports(t, t.TempDir(), write(t, compressed(record("response", "http://h.example/p", "1", page("text"), http),
		record("revisit", "http://h.example/p", "2", "HTTP/1.1 200 OK\r\n\r\n", "WARC-Date: 2020-01-01T00:00:00Z",
			"WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"))))
	if i.result.Revisits != 0 || i.result.Later != 1 {
		t.Errorf("got %+v", i.result)
	}
}
