package mirror

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// state is what became of a URL.
type state uint8

const (
	failed   state = iota // no answer, or one that is no page
	gone                  // 404, 410
	left                  // a rule of the crawl let go of its body
	withheld              // kept from the mirror by a directive
	moved                 // a redirect
	kept                  // it has a file
)

// entry is one URL that was visited: its latest answer, and its file.
type entry struct {
	url   weburl.URL
	ref   crawllog.Ref
	state state
	cut   bool   // the body is not complete
	page  bool   // HTML
	own   bool   // it counts as a page of the site
	why   string // for all but kept: the reason
	typ   string
	to    weburl.URL // moved: where to
	part  string     // moved: the fragment of the Location
	final int32      // moved: the entry at the end of the chain, or -1
	file  string     // "" if it has none
	raw   bool       // kept: written with its links as they were
	same  bool       // kept: the file is that of another URL with the same payload
	bad   bool       // failed: there is a body, and it cannot be read
	list  bool       // its URL may stand in published lists
	taken bool       // withheld: by noarchive
	fixed bool       // it carries translate="no"
	sum   string     // SHA-256 of the payload; "" if it is not known
}

// site is the sorted list of entries, and how to find one.
type site struct {
	list []entry
	at   places
	o    *Options
	own  map[string]bool // origins
	// twins are the entries of pages that were fetched under another name, by
	// the form that all names of the page share.
	twins  map[string]int32
	pages  map[string]bool // keys of the site's pages that have a file
	stored int64           // bytes of payloads, as they were sent
	last   time.Time       // of the last visit: the time that files of our own bear
	name   namer
	routes bool // some are pages that scripts show for a fragment
}

// seen is what stands for a URL, while the list is made.
type seen struct {
	rank crawllog.Rank
	at   time.Time
	entry
}

// gather reads the visits of the archive and keeps, of each URL, the one that
// stands highest (publish.Current), or stood so at a time. What it may show, its
// whole history says.
func gather(a *storage.Archive, o *Options) (*site, error) {
	var all []seen
	var stored int64
	var last time.Time
	for visits, err := range a.Histories() {
		if err != nil {
			return nil, err
		}
		u := weburl.FromCanonical(visits[0].URL)
		until, find := visits, crawllog.Lookup(a.VisitsAt)
		if !o.At.IsZero() {
			until, find = publish.Until(visits, o.At), publish.LookupAt(find, o.At)
		}
		v := publish.Current(until, find)
		if u.IsZero() || v == nil {
			continue
		}
		for _, each := range until {
			stored += each.Length
			if each.At.After(last) {
				last = each.At
			}
		}
		permit := publish.Permits(visits, o.Now, a.VisitsAt)[slices.Index(visits, v)]
		e := describe(v, u, &permit)
		e.own = v.IsPage()
		e.taken = crawllog.TakenBack(until, v, find)
		all = append(all, seen{crawllog.StandingOf(v, find).Rank, v.At, e})
	}
	slices.SortFunc(all, func(x, y seen) int {
		return cmp.Or(strings.Compare(x.url.String(), y.url.String()), cmp.Compare(y.rank, x.rank), y.at.Compare(x.at))
	})
	s := &site{o: o, own: map[string]bool{}, stored: stored, last: last}
	for _, origin := range o.Origins {
		s.own[origin] = true
	}
	for i := range all {
		if i == 0 || all[i].url != all[i-1].url {
			s.list = append(s.list, all[i].entry)
			s.routes = s.routes || all[i].url.Route() != ""
		}
	}
	s.at = placesOf(s.list)
	return s, s.complete(a)
}

// describe says what a visit means for the mirror.
func describe(v *crawllog.Visit, u weburl.URL, permit *publish.Permit) entry {
	e := entry{url: u, ref: v.Ref(), final: -1, cut: v.Truncated != "", list: permit.List, fixed: !permit.Translate}
	redirect, unchanged := v.Redirects(), v.Unchanged()
	switch {
	case v.Status == 0:
		e.why = "fetch: " + v.Error
	case (redirect || unchanged) && !permit.Show: // a redirect has its own X-Robots-Tag
		e.state, e.why = withheld, permit.Why()
	case unchanged:
		e.ref, e.state = *v.Refers, kept
	case redirect:
		e.state, e.to = moved, weburl.FromCanonical(v.Location)
	case v.Status == 404 || v.Status == 410:
		e.state, e.why = gone, fmt.Sprintf("http: %d", v.Status)
	case v.Status != 200 && v.Status != 203:
		e.why = fmt.Sprintf("http: %d", v.Status)
	case !permit.Show:
		e.state, e.why = withheld, permit.Why()
	case !v.HasBody():
		e.state, e.why = left, "no body is kept"
	default:
		e.state, e.typ = kept, declared(v.ContentType)
		e.sum = v.Digest
		// A title or links are found in what is HTML by its content too.
		e.page = e.typ == typeHTML && (v.Title != "" || v.Links > 0)
	}
	return e
}

// complete looks up what the list of visits does not say: types that are in
// doubt, fragments of redirects, bodies of unchanged pages.
func (s *site) complete(a *storage.Archive) error {
	for i := range s.list {
		e := &s.list[i]
		switch {
		case e.state == moved:
			e.part = fragmentOf(a, e.ref)
		case e.state != kept:
		case e.typ == "" || doubtful(e.typ) && !e.page:
			if err := s.look(a, e); err != nil {
				return err
			}
		}
		e.page = e.state == kept && (e.typ == typeHTML || e.typ == typeXHTML)
		if e.state == kept && e.cut && !e.page {
			e.state, e.why = failed, "fetch: cut off"
		}
	}
	s.pair()
	s.followAll()
	return nil
}

// sniffLength is how much of a body tells its type.
const sniffLength = 4096

// look decides the type of an entry by its content.
func (s *site) look(a *storage.Archive, e *entry) error {
	v, err := a.Visit(e.ref)
	if err != nil || v == nil {
		return cmp.Or(err, error(&storage.DamageError{File: "crawl.db", What: "the original of " + e.url.String() + " is missing"}))
	}
	p := publish.Decide(v, s.o.Now)
	e.list = e.list && p.List // of an unchanged page, what its original asks counts too
	if !p.Show || !v.HasBody() {
		e.state, e.why = withheld, p.Why()
		return nil
	}
	e.typ = declared(v.ContentType)
	if e.typ != "" && !doubtful(e.typ) {
		return nil
	}
	b, err := publish.OpenBody(a, v)
	var damage *storage.DamageError
	if errors.As(err, &damage) {
		return err
	}
	if err != nil {
		e.state, e.why, e.bad = failed, err.Error(), true
		return nil
	}
	defer b.Close()
	head := make([]byte, sniffLength)
	n, _ := io.ReadFull(b, head) // a broken coding shows when the file is written
	path := e.url.Path()
	_, ext := splitExt(decode(path[strings.LastIndexByte(path, '/')+1:]))
	e.typ = sniffed(e.typ, ext, head[:n])
	return nil
}

// fragmentOf is the fragment of a redirect's Location, which counts where a
// link has none of its own.
func fragmentOf(a *storage.Archive, ref crawllog.Ref) string {
	v, err := a.Visit(ref)
	if err != nil || v == nil || !v.HasBody() {
		return ""
	}
	r, err := a.Response(v)
	if err != nil {
		return ""
	}
	defer r.Close()
	location := http.Header(r.Header).Get("Location")
	if i := strings.IndexByte(location, '#'); i >= 0 {
		return location[i:]
	}
	return ""
}
