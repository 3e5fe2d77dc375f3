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

// state is what became of a URL in the mirror.
type state uint8

const (
	failed   state = iota // no answer, or one that is not the page
	gone                  // 404, 410
	left                  // body dropped by a crawl rule
	withheld              // excluded by a directive
	moved                 // a redirect
	kept                  // it has a file
)

// noBody is the reason of entries whose body a crawl rule dropped; the report lists them as
// skipped.
const noBody = "no body is kept"

// entry is a visited URL: its current capture, and its file. All entries of a mirror are in
// memory, so each is small: shared strings are interned, and a file name that is a suffix of
// its URL shares its memory.
type entry struct {
	url   weburl.URL
	kind  word   // see typ
	file  string // "" if it has none
	fate  *fate  // nil for most kept entries
	urlID uint64 // with n, of the visit
	n     uint32
	final int32 // moved: the entry at the end of the chain, or -1
	rank  crawllog.Rank
	state state
	cut   bool // the body is truncated
	page  bool // HTML
	own   bool // it counts as a page of the site
	raw   bool // kept: its links were not rewritten
	same  bool // kept: it shares the file of another URL with the same payload
	bad   bool // failed: it has a body that cannot be read
	list  bool // the URL may be published
	taken bool // withheld: by noarchive, or refused for the purpose of the export
	fixed bool // it gets translate="no"
	still still
}

// fate holds the details of an entry without a page of its own.
type fate struct {
	why  word       // the reason, except for kept
	to   weburl.URL // of a redirect
	part string     // the fragment of its Location
}

// typ returns the media type; "" if unknown.
func (e *entry) typ() string { return e.kind.text() }

func (e *entry) is(typ string) { e.kind = wordOf(typ) }

// ref returns the visit whose body the entry has.
func (e *entry) ref() crawllog.Ref { return crawllog.Ref{URLID: e.urlID, N: int(e.n)} }

func (e *entry) refers(r crawllog.Ref) { e.urlID, e.n = r.URLID, uint32(r.N) }

func (e *entry) why() string {
	if e.fate == nil {
		return ""
	}
	return e.fate.why.text()
}

// ended sets the state and reason of an entry without a page of its own.
func (e *entry) ended(s state, why string) {
	e.state = s
	e.because(why)
}

func (e *entry) because(why string) {
	if e.fate == nil {
		e.fate = new(fate)
	}
	e.fate.why = wordOf(why)
}

// to and part are the target of a redirect; zero for other entries.
func (e *entry) to() weburl.URL {
	if e.fate == nil {
		return weburl.URL{}
	}
	return e.fate.to
}

func (e *entry) part() string {
	if e.fate == nil {
		return ""
	}
	return e.fate.part
}

// site is the sorted list of entries, with indexes.
type site struct {
	list []entry
	at   map[string]int32 // entry numbers, by URL
	a    *storage.Archive
	o    *Options
	// origins are the origins with a visit.
	origins map[string]bool
	// twins maps the common form of a page's URLs (Options.Twin) to the entry under which the
	// page was fetched.
	twins  map[string]int32
	pages  nameSet   // keys of the site's pages that have a file (Options.key)
	stored int64     // octets of payloads as sent
	sent   int64     // those of them that are to be written
	last   time.Time // time of the last visit; the mirror's own files get it
	routes bool      // some pages are rendered from a fragment route
	start  bool      // some page is named index.html
	// badNames are names that some file system does not accept.
	badNames []Problem

	texts  texts
	digest func(crawllog.Ref) string // of a payload; "" if unknown
}

// gather reads the visits of the archive and chooses for each URL the current one
// (crawllog.Current), or the one that was current at Options.At. The whole history of the URL
// determines what may be shown.
func gather(a *storage.Archive, o *Options) (*site, error) {
	s := &site{a: a, o: o, origins: map[string]bool{}}
	s.digest = func(r crawllog.Ref) string {
		v, err := a.Visit(r)
		if err != nil || v == nil {
			return ""
		}
		return v.Digest
	}
	n, last := 0, uint64(0)
	for _, err := range a.Visits(func(r crawllog.Ref) bool { // reads no visits, only counts URLs
		if r.URLID != last {
			n, last = n+1, r.URLID
		}
		return false
	}) {
		if err != nil {
			return nil, err
		}
	}
	s.list = make([]entry, 0, n)
	for visits, err := range a.Histories() {
		if err != nil {
			return nil, err
		}
		s.take(visits)
	}
	slices.SortFunc(s.list, func(x, y entry) int {
		return cmp.Or(strings.Compare(x.url.String(), y.url.String()), cmp.Compare(y.rank, x.rank),
			cmp.Compare(y.urlID, x.urlID))
	})
	s.list = slices.CompactFunc(s.list, func(x, y entry) bool { return x.url == y.url })
	s.at = make(map[string]int32, len(s.list))
	for i := range s.list {
		s.at[s.list[i].url.String()] = int32(i)
		s.origins[s.list[i].url.Origin()] = true
	}
	return s, s.complete(a)
}

// take adds the entry of a URL, given its visits.
func (s *site) take(visits []*crawllog.Visit) {
	u := weburl.FromCanonical(s.texts.keep(visits[0].URL))
	until, find := visits, crawllog.Lookup(s.a.VisitsAt)
	if !s.o.At.IsZero() {
		until, find = publish.Until(visits, s.o.At), publish.LookupAt(find, s.o.At)
	}
	v := crawllog.Current(until, find)
	if u.IsZero() || v == nil {
		return
	}
	for _, each := range until {
		s.stored += each.Length
		if each.At.After(s.last) {
			s.last = each.At
		}
	}
	permit := publish.Permits(visits, s.o.Now, s.a.VisitsAt)[slices.Index(visits, v)]
	unfit := permit.Show && v.HasBody() && !s.o.Admits(permit.Usage)
	if unfit {
		permit.Show = false
		permit.Reasons = append(slices.Clip(permit.Reasons), publish.Reason{Directive: "not for this purpose"})
	}
	e := describe(v, u, &permit)
	if e.state == kept {
		s.sent += v.Length
	}
	e.own, e.taken = v.IsPage(), unfit || crawllog.TakenBack(until, v, find)
	e.rank = crawllog.StandingOf(v, find).Rank
	s.routes = s.routes || u.Route() != ""
	s.list = append(s.list, e)
}

// describe makes the entry of a visit.
func describe(v *crawllog.Visit, u weburl.URL, permit *publish.Permit) entry {
	e := entry{url: u, final: -1, cut: v.Truncated != "", list: permit.List, fixed: !permit.Translate}
	e.refers(v.Ref())
	redirect, unchanged := v.Redirects(), v.Unchanged()
	switch {
	case v.Status == 0:
		e.because("fetch: " + v.Error)
	case v.Blocked != "": // a challenge, or a probe: no link leads to it
		e.because("blocked: " + v.Blocked)
	case (redirect || unchanged) && !permit.Show: // a redirect can have an X-Robots-Tag
		e.ended(withheld, permit.Why())
	case unchanged:
		e.refers(*v.Refers)
		e.state = kept
	case redirect:
		e.state, e.fate = moved, &fate{to: weburl.FromCanonical(strings.Clone(v.Location))}
	case v.Status == 404 || v.Status == 410:
		e.ended(gone, fmt.Sprintf("http: %d", v.Status))
	case v.Status != 200 && v.Status != 203:
		e.because(fmt.Sprintf("http: %d", v.Status))
	case !permit.Show:
		e.ended(withheld, permit.Why())
	case v.Elsewhere() != nil:
		e.ended(left, v.Elsewhere().String())
	case !v.HasBody():
		e.ended(left, noBody)
	default:
		e.state = kept
		e.is(declared(v.ContentType))
		// Only HTML has a title or links, whatever the Content-Type says.
		e.page = e.typ() == typeHTML && (v.Title != "" || v.Links > 0)
	}
	return e
}

// complete looks up what the visits do not hold: doubtful media types, fragments of redirects,
// bodies of unchanged pages.
func (s *site) complete(a *storage.Archive) error {
	for i := range s.list {
		e := &s.list[i]
		switch {
		case e.state == moved:
			e.fate.part = fragmentOf(a, e.ref())
		case e.state != kept:
		case e.typ() == "" || doubtful(e.typ()) && !e.page:
			if err := s.look(a, e); err != nil {
				return err
			}
		}
		e.page = e.state == kept && (e.typ() == typeHTML || e.typ() == typeXHTML)
		if e.state == kept && e.cut && !e.page {
			e.ended(failed, "fetch: cut off")
		}
	}
	s.pair()
	s.followAll()
	return nil
}

// sniffLength is how many octets are read to detect a type.
const sniffLength = 4096

// look detects the media type of an entry from its content.
func (s *site) look(a *storage.Archive, e *entry) error {
	v, err := a.Visit(e.ref())
	if err != nil || v == nil {
		return cmp.Or(err, error(&storage.DamageError{File: "crawl.db", What: "the original of " + e.url.String() +
			" is missing"}))
	}
	p := publish.Decide(v, s.o.Now)
	e.list = e.list && p.List // for an unchanged page, the directives of its original apply too
	if !p.Show || !v.HasBody() {
		e.ended(withheld, p.Why())
		return nil
	}
	e.is(declared(v.ContentType))
	if e.typ() != "" && !doubtful(e.typ()) {
		return nil
	}
	b, err := publish.OpenBody(a, v)
	var damage *storage.DamageError
	if errors.As(err, &damage) {
		return err
	}
	if err != nil {
		e.bad = true
		e.ended(failed, err.Error())
		return nil
	}
	defer b.Close()
	head := make([]byte, sniffLength)
	n, _ := io.ReadFull(b, head) // a broken coding is reported when the file is written
	path := e.url.Path()
	_, ext := splitExt(decode(path[strings.LastIndexByte(path, '/')+1:]))
	e.is(sniffed(e.typ(), ext, head[:n]))
	return nil
}

// fragmentOf returns the fragment of a redirect's Location. It applies if the link itself has
// none.
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
