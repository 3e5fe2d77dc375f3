// Synthsite serves a made-up site of any size on loopback, the same one for
// the same flags, and notes when each request began and its answer ended.
//
// Page 0 is "/", page i is "/p/i.html". Page i links to its children in a tree
// (so that every page can be reached), to random pages (so that most links are
// known already), and to one style sheet.
//
// With -share N it is a site for rounds of update: GET /version/V makes it version V,
// in which one page in N is another than before, and pages have an ETag.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type site struct {
	pages, fanout, links, size int
	seed                       uint64
	robots                     string
	share                      int  // of so many pages one changes in each version; 0: none
	pictures                   bool // on one page in ten, ten times its size, and never another
	version                    atomic.Int64
}

func main() {
	s := &site{}
	flag.IntVar(&s.pages, "pages", 100, "number of pages")
	flag.IntVar(&s.fanout, "fanout", 10, "children of a page in the tree")
	flag.IntVar(&s.links, "links", 20, "random links on a page")
	flag.IntVar(&s.size, "bytes", 4000, "text on a page, about, in bytes")
	flag.Uint64Var(&s.seed, "seed", 1, "what the site is made from")
	flag.StringVar(&s.robots, "robots", "", `robots.txt, with \n for a line's end; none if empty`)
	flag.IntVar(&s.share, "share", 0, "of so many pages one changes in each version")
	flag.BoolVar(&s.pictures, "pictures", false, "a picture on one page in ten")
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	logFile := flag.String("log", "", "file for start, end, path, user agent of each request")
	urlFile := flag.String("url-file", "", "file to write the site's URL to, once it listens")
	list := flag.Bool("list", false, "print the path of every page and file, and exit")
	dir := flag.String("write", "", "write the site's files into this directory, and exit")
	flag.Parse()
	s.robots = strings.ReplaceAll(s.robots, `\n`, "\n")

	if *list {
		s.list()
		return
	}
	if *dir != "" {
		s.write(*dir)
		return
	}
	l, err := net.Listen("tcp", *addr)
	check(err)
	w := newWitness(*logFile)
	if *urlFile != "" {
		check(os.WriteFile(*urlFile, []byte("http://"+l.Addr().String()+"\n"), 0o644))
	}
	go func() {
		for {
			c, err := l.Accept()
			check(err)
			go s.serve(c, w)
		}
	}()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	w.close()
}

func (s *site) list() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for i := range s.pages {
		fmt.Fprintln(out, path(i))
	}
	fmt.Fprintln(out, "/style.css")
}

// write makes files of the site, for another server.
func (s *site) write(dir string) {
	check(os.MkdirAll(filepath.Join(dir, "p"), 0o755))
	for i := range s.pages {
		name := path(i)
		if i == 0 {
			name = "index.html"
		}
		check(os.WriteFile(filepath.Join(dir, name), s.html(i), 0o644))
	}
	check(os.WriteFile(filepath.Join(dir, "style.css"), styleSheet, 0o644))
}

var styleSheet = []byte("body { margin: 1em }\n")

// serve answers one connection's requests. A request begins with its first
// byte. An answer's end is taken just before its one write, so that it is never
// later than the client's end: who pauses from there is never judged too harshly,
// nor too mildly by more than the write itself.
func (s *site) serve(c net.Conn, w *witness) {
	defer c.Close()
	in := bufio.NewReader(c)
	var out bytes.Buffer
	for {
		if _, err := in.Peek(1); err != nil {
			return
		}
		start := time.Now()
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		out.Reset()
		s.answer(&out, r)
		end := time.Now()
		_, err = c.Write(out.Bytes())
		w.note(start, end, r)
		if err != nil || r.Close {
			return
		}
	}
}

func (s *site) answer(out *bytes.Buffer, r *http.Request) {
	kind, status := "text/html; charset=utf-8", "200 OK"
	var body []byte
	what, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	n, err := strconv.Atoi(number)
	switch i, known := s.page(r.URL.Path); {
	case known:
		body = s.html(i)
	case what == "version" && err == nil:
		s.version.Store(int64(n))
	case what == "picture" && err == nil && s.pictures:
		kind, body = "image/png", s.noise(n)
	case r.URL.Path == "/style.css":
		kind, body = "text/css", styleSheet
	case r.URL.Path == "/robots.txt" && s.robots != "":
		kind, body = "text/plain", []byte(s.robots)
	default:
		status, body = "404 Not Found", []byte("no such page\n")
	}
	tag := ""
	if s.share > 0 && len(body) > 0 {
		tag = fmt.Sprintf("\"%x\"", crc32.ChecksumIEEE(body))
	}
	if tag != "" && r.Header.Get("If-None-Match") == tag {
		fmt.Fprintf(out, "HTTP/1.1 304 Not Modified\r\nETag: %s\r\n\r\n", tag)
		return
	}
	fmt.Fprintf(out, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", status, kind, len(body))
	if tag != "" {
		fmt.Fprintf(out, "ETag: %s\r\n", tag)
	}
	out.WriteString("\r\n")
	if r.Method != http.MethodHead {
		out.Write(body)
	}
}

func path(i int) string {
	if i == 0 {
		return "/"
	}
	return "/p/" + strconv.Itoa(i) + ".html"
}

func (s *site) page(p string) (int, bool) {
	if p == "/" {
		return 0, true
	}
	n, ok := strings.CutPrefix(p, "/p/")
	n, html := strings.CutSuffix(n, ".html")
	i, err := strconv.Atoi(n)
	return i, ok && html && err == nil && i > 0 && i < s.pages && path(i) == p
}

var words = strings.Fields(`archive bow capture courtesy crawl curtain digest door frontier garden gate
	ground guest host house index key lamp letter link lock meadow note owner page path pause
	polite queue record robot room rule seed segment shelf site stone visit wait wall window word`)

// random gives numbers below n that are the same for a page everywhere (splitmix64).
func (s *site) random(i int) func(n int) int {
	rnd := s.seed*0x9e3779b97f4a7c15 + uint64(i)
	return func(n int) int {
		rnd += 0x9e3779b97f4a7c15
		z := rnd
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return int((z ^ z>>31) % uint64(n))
	}
}

// noise is what a picture is made of.
func (s *site) noise(i int) []byte {
	b, next := make([]byte, 10*s.size), s.random(-i)
	for k := range b {
		b[k] = byte(next(256))
	}
	return b
}

// changed is the version in which a page changed last.
func (s *site) changed(i int) int64 {
	for v := s.version.Load(); v > 0 && s.share > 0; v-- {
		if s.random(i+int(v)*s.pages)(s.share) == 0 {
			return v
		}
	}
	return 0
}

func (s *site) html(i int) []byte {
	next := s.random(i)
	b := make([]byte, 0, s.size+64*(s.fanout+s.links)+300)
	b = fmt.Appendf(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Page %d</title>\n"+
		"<link rel=\"stylesheet\" href=\"/style.css\"></head>\n<body><h1>Page %d</h1>\n<ul>\n", i, i)
	link := func(to int) {
		b = fmt.Appendf(b, "<li><a href=\"%s\">%s %d</a></li>\n", path(to), words[to%len(words)], to)
	}
	for c := s.fanout*i + 1; c <= s.fanout*(i+1) && c < s.pages; c++ {
		link(c)
	}
	for range s.links {
		link(next(s.pages))
	}
	b = append(b, "</ul>\n<p>"...)
	if s.share > 0 {
		b = fmt.Appendf(b, "Version %d of page %d. ", s.changed(i), i)
	}
	if s.pictures && i%10 == 0 {
		b = fmt.Appendf(b, "<img src=\"/picture/%d\" alt=\"\"> ", i)
	}
	for end := len(b) + s.size; len(b) < end; {
		b = append(b, words[next(len(words))]...)
		b = append(b, ' ')
	}
	return append(b, "</p></body></html>\n"...)
}

// witness is the server's log. Times are ns since it began, by the monotonic clock.
type witness struct {
	mu    sync.Mutex
	began time.Time
	file  *os.File
	out   *bufio.Writer
}

func newWitness(name string) *witness {
	w := &witness{began: time.Now()}
	if name == "" {
		return w
	}
	f, err := os.Create(name)
	check(err)
	w.file, w.out = f, bufio.NewWriterSize(f, 1<<16)
	go func() { // scripts read the log while the server runs
		for range time.Tick(50 * time.Millisecond) {
			w.mu.Lock()
			w.out.Flush()
			w.mu.Unlock()
		}
	}()
	return w
}

func (w *witness) note(start, end time.Time, r *http.Request) {
	if w.out == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.out, "%d\t%d\t%s\t%s\n", start.Sub(w.began), end.Sub(w.began), r.RequestURI, r.UserAgent())
}

func (w *witness) close() {
	if w.out == nil {
		return
	}
	w.mu.Lock() // and keep it: the process ends
	check(w.out.Flush())
	check(w.file.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal("synthsite: ", err)
	}
}
