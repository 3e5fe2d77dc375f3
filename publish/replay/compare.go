package replay

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/changes"
	"curtsy/storage/crawllog"
)

// compareView is the data of a comparison of two captures.
type compareView struct {
	URL              string
	Was, Now         side
	Passages         []changes.Passage
	Text             bool // both are text and were compared
	Same             bool // the payloads are identical
	Frames           bool // the pages are shown in frames, not their texts
	Other            string
	Sandbox          string
	Versions, Pairs  string
	Earlier, Later   string // paths of the pairs before and after this one; "" for none
	Choices          []choice
	WithheldByAuthor string
}

// side is one of the two captures.
type side struct {
	At    time.Time
	TS    string
	Path  string
	Frame string
	Size  int64
	Title string
}

// choice is a capture that can be chosen.
type choice struct {
	TS string
	At time.Time
}

// maxChoices is the most captures offered.
const maxChoices = 500

// comparePath is the path of the comparison of two captures.
func comparePath(was, now time.Time, u string) string {
	return "/compare/" + was.UTC().Format(tsFormat) + "/" + now.UTC().Format(tsFormat) + "/" + listed(u)
}

// compareTexts handles /compare/TS/TS/URL.
func (s *Server) compareTexts(w http.ResponseWriter, r *http.Request, text string) error {
	return s.compare(w, r, text, false)
}

// comparePages handles /beside/TS/TS/URL, which shows the pages in frames.
func (s *Server) comparePages(w http.ResponseWriter, r *http.Request, text string) error {
	return s.compare(w, r, text, true)
}

func (s *Server) compare(w http.ResponseWriter, r *http.Request, text string, frames bool) error {
	first, rest, _ := strings.Cut(text, "/")
	was, ok := parseTS(first)
	a, ok2 := parseAddress("/" + rest)
	if !ok || !ok2 || a.raw {
		return s.show(w, r, http.StatusNotFound, "lost", &page{Title: say("No such page")})
	}
	_, all, u, err := s.find(r.Context(), a)
	if err != nil {
		return err
	}
	copies := versionsOf(all)
	before, after := pairAt(copies, was, a.at)
	if before == nil {
		return s.absentUI(w, r, u, nearest(all, a.at))
	}
	v := s.compareView(r, copies, before, after, u)
	if v.Frames = frames; frames {
		s.uiPolicy(w, s.contentBase(r, before.from)+"/ "+s.contentBase(r, after.from)+"/")
	}
	if err := v.fill(r.Context(), before, after); err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "compare", &page{Title: say("Two captures of %s", cmp.Or(v.Now.Title, v.URL)),
		URL: v.URL, View: v})
}

// choose handles the form that selects two captures.
func (s *Server) choose(w http.ResponseWriter, r *http.Request) error {
	was, ok := parseTS(r.FormValue("a"))
	now, ok2 := parseTS(r.FormValue("b"))
	urls := urlsOf(r.FormValue("url"))
	if !ok || !ok2 || len(urls) == 0 {
		return s.show(w, r, http.StatusBadRequest, "lost", &page{Title: say("Not two captures")})
	}
	if was.After(now) {
		was, now = now, was
	}
	return redirect(w, http.StatusSeeOther, comparePath(was, now, urls[0].String()))
}

// versionsOf returns the captures that may be shown and whose copy differs from the previous
// one, oldest first.
func versionsOf(all []*capture) (list []*capture) {
	for _, c := range all {
		if !c.shown() || !c.IsCopy() || c.rank < crawllog.Limited {
			continue
		}
		if n := len(list); n > 0 && !c.Differs(list[n-1].Visit) && list[n-1].from == c.from {
			continue
		}
		list = append(list, c)
	}
	return list
}

// standing returns the index of the version that was current at the end of a second; 0 if none
// was.
func standing(list []*capture, second time.Time) int {
	i := slices.IndexFunc(list, func(c *capture) bool { return !c.At.Before(second.Add(time.Second)) })
	if i < 0 {
		i = len(list)
	}
	return max(0, i-1)
}

// pairAt returns the versions that were current at two times with a resolution of a second. If
// the times are equal and two versions are of that second, it returns both.
func pairAt(list []*capture, was, now time.Time) (before, after *capture) {
	if len(list) == 0 {
		return nil, nil
	}
	i, j := standing(list, was), standing(list, now)
	if i == j && was.Equal(now) && i > 0 && list[i-1].At.Unix() == list[i].At.Unix() {
		i--
	}
	return list[i], list[j]
}

// changePaths maps each version of a URL to its comparison with the previous one.
func changePaths(versions []*capture) map[*capture]string {
	paths := map[*capture]string{}
	for i, c := range versions[min(1, len(versions)):] {
		paths[c] = comparePath(versions[i].At, c.At, c.URL)
	}
	return paths
}

func (s *Server) compareView(r *http.Request, copies []*capture, before, after *capture, u weburl.URL) *compareView {
	v := &compareView{URL: u.String(), Was: s.side(r, before, u), Now: s.side(r, after, u),
		Same:     !after.Differs(before.Visit),
		Versions: "/versions/" + listed(u.String()), Sandbox: s.sandbox(s.opaque())}
	pair := "/" + v.Was.TS + "/" + v.Now.TS + "/" + listed(u.String())
	v.Pairs, v.Other = "/compare"+pair, "/beside"+pair
	if i := slices.Index(copies, before); i > 0 {
		v.Earlier = comparePath(copies[i-1].At, before.At, u.String())
	}
	if j := slices.Index(copies, after); j+1 < len(copies) {
		v.Later = comparePath(after.At, copies[j+1].At, u.String())
	}
	for _, c := range copies[max(0, len(copies)-maxChoices):] {
		v.Choices = append(v.Choices, choice{c.At.UTC().Format(tsFormat), c.At})
	}
	slices.Reverse(v.Choices)
	return v
}

func (s *Server) side(r *http.Request, c *capture, u weburl.URL) side {
	ts := c.At.UTC().Format(tsFormat)
	return side{At: c.At, TS: ts, Path: pathTo(ts, u), Frame: s.contentBase(r, c.from) + pathTo(ts, u), Size: c.Length,
		Title: c.Title}
}

// fill compares the texts, if they may be shown.
func (v *compareView) fill(ctx context.Context, before, after *capture) (err error) {
	for _, c := range []*capture{before, after} {
		if !c.permit.Quote() {
			v.WithheldByAuthor = c.permit.Why()
			return nil
		}
	}
	v.Passages, err = changes.Compare(ctx, changes.Copy{Archive: before.archive, Visit: before.Visit},
		changes.Copy{Archive: after.archive, Visit: after.Visit})
	if errors.Is(err, changes.ErrNoText) {
		return nil
	}
	if err != nil && !publish.IsOfArchive(err) { // what the site sent cannot be decoded
		return nil
	}
	v.Text = true
	return err
}
