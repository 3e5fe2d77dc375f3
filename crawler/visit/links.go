package visit

import (
	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
)

// unlessFolded is the attempt without its rules' Clean-param where that would
// fold a redirect's target into the URL that redirects: nothing would be left
// to fetch.
func (a *Attempt) unlessFolded(target weburl.URL) *Attempt {
	if a.Rules == nil {
		return a
	}
	if folded, by := a.Rules.Fold(target); by == nil || folded != a.URL {
		return a
	}
	return &Attempt{Entry: a.Entry, URL: a.URL, Now: a.Now}
}

// rulesFor are those whose Clean-param folds a link's target: its own origin's.
func (r *Reader) rulesFor(a *Attempt, u weburl.URL) *rules.Robots {
	if u.Origin() == a.URL.Origin() {
		return a.Rules
	}
	if all := r.inForce.Load(); all != nil {
		return (*all)[u.Origin()]
	}
	return nil
}

// follow makes links of what the document names.
func (o *Outcome) follow(r *Reader, a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) {
	f := r.facts(a, o, doc)
	f.Page.SameBody = r.seenBefore(o)
	for _, n := range r.frontier.Unknown(nil, len(doc.Links), func(i int) weburl.URL { return doc.Links[i].URL }) {
		l := &doc.Links[n.Index]
		class, ok := classOf(l)
		if !ok {
			continue
		}
		link := frontier.Link{URL: l.URL, Class: class, Via: a.Entry.ID, Needed: class == frontier.Requisite,
			Alternate: r.guesses.isAlternate(l),
			Depth:     a.Entry.Depth + 1, How: judge.How(l.Tag + " " + l.Attr)}
		if n.Listed {
			if l.URL != a.URL {
				o.Links = append(o.Links, link) // which tells the frontier that a link leads there
			}
			continue
		}
		f.Page.RelNoFollow = l.NoFollow
		o.Links = r.judgeNew(o.Links, a, link, f)
	}
	if a.Rendered == nil { // the shell of all pages tells nothing of one
		o.softNotFound(r, a, x, doc)
	}
}

// seenBefore says whether so many pages had this very payload before that
// the links of one more are not followed: a soft 404, or a tree that mirrors
// itself.
func (r *Reader) seenBefore(o *Outcome) bool {
	d := o.Visit.Digest
	if made := o.Visit.Rendered; made != nil { // the pages that one shell makes differ
		return r.Scope().Traps.SameBody > 0 && r.bodies.add(made.SHA256, 1) > r.Scope().Traps.SameBody
	}
	if r.Scope().Traps.SameBody <= 0 || d == "" || o.original == nil || o.original.URLID == o.Visit.URLID {
		return false
	}
	return r.bodies.add(d, 1) >= r.Scope().Traps.SameBody
}

// facts are what the rules may know of the links of a document.
func (r *Reader) facts(a *Attempt, o *Outcome, doc *htmlmeta.Document) *judge.Facts {
	f := &judge.Facts{Settings: r.Scope(), Now: a.Now, Guessed: r.guesses.count,
		Page: judge.PageFacts{NoFollow: doc.Directives.NoFollow}}
	f.Settings = f.Settings.With(o.Names)
	return f
}

// Judge adds a link to the list, with the verdict on it, unless its URL is
// known and not only from a sitemap.
func (r *Reader) Judge(links []frontier.Link, a *Attempt, l frontier.Link, f *judge.Facts) []frontier.Link {
	l.Via = a.Entry.ID
	if !r.frontier.Known(l.URL) {
		return r.judgeNew(links, a, l, f)
	}
	if l.How != judge.HowSitemap && l.URL != a.URL && r.frontier.Orphan(l.URL) {
		return append(links, l) // which tells the frontier that a link leads there
	}
	return links
}

// judgeNew adds a link to a URL that is not known, with the verdict on it, and
// the URL that stands for it, by robots.txt or as the site's names are.
func (r *Reader) judgeNew(links []frontier.Link, a *Attempt, l frontier.Link, f *judge.Facts) []frontier.Link {
	f.Rules = r.rulesFor(a, l.URL)
	for {
		v := r.judgeName(&l, f)
		if !v.Excludes() {
			break
		}
		excluded := l
		excluded.Exclude(v)
		links = append(links, excluded)
		if v.Instead.IsZero() || r.frontier.Known(v.Instead) {
			return links
		}
		if f.Rules = nil; v.Reason.Rule == judge.Name {
			f.Rules = r.rulesFor(a, v.Instead)
		}
		l.URL = v.Instead
	}
	if l.URL.Target() == rules.Location {
		l.Class = frontier.Prerequisite
	}
	return append(links, l)
}

// classOf is the queue that a link's target belongs to; !ok where crawlers
// do not follow (a form is no link).
func classOf(l *htmlmeta.Link) (frontier.Class, bool) {
	switch l.Kind {
	case htmlmeta.Requisite:
		return frontier.Requisite, true
	case htmlmeta.Speculative:
		return frontier.Speculative, true
	case htmlmeta.Form, htmlmeta.Hint:
		return 0, false
	}
	return frontier.Page, true
}
