package crawler_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"curtsy/storage"
)

// record is a WARC record, read without the code under test.
type record struct {
	fields  map[string]string
	block   []byte
	segment string
}

func (r record) kind() string { return r.fields["WARC-Type"] }

// records reads every member of every segment.
func records(t *testing.T, dir string) []record {
	t.Helper()
	var list []record
	for _, name := range segments(t, dir) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src := bufio.NewReader(bytes.NewReader(b))
		for {
			if _, err := src.Peek(1); err == io.EOF {
				break
			}
			z, err := gzip.NewReader(src)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			z.Multistream(false)
			member, err := io.ReadAll(z)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			list = append(list, parseRecord(t, name, member))
		}
	}
	return list
}

func parseRecord(t *testing.T, segment string, member []byte) record {
	t.Helper()
	head, rest, ok := bytes.Cut(member, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	if !ok || lines[0] != "WARC/1.1" || !bytes.HasSuffix(rest, []byte("\r\n\r\n")) {
		t.Fatalf("%s: no record: %q", segment, head)
	}
	r := record{fields: map[string]string{}, block: rest[:len(rest)-4], segment: segment}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if _, twice := r.fields[name]; twice {
			t.Errorf("%s twice in a record", name)
		}
		r.fields[name] = value
	}
	if r.fields["Content-Length"] != fmt.Sprint(len(r.block)) {
		t.Errorf("a block of %d octets says Content-Length: %s", len(r.block), r.fields["Content-Length"])
	}
	return r
}

// sumLike returns the digest of b with the algorithm and encoding of a label.
func sumLike(label string, b []byte) string {
	if sum := sha1.Sum(b); strings.HasPrefix(label, "sha1:") {
		return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(b))
}

// payload returns the de-chunked body of a response block.
func (r record) payload(t *testing.T) []byte {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(r.block)), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil && r.fields["WARC-Truncated"] == "" {
		t.Errorf("%s: %v", r.fields["WARC-Target-URI"], err)
	}
	return b
}

var (
	dateForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
	idForm   = regexp.MustCompile(`^<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>$`)
)

// checkRecords checks that all records conform to ISO 28500 §5 and §6.
func checkRecords(t *testing.T, list []record) {
	t.Helper()
	ids, infos := map[string]record{}, map[string]string{}
	for _, r := range list {
		id := r.fields["WARC-Record-ID"]
		if _, twice := ids[id]; twice || !idForm.MatchString(id) || !dateForm.MatchString(r.fields["WARC-Date"]) {
			t.Errorf("bad or repeated id or date: %v", r.fields)
		}
		ids[id] = r
		if r.kind() == "warcinfo" {
			infos[r.segment] = id
			continue
		}
		if r.fields["WARC-Warcinfo-ID"] != infos[r.segment] || infos[r.segment] == "" {
			t.Errorf("%s of %s names warcinfo %s, its segment begins with %s", r.kind(), r.fields["WARC-Target-URI"],
				r.fields["WARC-Warcinfo-ID"], infos[r.segment])
		}
		if got := sumLike(r.fields["WARC-Block-Digest"], r.block); r.fields["WARC-Block-Digest"] != got {
			t.Errorf("%s of %s: block digest %s, is %s", r.kind(), r.fields["WARC-Target-URI"],
				r.fields["WARC-Block-Digest"], got)
		}
		if strings.ContainsAny(r.fields["WARC-Target-URI"], "<>") {
			t.Errorf("target %s", r.fields["WARC-Target-URI"])
		}
	}
	for _, r := range list {
		uri := r.fields["WARC-Target-URI"]
		switch r.kind() {
		case "response":
			if got := sumLike(r.fields["WARC-Payload-Digest"], r.payload(t)); r.fields["WARC-Payload-Digest"] != got {
				t.Errorf("response of %s: payload digest %s, is %s", uri, r.fields["WARC-Payload-Digest"], got)
			}
			if r.fields["Content-Type"] != "application/http; msgtype=response" ||
				r.fields["WARC-IP-Address"] != "127.0.0.1" {
				t.Errorf("response of %s: %v", uri, r.fields)
			}
		case "revisit":
			original, ok := ids[r.fields["WARC-Refers-To"]]
			if !ok || original.kind() != "response" ||
				original.fields["WARC-Payload-Digest"] != r.fields["WARC-Payload-Digest"] ||
				original.fields["WARC-Target-URI"] != r.fields["WARC-Refers-To-Target-URI"] ||
				original.fields["WARC-Date"] != r.fields["WARC-Refers-To-Date"] {
				t.Errorf("revisit of %s refers to %v", uri, original.fields)
			}
			if !bytes.HasSuffix(r.block, []byte("\r\n\r\n")) || !bytes.HasPrefix(r.block, []byte("HTTP/1.1 ")) {
				t.Errorf("revisit of %s holds more or less than a head: %q", uri, r.block)
			}
		case "request":
			if ids[r.fields["WARC-Concurrent-To"]].fields["WARC-Date"] != r.fields["WARC-Date"] ||
				!bytes.HasPrefix(r.block, []byte("GET ")) {
				t.Errorf("request of %s: %v %q", uri, r.fields, r.block)
			}
		}
	}
}

// of finds a record by type and path.
func of(t *testing.T, list []record, kind, path string) record {
	t.Helper()
	for _, r := range list {
		if r.kind() == kind && strings.HasSuffix(r.fields["WARC-Target-URI"], path) {
			return r
		}
	}
	t.Fatalf("no %s of %s", kind, path)
	return record{}
}

func TestRecordsOfEveryKindOfResponse(t *testing.T) {
	t.Parallel()
	chunked := page{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for _, part := range []string{"<a href=/same1>one", "</a>", strings.Repeat("chunk ", 3000)} {
			io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	}}
	zipped := page{header: []string{"Content-Type: text/html", "Content-Encoding: gzip"},
		body: gzipped("<a href=/in-gzip>x</a>" + strings.Repeat("y", 5000))}
	big := strings.Repeat("0123456789abcdef", 5<<20/16)
	s := newSite(t, map[string]page{
		"/robots.txt": text("User-agent: *\nAllow: /chunked\nDisallow: /no"),
		"/": links("/chunked", "/gzip", "/same2", "/same3", "/empty1", "/empty2", "/big", "/big2", "/long",
			"/moved", "/gone", "/%D0%B6?q=%3C%3E"),
		"/chunked": chunked, "/gzip": zipped, "/in-gzip": html("in gzip"),
		"/same1": html("the same"), "/same2": html("the same"), "/same3": html("the same").with("X-More: other head"),
		"/empty1": html(""), "/empty2": html(""),
		"/big": text(big), "/big2": text(big),
		"/long":  text(strings.Repeat("l", 7<<20)).with("Content-Length: 7340032"),
		"/moved": redirect("/same1"), "/gone": {status: 410, body: "gone"}, "/%D0%B6?q=%3C%3E": html("ж"),
	})
	o := options(s.URL + "/")
	o.Pace.Delay = 40 * time.Millisecond // so that the order of requests is the order of commits
	o.Fetch.MaxBody = 6 << 20
	dir := t.TempDir()
	r := crawl(t, dir, o)
	list := records(t, dir)
	checkRecords(t, list)

	if info := list[0]; info.kind() != "warcinfo" || !strings.Contains(string(info.block),
		"format: WARC File Format 1.1\r\n") || info.fields["WARC-Filename"] == "" {
		t.Errorf("the segment begins with %v %q", info.fields, info.block)
	}
	if n := r.State.Revisits; n != 3 {
		t.Errorf("%d revisits, want 2 of the same page and 1 of the big one", n)
	}
	for _, path := range []string{"/empty1", "/empty2", "/same2", "/big"} {
		of(t, list, "response", path)
	}
	if p := of(t, list, "revisit", "/big2").fields["WARC-Profile"]; p != "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest" {
		t.Errorf("profile %s", p)
	}
	if b := of(t, list, "response", "/chunked").block; !bytes.Contains(b, []byte("Transfer-Encoding: chunked")) ||
		!bytes.Contains(b, []byte("\r\n0\r\n\r\n")) {
		t.Error("the chunks are not kept as they came")
	}
	if got := of(t, list, "response", "/gzip").payload(t); !bytes.HasPrefix(got, []byte("\x1f\x8b")) ||
		s.times("/in-gzip") != 1 {
		t.Error("a coded body is kept as it came, and read decoded")
	}
	long := of(t, list, "response", "/long")
	if long.fields["WARC-Truncated"] != "length" || len(long.payload(t)) != 6<<20 {
		t.Errorf("a body over the limit: %v, %d octets", long.fields, len(long.payload(t)))
	}
	if got := of(t, list, "response", "/big").payload(t); string(got) != big {
		t.Error("a large body came out otherwise")
	}
	m := string(of(t, list, "metadata", "/chunked").block)
	for _, line := range []string{"via: " + s.URL + "/\r\n", "hopsFromSeed: L\r\n", "fetchTimeMs: ",
		": Allow: /chunked\r\n", "robots: line 2 of robots.txt "} {
		has(t, m, line)
	}
	of(t, list, "response", "/%D0%B6?q=%3C%3E")

	// A revisit reads back with its own head and the original's body.
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, path := range []string{"/same3", "/big2"} {
		v := visitsOf(t, dir, s.URL+path)[0]
		resp, err := a.Response(v)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || int64(len(body)) != v.Length || (path == "/same3" && resp.Header.Get("X-More") == "") {
			t.Errorf("%s reads back as %d octets of %d, %v, %v", path, len(body), v.Length, resp.Header, err)
		}
		resp.Close()
	}
}

func TestSegmentsEndWhenTheyAreFull(t *testing.T) {
	long(t)
	t.Parallel()
	s := grove(t, 60)
	o := options(s.URL + "/")
	o.Archive.SegmentSize, o.Archive.Prefix, o.Archive.Operator = 10_000, "test", "me@example.org"
	dir := t.TempDir()
	crawl(t, dir, o)
	names := segments(t, dir)
	if len(names) < 3 {
		t.Errorf("%d segments", len(names))
	}
	for _, name := range names {
		if !regexp.MustCompile(`/test-\d{14}-\d{5}\.warc\.gz$`).MatchString(name) {
			t.Errorf("named %s", name)
		}
	}
	list := records(t, dir)
	checkRecords(t, list)
	has(t, string(list[0].block), "operator: me@example.org\r\n")
}
