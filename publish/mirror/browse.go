package mirror

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
)

// Answer is the response to a request of a page, with its codings removed.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Seen is what a browser shows of a page.
type Seen struct {
	URL      string   // its address when it was read
	Text     string   // its visible text
	Pictures int      // images loaded successfully
	Links    []string // targets of the clickable links; "" for links that are not clickable
	Failed   []string // URLs of requests that failed
	HTML     []byte   // the DOM after scripts ran
}

// View is a page to open in a browser. file:// URLs are read from disk if they are below Files;
// Answer answers all other requests.
type View struct {
	URL    string
	Files  string // file:// URL of a directory, with a trailing slash
	Answer func(url string, page bool) (*Answer, error)
	// Press chooses the link to click, as an index into Seen.Links; -1: none.
	Press func(*Seen) int
}

// Browsing are the options of Browse.
type Browsing struct {
	// Look opens a page in a browser, and returns what it shows at first and after a click. It
	// is called by Tabs goroutines at a time.
	Look func(context.Context, View) (first, after *Seen, err error)
	Tabs int
	// Archive is what the mirror was made from. Pages are compared with what the browser shows
	// for their own URLs, answered from Archive; if it is nil, answered from the mirror's
	// files.
	Archive *storage.Archive
	Sample  int // pages to open, spread over all; 0: all pages with scripts
	Clicks  int // links to click on each page
	// Lost is called with the URL of each page that should be stored in its still form, without
	// scripts: html is the DOM to store, or nil for the page as it was sent.
	Lost func(url string, html []byte) error
}

// Judged is the comparison of a page of a mirror with the site's.
type Judged struct {
	URL     string       `json:"url"`
	File    string       `json:"file"`
	Right   string       `json:"right"`             // "disk"; "served": right only with mirror --serve; "none"
	Lost    bool         `json:"lost,omitempty"`    // opened from disk, more than a fifth of its words are missing
	Differs []Difference `json:"differs,omitempty"` // of the forms that are not right; failed requests of any form
}

// Difference is a difference between a form of a page and the site.
type Difference struct {
	Form   string `json:"form"` // "disk", "served", or "archive" (its replay)
	What   string `json:"what"` // "text", "pictures", "link", "request", "error"
	Detail string `json:"detail"`
}

// Opened is the result of Browse.
type Opened struct {
	Pages  int      `json:"opened"`
	Of     int      `json:"of"` // pages in the mirror
	Disk   int      `json:"disk"`
	Served int      `json:"served"` // right only when served
	None   int      `json:"none"`
	Clicks int      `json:"clicks"` // clicks from disk
	Arrive int      `json:"arrive"`
	Judged []Judged `json:"pages"`
}

// Browse opens pages of a mirror from disk in a browser, and those that are not right there
// also as mirror --serve serves them, and compares both with the site. It uses the options
// Fold, Twin and Watch and, with an archive, those of its Export.
func Browse(ctx context.Context, out string, o Options, b Browsing) (*Opened, error) {
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	m, err := mapIn(root, out)
	if err != nil {
		return nil, err
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	o.defaults()
	j := &judging{sum: Opened{Judged: []Judged{}}, b: b, o: &o, root: root, files: serverOf(root, m),
		held: map[string]*mapped{}, seen: map[string]*Seen{}}
	j.dir = (&url.URL{Scheme: "file", Path: filepath.ToSlash(out) + "/"}).String()
	if b.Archive != nil {
		if j.site, err = gather(b.Archive, &o); err != nil {
			return nil, err
		}
	}
	seed := weburl.FromCanonical(m.Seed)
	for i := range m.Files {
		f := &m.Files[i]
		if j.site == nil && f.To == "" { // links name the files
			j.held[seed.Origin()+"/"+encodePath(f.File)] = f
		}
		j.held[f.URL] = f
	}
	return j.all(ctx, m)
}

// judging is a running comparison of a mirror with its site.
type judging struct {
	b     Browsing
	o     *Options
	root  *os.Root
	files server
	dir   string // file:// URL of the mirror, with a trailing slash
	site  *site  // nil if there is no archive
	held  map[string]*mapped

	mu   sync.Mutex
	seen map[string]*Seen // what pages of the site show, for reuse
	size int              // octets in seen
	sum  Opened
}

// all judges the chosen pages.
func (j *judging) all(ctx context.Context, m *mirrorMap) (*Opened, error) {
	list, err := j.choose(m)
	if err != nil {
		return nil, err
	}
	tabs, running := errgroup.WithContext(ctx)
	tabs.SetLimit(max(j.b.Tabs, 1))
	for _, p := range list {
		if running.Err() != nil {
			break
		}
		tabs.Go(func() error {
			one, err := j.page(running, p)
			if err != nil {
				return err
			}
			j.mu.Lock()
			defer j.mu.Unlock()
			j.sum.Judged = append(j.sum.Judged, *one)
			j.o.Watch(Progress{Step: "open", Done: len(j.sum.Judged), Total: len(list)})
			return nil
		})
	}
	if err := cmp.Or(tabs.Wait(), context.Cause(ctx)); err != nil {
		return nil, err
	}
	slices.SortFunc(j.sum.Judged, func(a, b Judged) int { return strings.Compare(a.URL, b.URL) })
	for i := range j.sum.Judged {
		switch j.sum.Judged[i].Right {
		case "disk":
			j.sum.Disk++
		case "served":
			j.sum.Served++
		default:
			j.sum.None++
		}
	}
	j.sum.Pages = len(list)
	return &j.sum, nil
}

// namesData reports whether a URL names a data file. Single-page applications often answer
// requests for a missing robots.txt or .json with their start page.
func namesData(url string) bool {
	switch path.Ext(pathOf(url)) {
	case ".json", ".txt", ".xml", ".js", ".mjs", ".css", ".map", ".ico", ".png", ".jpg", ".svg", ".webmanifest":
		return true
	}
	return false
}

// choose chooses the pages to open: a sample spread over all pages or, if Sample is 0, all
// pages that run scripts.
func (j *judging) choose(m *mirrorMap) (list []*mapped, err error) {
	for i := range m.Files {
		f := &m.Files[i]
		if f.URL == "" || f.To != "" || f.Type != typeHTML && f.Type != typeXHTML || namesData(f.URL) {
			continue
		}
		j.sum.Of++
		if j.b.Sample == 0 {
			body, err := j.root.ReadFile(f.File)
			if err != nil {
				return nil, err
			}
			if !bytes.Contains(body, []byte("<script")) || bytes.Contains(body, []byte(stillPolicy)) {
				continue
			}
		}
		list = append(list, f)
	}
	if n := j.b.Sample; n > 0 && n < len(list) {
		for i := range n {
			list[i] = list[i*len(list)/n]
		}
		list = list[:n]
	}
	return list, nil
}

// page judges one page.
func (j *judging) page(ctx context.Context, p *mapped) (*Judged, error) {
	one := &Judged{URL: p.URL, File: p.File, Right: "none", Differs: []Difference{}}
	want, plain, err := j.original(ctx, one)
	if err != nil || want == nil {
		return one, err
	}
	for _, form := range [...]string{"disk", "served"} {
		right, err := j.form(ctx, one, form, want)
		if err != nil {
			return nil, err
		}
		if right {
			one.Right = form
			break
		}
	}
	if (one.Lost || one.Right == "none") && j.b.Lost != nil {
		html := want.HTML
		if plain || j.came(ctx, p.URL, want) {
			html = nil
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		return one, j.b.Lost(p.URL, html)
	}
	return one, nil
}

// came reports whether a page without its scripts shows what it shows with them.
func (j *judging) came(ctx context.Context, url string, want *Seen) bool {
	still, err := j.atSite(ctx, url, true)
	if err != nil || still == nil {
		return false
	}
	lost, of := missing(still.Text, want.Text)
	return 20*len(lost) <= of && still.Pictures >= want.Pictures
}

// form opens a page in one form, "disk" or "served". It is right if it shows the text and
// images that the site shows, and its links lead to the same pages.
func (j *judging) form(ctx context.Context, one *Judged, form string, want *Seen) (right bool, err error) {
	links := j.links(one.URL, want)
	for n := 0; n == 0 || n < len(links); n++ {
		v := j.view(form, one.File)
		var to *mapped
		if n < len(links) {
			to = links[n].to
			v.Press = func(s *Seen) int { return j.find(form, s, want, links[n]) }
		}
		got, after, err := j.b.Look(ctx, v)
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if err != nil {
			one.differs(form, "error", err.Error())
			return false, nil
		}
		if n == 0 {
			right = j.alike(one, form, got, want)
		}
		if to != nil {
			arrives, err := j.arrives(ctx, one, form, to, after)
			if err != nil {
				return false, err
			}
			right = right && arrives
		}
	}
	return right, nil
}

// view returns the View of a file in one form of the mirror.
func (j *judging) view(form, file string) View {
	if form == "disk" {
		return View{URL: j.dir + encodePath(file), Files: j.dir, Answer: func(url string, _ bool) (*Answer, error) {
			return nil, errors.New("it is not in the mirror")
		}}
	}
	return View{URL: "http://mirror.localhost/" + encodePath(file),
		Answer: func(url string, page bool) (*Answer, error) {
			rest, ours := strings.CutPrefix(url, "http://mirror.localhost/")
			if !ours {
				return nil, errors.New("it is not in the mirror")
			}
			return j.served("/"+rest, page)
		}}
}

// original returns what the page shows at its own URL, answered from the archive. If its
// scripts remove text because requests of theirs are not in the archive, it is the page without
// scripts (plain).
func (j *judging) original(ctx context.Context, one *Judged) (want *Seen, plain bool, err error) {
	want, err = j.atSite(ctx, one.URL, false)
	if err != nil || want == nil {
		one.differs("archive", "error", "it could not be opened")
		return nil, false, err
	}
	if len(want.Failed) == 0 && len(want.Text) > 200 {
		return want, false, nil
	}
	for _, u := range want.Failed[:min(len(want.Failed), maxDiffers)] {
		one.differs("archive", "request", u)
	}
	still, err := j.atSite(ctx, one.URL, true)
	if err != nil || still == nil {
		return want, false, err
	}
	if lost, of := missing(want.Text, still.Text); of > 5 && 5*len(lost) > of && len(want.Text) < len(still.Text) {
		one.differs("archive", "text", "its scripts take away its text: "+shows(want))
		return still, true, nil
	}
	return want, false, nil
}

// maxSeen limits the octets of Seen that are kept for reuse.
const maxSeen = 64 << 20

// atSite returns what the page at a URL shows, with or without its scripts; nil if it cannot be
// opened.
func (j *judging) atSite(ctx context.Context, at string, plain bool) (*Seen, error) {
	key := fmt.Sprint(plain, at)
	j.mu.Lock()
	s, known := j.seen[key]
	j.mu.Unlock()
	if known {
		return s, nil
	}
	s, _, err := j.b.Look(ctx, View{URL: at, Answer: func(url string, page bool) (*Answer, error) {
		a, err := j.answer(url)
		if err == nil && plain && page {
			a.Header = a.Header.Clone()
			a.Header.Set("Content-Security-Policy", stillPolicy)
		}
		return a, err
	}})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		s = nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if s != nil {
		j.size += len(s.Text) + len(s.HTML)
	}
	if j.size > maxSeen {
		clear(j.seen)
		j.size = 0
	}
	j.seen[key] = s
	return s, nil
}

// answer answers a request for a URL of the site.
func (j *judging) answer(at string) (*Answer, error) {
	u, err := weburl.ParsePage(at)
	if err != nil {
		return nil, err
	}
	if j.site == nil {
		return j.served(u.Target(), false)
	}
	return j.site.answer(j.b.Archive, u)
}

// maxAnswer is the most octets of one answer.
const maxAnswer = 32 << 20

// answer answers a request from the archive.
func (s *site) answer(a *storage.Archive, u weburl.URL) (*Answer, error) {
	i := s.find(u)
	if i < 0 && u.HasQuery() {
		i = s.find(weburl.FromCanonical(u.Origin() + u.Path())) // ?_=1 and other cache busters
	}
	if i < 0 {
		return nil, errors.New("it is not in the archive")
	}
	e := &s.list[i]
	switch {
	case e.state == moved && e.final >= 0:
		to := s.list[e.final].url.String() + encodeFragment(e.part())
		return &Answer{Status: http.StatusFound, Header: http.Header{"Location": {to}}}, nil
	case e.state != kept:
		return nil, errors.New(cmp.Or(e.why(), "it leads elsewhere"))
	}
	v, err := a.Visit(e.ref())
	if err != nil || v == nil {
		return nil, cmp.Or(err, errors.New("its visit is missing"))
	}
	b, err := publish.OpenBody(a, v)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	body, err := io.ReadAll(io.LimitReader(b, maxAnswer))
	if err != nil && len(body) == 0 {
		return nil, err
	}
	return &Answer{Status: http.StatusOK, Header: headerFor(b.Header, e.typ()), Body: body}, nil
}

// served answers a request as mirror --serve does.
func (j *judging) served(target string, page bool) (*Answer, error) {
	r, err := http.NewRequest(http.MethodGet, "http://mirror.localhost"+target, nil)
	if err != nil {
		return nil, err
	}
	r.RequestURI = target
	if page {
		r.Header.Set("Sec-Fetch-Dest", "document")
	}
	a := &Answer{Status: http.StatusOK, Header: http.Header{}}
	j.files.ServeHTTP(answering{a}, r)
	if a.Status >= 400 {
		return nil, fmt.Errorf("it is answered %d", a.Status)
	}
	return a, nil
}

// answering is an http.ResponseWriter that writes to an Answer.
type answering struct{ a *Answer }

func (w answering) Header() http.Header    { return w.a.Header }
func (w answering) WriteHeader(status int) { w.a.Status = status }

func (w answering) Write(b []byte) (int, error) {
	if len(w.a.Body)+len(b) > maxAnswer {
		return 0, io.ErrShortWrite
	}
	w.a.Body = append(w.a.Body, b...)
	return len(b), nil
}
