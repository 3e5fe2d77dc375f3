// Package changes finds what has changed on a site since a time. For each URL it compares the
// copy that was current then with later visits, and ignores what changes on many pages at once:
// dates, counters, advertisements.
package changes

import (
	"context"
	"iter"
	"time"

	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// Kind says what happened to a URL.
type Kind string

// Kinds of changes.
const (
	New         Kind = "new"
	Changed     Kind = "changed"
	Gone        Kind = "gone"        // answered 410, or 404 twice; what was archived is kept
	Back        Kind = "back"        // it was gone before
	Moved       Kind = "moved"       // it redirects now
	Suspect     Kind = "suspect"     // an answer that is not accepted as the page
	Unreachable Kind = "unreachable" // no answer, or a server error
)

// Change is what happened to one URL.
type Change struct {
	URL      string
	Kind     Kind
	Title    string
	Was, Now *crawllog.Visit   // the copies compared; Was is nil for a new page
	Reason   string            // of Suspect, Unreachable and Moved: the answer
	Passages []Passage         // of Changed: the differences of the text, without noise
	Listed   bool              // it may appear in a published list
	Usage    usage.Preferences // the owner's current usage preferences; for Changed, those of both copies combined
	Until    time.Time         // when less of it may be shown (unavailable_after); zero: never
	quoted   bool              // passages of both copies may be shown
}

// Options of a comparison. With the zero value everything is new.
type Options struct {
	Since time.Time // visits up to it are the old state
	Until time.Time // later visits are ignored; zero: none are
	Now   time.Time // for publish.Permits; zero: the current time
	// Slight is called for each page whose text differs only in what is left out: numbers and dates, or what
	// changed on many pages. nil: it is not called.
	Slight func(url string)
}

// Of yields the changes of an archive in the order in which URLs were discovered. Pages that
// may not be shown have no title and no passages; pages that may not be quoted
// (publish.Permit.Quote) have no passages. An error ends the sequence.
func Of(ctx context.Context, a *storage.Archive, o Options) iter.Seq2[*Change, error] {
	return func(yield func(*Change, error) bool) {
		stopped := false
		err := newRound(a, o).tell(ctx, func(c *Change) error {
			if stopped = !yield(c, nil); stopped {
				return errStopped
			}
			return nil
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// Totals counts the pages and requisites visited in the period of a comparison: each is
// unchanged or has one kind of change.
type Totals struct {
	Visited int
	Same    int
	Kinds   map[Kind]int
}

// Sum counts the changes that Of yields.
func Sum(ctx context.Context, a *storage.Archive, o Options) (Totals, error) {
	r, t := newRound(a, o), Totals{Kinds: map[Kind]int{}}
	changed := 0
	err := r.tell(ctx, func(c *Change) error {
		t.Kinds[c.Kind]++
		changed++
		return nil
	})
	t.Visited, t.Same = r.seen, r.seen-changed
	return t, err
}

func newRound(a *storage.Archive, o Options) *round {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return &round{archive: a, find: crawllog.Remember(a.VisitsAt), opts: o, noise: newNoise()}
}

// tell calls yield for each change. It compares all pages twice: the first pass finds out what
// is noise.
func (r *round) tell(ctx context.Context, yield func(*Change) error) error {
	if err := r.each(ctx, r.learn); err != nil {
		return err
	}
	r.noise.pages = r.seen
	return r.each(ctx, func(c *Change) error {
		if real, err := r.passages(c); err != nil || !real {
			return err
		}
		if !c.quoted {
			c.Passages = nil
		}
		return yield(c)
	})
}

// round is one comparison of all URLs.
type round struct {
	archive *storage.Archive
	find    crawllog.Lookup
	opts    Options
	noise   *noise
	seen    int // pages and requisites visited in the period
}

// each calls visit for every URL that has a change since Since.
func (r *round) each(ctx context.Context, visit func(*Change) error) error {
	r.seen = 0
	for visits, err := range r.archive.Histories() {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c := r.compare(visits)
		if c == nil {
			continue
		}
		if err := visit(c); err != nil {
			return err
		}
	}
	return nil
}

// compare determines the change of a URL from its visits, oldest first; nil for none.
func (r *round) compare(visits []*crawllog.Visit) *Change {
	if !r.opts.Until.IsZero() {
		visits = publish.Until(visits, r.opts.Until)
	}
	before := publish.Until(visits, r.opts.Since)
	if len(visits) == len(before) || visits[0].Class != "page" &&
		visits[0].Class != "requisite" { // robots.txt and sitemaps are compared elsewhere
		return nil
	}
	r.seen++
	until := r.find
	if !r.opts.Until.IsZero() {
		until = publish.LookupAt(r.find, r.opts.Until)
	}
	last, now, was := visits[len(visits)-1], crawllog.Current(visits, until),
		publish.CurrentAt(visits, r.opts.Since, r.find)
	if was != nil && crawllog.StandingOf(was, publish.LookupAt(r.find, r.opts.Since)).Rank < crawllog.Partial {
		was = nil // nothing to compare with
	}
	c := &Change{URL: last.URL, Was: was, Now: now}
	c.Kind, c.Reason = r.kindOf(c, last, before, visits, until)
	if c.Kind == "" {
		return nil
	}
	c.permit(visits, r.opts.Now, r.find)
	return c
}

// permit determines what of the change may be shown.
func (c *Change) permit(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) {
	c.Listed, c.quoted = true, true
	titled, uses := true, map[*crawllog.Visit]usage.Preferences{}
	for i, p := range publish.Permits(visits, now, find) {
		v := visits[i]
		if d := v.Directives; d != nil && d.UnavailableAfter != nil && d.UnavailableAfter.After(now) &&
			(c.Until.IsZero() || d.UnavailableAfter.Before(c.Until)) {
			c.Until = *d.UnavailableAfter
		}
		if v == c.Now || v == c.Was {
			c.Listed, titled = c.Listed && p.List, titled && p.Show && p.Snippet != 0
			c.quoted = c.quoted && p.Quote()
			uses[v] = p.Usage
		}
	}
	if titled {
		c.Title = c.Now.Title
	}
	if c.Usage = uses[c.Now]; c.Kind == Changed && c.text() {
		c.Usage = both(uses[c.Was], c.Usage)
	}
}

// both combines the preferences of two captures for a text from both: No if either says No, Yes
// if both say Yes.
func both(a, b usage.Preferences) usage.Preferences {
	p := usage.Preferences{}
	for _, list := range []usage.Preferences{a, b} {
		for c, value := range list {
			if value == usage.No || a[c] == b[c] {
				p[c] = value
			}
		}
	}
	return p
}

// kindOf determines the change between two current copies; last is the latest visit.
func (r *round) kindOf(c *Change, last *crawllog.Visit, before, visits []*crawllog.Visit,
	find crawllog.Lookup) (kind Kind, reason string) {
	was, now := c.Was, c.Now
	_, gone := publish.GoneSince(visits, find)
	_, wasGone := publish.GoneSince(before, r.find)
	standing := crawllog.StandingOf(last, find)
	isBad := !standing.Stands() && !last.Unchanged() && (last != now || standing.Rank < crawllog.Limited &&
		!last.Redirects())
	switch {
	case was == nil && (gone || isBad):
		return "", "" // it never existed: no change
	case gone && wasGone:
		return "", ""
	case gone:
		return Gone, ""
	case last.Suspect == "" && last.Status == 404:
		return Suspect, "404, once"
	case isBad:
		return badKind(last, standing), standing.Why
	case wasGone:
		return Back, ""
	case was == nil:
		return New, ""
	case now.Redirects() && !was.Redirects():
		return Moved, now.Location
	case now.Differs(was) || now.Location != was.Location:
		return Changed, ""
	}
	return "", ""
}

// badKind distinguishes Unreachable (a failure of the server or the network) from Suspect (an
// answer that is not accepted as the page).
func badKind(last *crawllog.Visit, s crawllog.Standing) Kind {
	if last.Suspect == "" && (s.Rank <= crawllog.Refused || s.Rank >= crawllog.Partial && !last.Redirects() ||
		last.Status >= 400) {
		return Unreachable
	}
	return Suspect
}
