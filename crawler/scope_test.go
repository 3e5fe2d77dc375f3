package crawler_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler"
)

// A response excluded by its type or size is requested, but its body is not read: this one never ends.
func TestAnswersAreLeftOutByTheirHead(t *testing.T) {
	t.Parallel()
	endless := func(header ...string) page {
		return page{serve: func(w http.ResponseWriter, r *http.Request) {
			for _, h := range header {
				name, value, _ := strings.Cut(h, ": ")
				w.Header().Set(name, value)
			}
			for {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		}}
	}
	s := newSite(t, map[string]page{
		"/": links("/film.mp4", "/big.pdf", "/small.pdf"), "/film.mp4": endless("Content-Type: Video/MP4; codecs=x"),
		"/big.pdf":   endless("Content-Type: application/pdf", "Content-Length: 9000000000"),
		"/small.pdf": {header: []string{"Content-Type: application/pdf"}, body: "pdf"},
	})
	o := options(s.URL + "/")
	o.Scope.SkipTypes, o.Scope.SkipLarger = []string{"audio/*", "video/*"}, 1_000_000
	dir := t.TempDir()
	if r := crawl(t, dir, o); r.Ending != crawler.Done || r.Counts.Disregarded != 2 {
		t.Errorf("ended as %v: %s; %+v", r.Ending, r.Why, r.Counts)
	}
	for target, want := range map[string]string{"/film.mp4": "scope: skip-type: video/mp4",
		"/big.pdf": "scope: skip-larger: 9000000000 bytes"} {
		row := rows(t, dir)[target]
		if row.State != "disregarded" || row.Rule != want || row.Kept != "" {
			t.Errorf("%s: %+v, want %s", target, row, want)
		}
		x := why(t, dir, s.URL+target, o)
		if d := x.Decisions[len(x.Decisions)-1]; !d.Decided || !strings.HasPrefix(d.Rule, "skip-") {
			t.Errorf("explain %s: %+v", target, d)
		}
	}
	s.set("/film.mp4", page{header: []string{"Content-Type: video/mp4"}, body: "film"})
	o.Scope.SkipTypes = nil
	if crawl(t, dir, o); rows(t, dir)["/film.mp4"].State != "fetched" || s.times("/big.pdf") != 1 {
		t.Errorf("without skip-type: %+v; /big.pdf was asked for %d times", rows(t, dir)["/film.mp4"],
			s.times("/big.pdf"))
	}
}

// Every host of a domain has its own robots.txt; one that is unavailable affects its host only.
func TestScopeOfADomain(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"www.a.example/": links("http://b.a.example/", "http://a.example/x", "http://dead.a.example/",
			"http://nota.example/", "http://b.a.example:8080/"),
		"b.a.example/robots.txt":    text("User-agent: *\nDisallow: /private"),
		"b.a.example/":              links("/private", "/open"),
		"dead.a.example/robots.txt": answering(500),
		"/open":                     html(""), "/x": html(""),
	}
	o := options("http://www.a.example/")
	o.Scope.Domain = "a.example"
	s.reaches(t, &o)
	dir := t.TempDir()
	if r := crawl(t, dir, o); r.Ending != crawler.Done {
		t.Errorf("ended as %v: %s; want done", r.Ending, r.Why)
	}
	var got []string
	last := s.asked()[0]
	for _, a := range s.asked() {
		if a.start.Before(last.start) {
			t.Errorf("%s%s was asked for beside another", a.host, a.target)
		}
		if last = a; a.host != "dead.a.example" {
			got = append(got, a.host+a.target)
		}
	}
	slices.Sort(got)
	same(t, "requests", got, []string{"a.example/robots.txt", "a.example/x", "b.a.example/", "b.a.example/open",
		"b.a.example/robots.txt",
		"www.a.example/", "www.a.example/robots.txt"})
	has(t, rows(t, dir)["/private"].Rule, "robots.txt: line 2")
	if n := inWords(crawl(t, dir, o).Counts.Reasons)["scope: another scheme, host or port"]; n != 2 {
		t.Errorf("%d excluded for their host, want 2", n)
	}
}

func TestScopeOfAPrefix(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/docs/index.html": html(`<a href=/docs/a.html></a><a href=/blog/></a><a href=/docsx></a><img src=/logo.png>`),
		"/docs/a.html":     html(""), "/logo.png": {header: []string{"Content-Type: image/png"}, body: "png"},
	})
	o := options(s.URL + "/docs/index.html")
	o.Scope.Prefix = s.URL + "/docs/"
	dir := t.TempDir()
	crawl(t, dir, o)
	got := s.requests()
	slices.Sort(got)
	same(t, "requests", got, []string{"/docs/a.html", "/docs/index.html", "/logo.png", "/robots.txt"})
	if row := rows(t, dir)["/blog/"]; row.Rule != "scope: not below "+s.URL+"/docs/" {
		t.Errorf("/blog/: %s", row.Rule)
	}
}
