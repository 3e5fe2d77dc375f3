package replay

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish/catalog"
	"curtsy/publish/search"
	"curtsy/usage"
)

// startView is the data of an archive on the start page.
type startView struct {
	*Reading
	catalog.Counts
	Title, Seed, Open string
	Size              int64
	Changes           string // path of the changes of the last round; "" for none
	Number            int    // from 1, as in ?archive=
	Searches, Reports bool
	Plots             []Plot
}

func (s *Server) start(w http.ResponseWriter, r *http.Request) error {
	var list []startView
	for i, from := range s.sources {
		n, err := from.Catalog.Counts(r.Context())
		if err != nil {
			return err
		}
		reading, err := from.Reading(r.Context())
		if err != nil {
			return err
		}
		size, err := reading.Archive.SegmentBytes()
		if err != nil {
			return err
		}
		v := startView{Reading: reading, Counts: n, Title: from.Name, Seed: from.Seed.String(), Size: size,
			Number: i + 1, Searches: from.Search != nil, Reports: from.Report != nil,
			Open: pathTo(n.To.UTC().Format(tsFormat), from.Seed)}
		c, _, _, err := s.find(r.Context(), address{text: from.Seed.String(), at: s.now()})
		if err != nil {
			return err
		}
		if c != nil && c.shown() {
			v.Title = cmp.Or(c.Title, v.Title)
		}
		v.Title = cmp.Or(v.Title, from.Seed.Host())
		if len(s.sources) > 1 && v.Title != from.Name { // archives of one site have the same title
			v.Title = fmt.Sprintf("%s (%s)", v.Title, cmp.Or(from.Name, strconv.Itoa(i+1)))
		}
		if rounds := len(reading.Rounds); rounds > 0 {
			v.Changes = changesPath(i+1, rounds)
		}
		if from.Plots != nil && n.Captures > 0 {
			if v.Plots, err = from.Plots(r.Context()); err != nil {
				return err
			}
		}
		list = append(list, v)
	}
	return s.show(w, r, http.StatusOK, "start", &page{Title: say("Archive"), View: list})
}

// replayView is the data of a framed capture.
type replayView struct {
	Title, URL, Frame, Sandbox string
	At                         time.Time
	Earlier, Later             *link
	Count                      int
	Versions, Raw, Search      string
	Compare                    string // with the previous version; "" for none
	Rule                       phrase
	Status                     int
	Note                       phrase // says that this is not what was requested
	Use                        string // the owner's usage preferences
	Download                   bool   // browsers do not show it in a sandboxed frame
	Type                       string
	Size                       int64
}

type link struct {
	Path string
	At   time.Time
}

// replay shows a capture in a frame below a banner.
func (s *Server) replay(w http.ResponseWriter, r *http.Request, a address) error {
	c, all, u, err := s.find(r.Context(), a)
	switch {
	case err != nil:
		return err
	case c == nil || !c.shown():
		return s.absentUI(w, r, u, c)
	case a.raw:
		return redirect(w, http.StatusFound, s.contentBase(r, c.from)+target(r))
	}
	base := s.contentBase(r, c.from)
	s.uiPolicy(w, base+"/")
	s.mementoHeaders(w, r, c)
	ts := c.At.UTC().Format(tsFormat)
	v := &replayView{Title: cmp.Or(c.Title, c.URL), URL: c.URL, At: c.At, Frame: base + pathTo(ts, u),
		Sandbox:  s.sandbox(s.opaque()),
		Versions: "/versions/" + listed(c.URL), Raw: base + pathTo(ts+"id_", u), Rule: ruleText(c),
		Use: usage.Combine(c.Usage).String(), Status: c.Status, Size: c.Length, Type: c.ContentType}
	v.Download = strings.HasPrefix(strings.ToLower(c.ContentType), "application/pdf")
	for _, o := range all {
		switch {
		case !o.shown():
			continue
		case o.At.Before(c.At):
			v.Earlier = &link{pathTo(o.At.UTC().Format(tsFormat), u), o.At}
		case o.At.After(c.At) && v.Later == nil:
			v.Later = &link{pathTo(o.At.UTC().Format(tsFormat), u), o.At}
		}
		v.Count++
	}
	if versions := versionsOf(all); len(versions) > 0 { // the version of this capture
		v.Compare = changePaths(versions)[versions[standing(versions, c.At.Truncate(time.Second))]]
	}
	if !c.gone.IsZero() && c.At.Before(c.gone) {
		v.Note = say("The page is gone from the site since %s; this is how it was before.", c.gone)
	}
	if c.Status >= 400 {
		v.Note = say("The site answered with status %d.", c.Status)
	}
	return s.show(w, r, http.StatusOK, "replay", &page{Title: say("%s", v.Title), URL: c.URL, View: v})
}

// ruleText says by which rule a capture was allowed.
func ruleText(c *capture) phrase {
	switch d := c.Robots; {
	case d == nil:
		return say("fetched as part of the crawl")
	case d.Line > 0:
		return say("robots.txt line %d: %s", d.Line, d.Rule)
	case d.Rule != "":
		return say("robots.txt: %s", d.Rule)
	}
	return say("no rule of robots.txt forbids it")
}

// absentView is the data of a page that is not shown, with the reason.
type absentView struct {
	URL      string
	Withheld string
	Why      []string
	Versions string
}

// absentUI says why there is nothing to show.
func (s *Server) absentUI(w http.ResponseWriter, r *http.Request, u weburl.URL, c *capture) error {
	if u.IsZero() {
		return s.show(w, r, http.StatusNotFound, "lost", &page{Title: say("Not an address")})
	}
	v, status := s.absentView(u, c)
	return s.show(w, r, status, "absent", &page{Title: say("Not in the archive"), URL: u.String(), View: v})
}

func (s *Server) absentView(u weburl.URL, c *capture) (*absentView, int) {
	v, status := &absentView{URL: u.String()}, http.StatusNotFound
	if c != nil && c.Status != 0 {
		v.Withheld, status = c.permit.Why(), http.StatusUnavailableForLegalReasons
		if c.permit.Show {
			v.Withheld, status = "", http.StatusNotFound // there is no body
		}
		if e := c.Elsewhere(); e != nil {
			v.Why = append(v.Why, e.String())
		}
	}
	for _, from := range s.sources {
		if from.Explain != nil && (len(s.sources) == 1 || from.Seed.Origin() == u.Origin()) {
			v.Why = append(v.Why, from.Explain(u)...)
		}
	}
	v.Why = slices.Compact(v.Why) // archives of one site give the same reasons
	return v, status
}

// absent says why there is nothing to show, within the frame.
func (s *Server) absent(w http.ResponseWriter, r *http.Request, u weburl.URL, c *capture) error {
	isDocument := slices.Contains([]string{"", "document", "iframe", "frame"}, r.Header.Get("Sec-Fetch-Dest"))
	if u.IsZero() || !isDocument { // such as an image or script
		return refuse(w, http.StatusNotFound, "not in the archive")
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; "+
		s.ancestors(r)+"sandbox")
	v, status := s.absentView(u, c)
	return s.show(w, r, status, "missing", &page{Title: say("Not in the archive"), View: v})
}

// searchView is the result of a search.
type searchView struct {
	Hits        []hitView
	Total       int
	Note        string
	First, Last int    // of the hits shown, from 1
	Back, On    string // paths of the previous and next page of hits; "" for none
}

type hitView struct {
	search.Hit
	Path string
}

// maxHits is the most results of an archive on a page, maxHitPages the most pages of results.
const (
	maxHits     = 20
	maxHitPages = 500
)

func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	values := r.URL.Query()
	q := strings.TrimSpace(values.Get("q"))
	v := &searchView{}
	in, _ := strconv.Atoi(values.Get("archive"))
	at, _ := strconv.Atoi(values.Get("page"))
	at = max(1, min(at, maxHitPages))
	more := false
	for i, from := range s.sources {
		if from.Search == nil || q == "" || in > 0 && in != i+1 {
			continue
		}
		hits, total, note, err := from.Search(r.Context(), q, (at-1)*maxHits, maxHits)
		if err != nil {
			note = "No answer: " + err.Error()
		}
		v.Note = cmp.Or(v.Note, note)
		v.Total, more = v.Total+total, more || total > at*maxHits
		v.First += min(total, (at-1)*maxHits)
		for _, h := range hits {
			u := urlsOf(h.URL)
			shown, err := Found(r.Context(), s.sources, &h, s.now())
			switch {
			case err != nil:
				return err
			case !shown:
				v.Total--
			case len(u) > 0:
				v.Hits = append(v.Hits, hitView{h, pathTo(h.Captured.UTC().Format(tsFormat), u[0])})
			}
		}
	}
	v.First, v.Last = v.First+1, v.First+len(v.Hits)
	to := func(page int) string {
		values.Set("page", strconv.Itoa(page))
		return "/search?" + values.Encode()
	}
	if at > 1 {
		v.Back = to(at - 1)
	}
	if more && at < maxHitPages {
		v.On = to(at + 1)
	}
	return s.show(w, r, http.StatusOK, "search", &page{Title: say("Search"), Query: q, View: v})
}

// report serves the report of an archive, a self-contained document without scripts.
func (s *Server) report(w http.ResponseWriter, r *http.Request) error {
	n, err := strconv.Atoi(cmp.Or(r.FormValue("archive"), "1"))
	if err != nil || n < 1 || n > len(s.sources) || s.sources[n-1].Report == nil {
		return s.show(w, r, http.StatusNotFound, "lost", &page{Title: say("No such report")})
	}
	b, err := s.sources[n-1].Report(r.Context())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b)
	return nil
}
