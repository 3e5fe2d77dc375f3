// Package changes answers: what is new on a site since a time? It compares, URL
// by URL, the copy that stood for it then with what later visits brought, and
// leaves out what changes on many pages at once: dates, counters, advertisements.
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

// Kind is what became of a URL.
type Kind string

// Kinds of changes.
const (
	New         Kind = "new"
	Changed     Kind = "changed"
	Gone        Kind = "gone"        // answered with 410, or twice with 404; what was kept is kept
	Back        Kind = "back"        // it was gone
	Moved       Kind = "moved"       // it redirects now
	Suspect     Kind = "suspect"     // an answer that is not taken for the page
	Unreachable Kind = "unreachable" // no answer, or one of a failing server
)

// Change is what became of one URL.
type Change struct {
	URL      string
	Kind     Kind
	Title    string
	Was, Now *crawllog.Visit   // the copies compared; Was is nil for what is new
	Reason   string            // of Suspect, Unreachable and Moved: what came
	Passages []Passage         // of Changed: what of the text, noise left out
	Listed   bool              // it may stand in a list that is published
	Usage    usage.Preferences // what its owner says about use now
	quoted   bool              // all of the text of both copies may be shown
}

// Options of a comparison. The zero value compares with the beginning of the
// archive: all is new.
type Options struct {
	Since time.Time // visits up to it are what was
	Until time.Time // later visits are left out; zero is none
	Now   time.Time // what publish.Decide goes by; zero is the clock's
}

// Of gives the changes of an archive, by URL in the order of discovery. What may
// not be shown has no title and no passages, and text of which only so much may be shown (max-snippet)
// has no passages. An error ends it.
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

// Totals count the pages and requisites that were visited in the time of a comparison:
// each is the same, or has one kind of change.
type Totals struct {
	Visited int
	Same    int
	Kinds   map[Kind]int
}

// Sum counts the changes that Of gives.
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

// tell calls yield for each change. What is noise is known when all pages have been
// compared once.
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
	seen    int // pages visited in the round
}

// each calls visit for every URL of which a visit later than Since tells
// something that differs.
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

// compare names the change that the visits of a URL, the oldest first, tell of;
// nil for none.
func (r *round) compare(visits []*crawllog.Visit) *Change {
	if !r.opts.Until.IsZero() {
		visits = publish.Until(visits, r.opts.Until)
	}
	before := publish.Until(visits, r.opts.Since)
	if len(visits) == len(before) || visits[0].Class != "page" &&
		visits[0].Class != "requisite" { // robots.txt and sitemaps have a history of their own
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

// permit asks what of the change may be told.
func (c *Change) permit(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) {
	c.Listed, c.quoted = true, true
	titled := true
	for i, p := range publish.Permits(visits, now, find) {
		if v := visits[i]; v == c.Now || v == c.Was {
			c.Listed, titled = c.Listed && p.List, titled && p.Quote()
			c.quoted = c.quoted && p.Show && p.Snippet == publish.NoLimit
			if v == c.Now {
				c.Usage = p.Usage
			}
		}
	}
	if titled {
		c.Title = c.Now.Title
	}
}

// kindOf names a change between the copies that stand for the URL, of which last is
// the latest visit.
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
		return "", "" // one that never was is no change
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
	case now.Digest != was.Digest || now.Location != was.Location:
		return Changed, ""
	}
	return "", ""
}

// badKind tells a failure of the server, or of the way to it, from an answer that
// is not taken for the page.
func badKind(last *crawllog.Visit, s crawllog.Standing) Kind {
	if last.Suspect == "" && (s.Rank <= crawllog.Refused || s.Rank >= crawllog.Partial && !last.Redirects() ||
		last.Status >= 400) {
		return Unreachable
	}
	return Suspect
}
