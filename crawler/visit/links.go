package visit

import (
	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
)

// unlessFolded returns the attempt without its rules if their Clean-param would reduce a redirect's
// target to the redirecting URL: nothing would be left to fetch.
func (a *Attempt) unlessFolded(target weburl.URL) *Attempt {
	if a.Rules == nil {
		return a
	}
	if folded, by := a.Rules.Fold(target); by == nil || folded != a.URL {
		return a
	}
	return &Attempt{Entry: a.Entry, URL: a.URL, Now: a.Now}
}

// rulesFor returns the rules whose Clean-param applies to u: those of its own origin.
func (r *Reader) rulesFor(a *Attempt, u weburl.URL) *rules.Robots {
	if u.Origin() == a.URL.Origin() {
		return a.Rules
	}
	if all := r.inForce.Load(); all != nil {
		return (*all)[u.Origin()]
	}
	return nil
}

// follow adds the links of the document to the outcome.
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
				o.Links = append(o.Links, link) // tells the frontier that a link leads there
			}
			continue
		}
		f.Page.RelNoFollow = l.NoFollow
		o.Links = r.judgeNew(o.Links, a, link, f)
	}
	if a.Rendered == nil { // all pages of an application have the same shell
		o.softNotFound(r, a, x, doc)
	}
}

// seenBefore reports whether so many pages had this same payload that the links of a further one are not
// followed: a soft 404, or a tree that contains itself.
func (r *Reader) seenBefore(o *Outcome) bool {
	d := o.Visit.Digest
	if made := o.Visit.Rendered; made != nil { // compare the rendered pages, not their common shell
		return r.Scope().Traps.SameBody > 0 && r.bodies.add(made.SHA256, 1) > r.Scope().Traps.SameBody
	}
	if r.Scope().Traps.SameBody <= 0 || d == "" || o.original == nil || o.original.URLID == o.Visit.URLID {
		return false
	}
	return r.bodies.add(d, 1) >= r.Scope().Traps.SameBody
}

// facts returns what the rules may know about the links of a document.
func (r *Reader) facts(a *Attempt, o *Outcome, doc *htmlmeta.Document) *judge.Facts {
	f := &judge.Facts{Settings: r.Scope(), Now: a.Now, Guessed: r.guesses.count,
		Page: judge.PageFacts{NoFollow: doc.Directives.NoFollow}}
	f.Settings = f.Settings.With(o.Names)
	return f
}

// Judge appends a link with its verdict, unless its URL is already known and not only from a sitemap.
func (r *Reader) Judge(links []frontier.Link, a *Attempt, l frontier.Link, f *judge.Facts) []frontier.Link {
	l.Via = a.Entry.ID
	if !r.frontier.Known(l.URL) {
		return r.judgeNew(links, a, l, f)
	}
	if l.How != judge.HowSitemap && l.URL != a.URL && r.frontier.Orphan(l.URL) {
		return append(links, l) // tells the frontier that a link leads there
	}
	return links
}

// judgeNew appends a link to an unknown URL with its verdict, and the URL that takes its place by
// Clean-param or as the primary name.
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

// classOf returns the class of a link's target; ok is false for links that crawlers do not follow, such
// as forms.
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
