// Roundsite serves a made-up site on loopback of which a share changes from
// version to version, for rounds of update: page i is "/p/i", listed by its
// thousand on "/list/n"; one page in ten has a picture ten times its size, which
// never changes. GET /version/N makes it version N.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

type site struct {
	pages, share, size int
	pictures, tags     bool
	version            atomic.Int64
}

func main() {
	s := &site{}
	flag.IntVar(&s.pages, "pages", 1000, "number of pages")
	flag.IntVar(&s.share, "share", 50, "of so many pages one changes in each version")
	flag.IntVar(&s.size, "bytes", 2000, "text on a page")
	flag.BoolVar(&s.pictures, "pictures", false, "a picture on one page in ten")
	flag.BoolVar(&s.tags, "tags", true, "send ETag, and answer If-None-Match")
	file := flag.String("url-file", "", "file to write the site's URL to, once it listens")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = os.WriteFile(*file+".new", fmt.Appendf(nil, "http://%s", l.Addr()), 0o644)
	}
	if err == nil {
		err = os.Rename(*file+".new", *file)
	}
	if err == nil {
		err = http.Serve(l, s)
	}
	log.Fatal(err)
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	n, err := strconv.Atoi(rest)
	switch {
	case kind == "version" && err == nil:
		s.version.Store(int64(n))
	case kind == "":
		s.list(w, r, "list", (s.pages+999)/1000, 0)
	case kind == "list" && err == nil:
		s.list(w, r, "p", min(1000, s.pages-n*1000), n*1000)
	case kind == "p" && err == nil && n < s.pages:
		s.page(w, r, n)
	case kind == "picture" && err == nil:
		s.send(w, r, "image/png", fmt.Sprint("picture-", n), func() []byte { return noise(n, 10*s.size) })
	default:
		http.NotFound(w, r)
	}
}

func (s *site) list(w http.ResponseWriter, r *http.Request, what string, n, from int) {
	s.send(w, r, "text/html", fmt.Sprint(what, "-", from), func() []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<a href=/%s/%d>%d</a>\n", what, from+i, from+i)
		}
		return []byte(b.String())
	})
}

// page is page n as of the version in which it changed last.
func (s *site) page(w http.ResponseWriter, r *http.Request, n int) {
	changed := 0
	for v := int(s.version.Load()); v > 0 && changed == 0; v-- {
		h := fnv.New32a()
		fmt.Fprint(h, n, v)
		if int(h.Sum32()>>8)%s.share == 0 {
			changed = v
		}
	}
	s.send(w, r, "text/html", fmt.Sprint("page-", n, "-", changed), func() []byte {
		b := fmt.Appendf(nil, "<!DOCTYPE html><title>Page %d</title><p>Version %d of page %d.\n", n, changed, n)
		if s.pictures && n%10 == 0 {
			b = fmt.Appendf(b, "<img src=/picture/%d>\n", n)
		}
		for _, c := range noise(n, s.size/6) {
			b = fmt.Appendf(b, "%s ", words[int(c)%len(words)])
		}
		return b
	})
}

var words = strings.Fields("the of and to in that is was for it with as his on be at by this had not are but from or have an they which one you were her all she there would their we him been has when who will more no if out so said what up its about into than them can only other new some could time these two may then do")

func noise(seed, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (s *site) send(w http.ResponseWriter, r *http.Request, kind, tag string, body func() []byte) {
	w.Header().Set("Content-Type", kind)
	if s.tags {
		w.Header().Set("ETag", `"`+tag+`"`)
		if r.Header.Get("If-None-Match") == `"`+tag+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Write(body())
}
