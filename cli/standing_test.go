package cli

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/internal/weburl"
	"curtsy/publish/replay"
)

// badSite answers well at first; once turned is closed, each URL fails in its own way.
type badSite struct {
	origin string
	bad    map[string]string // the whole answer by path; "": close the connection
	stalls map[string]bool   // by path: stall after the answer
	turned chan struct{}     // closed when the site turns bad
	asked  chan string       // paths with If-None-Match or If-Modified-Since
}

// good returns the copy of a page that a second visit must not replace.
func good(path string) (kind, body string) {
	word := strings.ReplaceAll(strings.Trim(path, "/"), "-", "")
	if strings.HasSuffix(path, ".bin") {
		return "application/octet-stream", "\x00\x01\x02GOOD " + path + strings.Repeat("\xff\x00octets", 40)
	}
	return "text/html", "<title>" + path + "</title><p>GOOD " + path + " wombat" + word + " " +
		strings.Repeat("words of the page ", 20)
}

func (s *badSite) start(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s.origin, s.turned, s.asked = "http://"+l.Addr().String(), make(chan struct{}), make(chan string, 10_000)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.answer(c)
		}
	}()
}

func (s *badSite) answer(c net.Conn) {
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	path := r.URL.Path
	if r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
		s.asked <- path + " " + r.Header.Get("If-None-Match")
	}
	isBad := false
	select {
	case <-s.turned:
		isBad = true
	default:
	}
	text, known := s.bad[path]
	switch {
	case path == "/":
		var b strings.Builder
		for _, p := range slices.Sorted(maps.Keys(s.bad)) {
			fmt.Fprintf(&b, "<a href=%s>%s</a>\n", p, p)
		}
		fmt.Fprint(c, answerOf(200, "text/html", b.String()))
	case known && isBad:
		fmt.Fprint(c, strings.ReplaceAll(text, "ORIGIN", s.origin))
		if s.stalls[path] {
			time.Sleep(3 * time.Second)
		}
	case known:
		kind, body := good(path)
		fmt.Fprint(c, answerOf(200, kind, body))
	case path == "/end-403":
		fmt.Fprint(c, answerOf(403, "text/html", "forbidden"))
	case path == "/end-500":
		fmt.Fprint(c, answerOf(500, "text/html", "broken"))
	case path == "/end-empty":
		fmt.Fprint(c, answerOf(200, "text/html", ""))
	case path == "/end-a", path == "/end-b":
		fmt.Fprint(c, answerOf(302, "text/html", "", "Location: "+map[string]string{"/end-a": "/end-b",
			"/end-b": "/end-a"}[path]))
	case path == "/end-good":
		fmt.Fprint(c, answerOf(200, "text/html", "<title>Here</title><p>Here it is now: quokka."))
	case path == "/end-reset":
	default:
		fmt.Fprint(c, answerOf(404, "text/plain", "no"))
	}
}

// answerOf returns a whole response.
func answerOf(status int, kind, body string, fields ...string) string {
	head := fmt.Sprintf("HTTP/1.1 %d Some\r\nContent-Type: %s\r\nConnection: close\r\n", status, kind)
	for _, f := range fields {
		head += f + "\r\n"
	}
	if !strings.Contains(head, "Content-Length") && !strings.Contains(head, "Transfer-Encoding") && status >= 200 &&
		status != 204 && status != 304 {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return head + "\r\n" + body
}

// coded returns a body in a content coding.
func coded(t *testing.T, name, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w interface {
		Write([]byte) (int, error)
		Close() error
	}
	switch name {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 6)
	}
	if _, err := w.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// badAnswers returns all kinds of bad second answers, for a page and for a binary file.
func badAnswers(t *testing.T) (bad map[string]string, stalls map[string]bool) {
	bad, stalls = map[string]string{}, map[string]bool{}
	for _, ext := range []string{".html", ".bin"} {
		kind, other := "text/html", "<title>BAD</title><p>BAD "+strings.Repeat("what came instead ", 30)
		if ext == ".bin" {
			kind, other = "application/octet-stream", "BAD\x00\xff"+strings.Repeat("\x01\x02what came instead\xfe", 30)
		}
		add := func(name, answer string) { bad["/"+name+ext] = strings.ReplaceAll(answer, "BAD", "BAD "+name+ext) }
		tag := "ETag: \"bad\""
		for _, c := range []string{"gzip", "br", "zstd", "deflate", "raw"} {
			whole := coded(t, c, other+ext+c)
			field := "Content-Encoding: " + strings.Replace(c, "raw", "deflate", 1)
			add(c+"-cut", answerOf(200, kind, string(whole[:len(whole)-5]), field, tag))
			add(c+"-start", answerOf(200, kind, string(whole[:3]), field, tag))
			corrupt := bytes.Clone(whole)
			for i := len(corrupt) / 3; i < len(corrupt)-4; i++ {
				corrupt[i] = 0xff
			}
			add(c+"-corrupt", answerOf(200, kind, string(corrupt), field, tag))
			add(c+"-in-gzip-cut", answerOf(200, kind, string(coded(t, "gzip", string(whole))[:len(whole)]), field,
				"Content-Encoding: gzip", tag))
		}
		whole := coded(t, "gzip", other+ext)
		for name, at := range map[string]int{"crc": 8, "length": 4} {
			wrong := bytes.Clone(whole)
			wrong[len(wrong)-at] ^= 0x55
			add("gzip-"+name, answerOf(200, kind, string(wrong), "Content-Encoding: gzip", tag))
		}
		wrong := coded(t, "deflate", other+ext)
		wrong[len(wrong)-1] ^= 0x55
		add("deflate-sum", answerOf(200, kind, string(wrong), "Content-Encoding: deflate", tag))
		head := bytes.Clone(whole)
		head[0] = 0
		add("gzip-head", answerOf(200, kind, string(head), "Content-Encoding: gzip", tag))
		add("compress", answerOf(200, kind, "\x1f\x9d\x90"+strings.Repeat("\x00\xfe\x80", 99),
			"Content-Encoding: compress", tag))
		add("nonsense", answerOf(200, kind, "\x00\x9d\x90"+strings.Repeat("\x00\xfe\x80", 99),
			"Content-Encoding: nonsense", tag))
		add("short", answerOf(200, kind, other, fmt.Sprintf("Content-Length: %d", len(other)+999), tag))
		add("chunk-cut", answerOf(200, kind, "100\r\n"+other[:200], "Transfer-Encoding: chunked", tag))
		add("chunk-bad", answerOf(200, kind, "10\r\n"+other[:16]+"\r\nzz\r\n", "Transfer-Encoding: chunked", tag))
		add("stall", answerOf(200, kind, other, fmt.Sprintf("Content-Length: %d", len(other)+999), tag))
		stalls["/stall"+ext] = true
		add("empty", answerOf(200, kind, "", tag))
		for _, status := range []int{100, 101, 199, 201, 202, 204, 205, 206, 207, 208, 226, 299, 300, 304, 305, 306,
			309, 399, 400, 401, 402, 403, 404, 405, 406, 418, 429, 451, 499, 500, 502, 503, 504, 511, 599,
			600, 799, 999} {
			body := other
			if status < 200 || status == 204 || status == 304 {
				body = ""
			}
			add(fmt.Sprint("status-", status), answerOf(status, kind, body, tag))
		}
		add("part", answerOf(206, kind, other, fmt.Sprintf("Content-Range: bytes 0-%d/99999", len(other)-1), tag))
		for name, location := range map[string]string{"none": "", "unparsable": "http://[::1", "self": "SELF",
			"circle": "/end-a", "403": "/end-403", "404": "/end-404",
			"500": "/end-500", "empty": "/end-empty", "reset": "/end-reset", "elsewhere": "http://127.0.0.2:9/",
			"other": "/status-404" + ext} {
			path := "/to-" + name + ext
			field := "Location: " + strings.ReplaceAll(location, "SELF", path)
			if location == "" {
				field = tag
			}
			add("to-"+name, answerOf(302, kind, "BAD", field, tag))
		}
		for _, status := range []int{305, 306, 399} {
			add(fmt.Sprint("to-by-", status), answerOf(status, kind, "BAD", "Location: /end-good", tag))
		}
	}
	return bad, stalls
}

// TestNoSecondVisitMakesAnArchiveWorse visits pages again that now fail in all ways: every
// output still shows the good copy, each bad answer is listed with its reason, and no
// validators of a bad answer are used by the next round.
func TestNoSecondVisitMakesAnArchiveWorse(t *testing.T) {
	long(t)
	t.Parallel()
	dir := t.TempDir()
	site, out, exported := filepath.Join(dir, "site"), filepath.Join(dir, "out"), filepath.Join(dir, "exported.")
	s := &badSite{}
	s.bad, s.stalls = badAnswers(t)
	kinds := len(s.bad)
	s.bad["/moved.html"] = answerOf(302, "text/html", "", "Location: /end-good")
	s.start(t)
	s.crawl(t, site, nil)
	close(s.turned)
	for range 2 {
		s.crawl(t, site, &revisit.Options{})
	}
	close(s.asked)
	for asked := range s.asked {
		t.Errorf("asked on condition: %s", asked)
	}
	wantWords(t, "verify", curtsyText(t, "verify", site), "no damage")

	told := map[string]string{}
	for _, line := range runLines(t, "changes", site, "--round", "1", "--json") {
		var c struct{ URL, Change, Reason string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		told[strings.TrimPrefix(c.URL, s.origin)] = c.Change + ": " + c.Reason
	}
	curtsyText(t, "mirror", site, out, "-q")
	mirrored := treeText(t, out)
	found := map[string]bool{}
	show := server(t, site)
	for path := range s.bad {
		if path == "/moved.html" {
			continue
		}
		_, want := good(path)
		if kind, _, _ := strings.Cut(told[path], ":"); kind != "suspect" && kind != "unreachable" && kind != "gone" {
			t.Errorf("%s: changes says %q", path, told[path])
		}
		if got := show("/20990101000000/" + s.origin + path); !strings.Contains(got, "GOOD "+path) {
			t.Errorf("%s: serve shows %.60q", path, got)
		}
		if !strings.Contains(mirrored, "GOOD "+path) {
			t.Errorf("%s: the good copy is not in the mirror", path)
		}
		found[path] = strings.Contains(want, "wombat")
	}
	if strings.Contains(mirrored, "BAD") {
		t.Errorf("the mirror has a bad answer: %.80q", mirrored[strings.Index(mirrored, "BAD"):])
	}
	for _, format := range []string{"jsonl", "txt", "md", "cdxj"} {
		curtsyText(t, "export", site, exported+format, "--format", format, "-q")
		s.exported(t, treeText(t, exported+format), format, found)
	}
	curtsyText(t, "export", site, exported+"wacz", "-q")
	z, err := zip.OpenReader(exported + "wacz")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	pages, err := fs.ReadFile(z, "pages/pages.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s.exported(t, string(pages), "wacz", found)
	if told["/moved.html"] != "moved: "+s.origin+"/end-good" {
		t.Errorf("a redirect to a good page: %q", told["/moved.html"])
	}
	hits := strings.Join(runLines(t, "search", site, "words", "--limit", "1000", "--json"), "\n")
	for path, text := range found {
		if text && !strings.Contains(hits, s.origin+path+`"`) {
			t.Errorf("%s is not found any more", path)
		}
	}
	if bad := runLines(t, "search", site, "came", "--json"); len(bad) > 0 {
		t.Errorf("search finds %q", bad)
	}
	if n := len(told) - 1; n < kinds {
		t.Errorf("%d of %d bad answers are told of", n, kinds)
	}
}

// exported checks that an export has all good copies and no bad one.
func (s *badSite) exported(t *testing.T, all, format string, pages map[string]bool) {
	t.Helper()
	for path, isText := range pages {
		if format != "txt" && format != "md" && format != "wacz" || isText {
			if !strings.Contains(all, path) {
				t.Errorf("%s: %s is missing", format, path)
			}
		}
	}
	if i := strings.Index(all, "BAD"); i >= 0 {
		t.Errorf("%s has a bad answer: %.80q", format, all[i:])
	}
}

// crawl crawls the site, or visits it again, without slowing down after failures.
func (s *badSite) crawl(t *testing.T, dir string, round *revisit.Options) {
	t.Helper()
	c := defaults()
	c.Fetch.Retries, c.Fetch.RetryBase, c.Fetch.IdleTimeout = 1, time.Millisecond, 500*time.Millisecond
	o, err := crawlOptions(&c, weburl.MustParse(s.origin+"/"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	o.Pace.Concurrency, o.Pace.Delay, o.Pace.Backoff, o.Pace.MaxBackoff, o.Pace.MaxFailures = 16, 0, time.Millisecond,
		time.Millisecond, 10_000
	o.Round = round
	k, err := crawler.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if r, err := k.Run(t.Context(), t.Context()); err != nil || r.Ending != crawler.Done {
		t.Fatalf("%v: %s, %v", r.Ending, r.Why, err)
	}
}

// server returns a function that gives the content of a page as serve shows it in its frame.
func server(t *testing.T, dir string) func(path string) string {
	t.Helper()
	s := serverOf(t, dir)
	return func(path string) string {
		_, page := getAt(s.UI(), "127.0.0.1:28600", path)
		frame := regexp.MustCompile(`<iframe[^>]* src="http://([^"/]+)([^"]+)"`).FindStringSubmatch(page)
		if frame == nil {
			return page
		}
		_, content := getAt(s.Content(), frame[1], html.UnescapeString(frame[2]))
		return content
	}
}

// serverOf returns what serve makes of archives, without listening. It is closed at the end of the test.
func serverOf(t *testing.T, dirs ...string) *replay.Server {
	t.Helper()
	u := &ui{out: &dataWriter{w: io.Discard}, err: &bytes.Buffer{}}
	sources, closeAll, err := openShelves(context.Background(), u, dirs)
	t.Cleanup(closeAll)
	if err != nil {
		t.Fatal(err)
	}
	s, err := replay.New(sources, replay.Options{UI: "127.0.0.1:28600", Content: "127.0.0.1:28601"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// getAt sends a request with a path as it is.
func getAt(h http.Handler, host, path string) (status int, body string) {
	r, w := httptest.NewRequest(http.MethodGet, "http://"+host+path, nil), httptest.NewRecorder()
	r.RequestURI = path
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
