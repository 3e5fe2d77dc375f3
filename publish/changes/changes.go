// Package changes answers: what is new on a site since a time? It compares, URL
// by URL, the copy that stood for it then with what later visits brought, and
// leaves out what changes on many pages at once: dates, counters, advertisements.
package changes

import (
	"context"
	"iter"
	"strconv"
	"time"

	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
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
	Was, Now *crawllog.Visit // the copies compared; Was is nil for what is new
	Reason   string          // of Suspect, Unreachable and Moved: what came
	Passages []Passage       // of Changed: what of the text, noise left out
	Listed   bool            // it may stand in a list that is published
	shown    bool            // title and text of both copies may be shown
}

// Options of a comparison. The zero value compares with the beginning of the
// archive: all is new.
type Options struct {
	Since time.Time // visits up to it are what was
	Until time.Time // later visits are left out; zero is none
	Now   time.Time // what publish.Decide goes by; zero is the clock's
}

// Of gives the changes of an archive, by URL in the order of discovery. What may
// not be shown has no title and no passages. An error ends it.
func Of(ctx context.Context, a *storage.Archive, o Options) iter.Seq2[*Change, error] {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return func(yield func(*Change, error) bool) {
		r := round{archive: a, opts: o, noise: newNoise()}
		// What is noise is known when all pages have been compared once.
		if err := r.each(ctx, r.learn); err != nil {
			yield(nil, err)
			return
		}
		r.noise.pages = r.seen
		stopped := false
		err := r.each(ctx, func(c *Change) error {
			if err := r.passages(c); err != nil {
				return err
			}
			if c.Kind == Changed && len(c.Passages) == 0 && c.text() {
				return nil
			}
			if !c.shown {
				c.Passages = nil
			}
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

// round is one comparison of all URLs.
type round struct {
	archive *storage.Archive
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
	if len(visits) == len(before) || visits[0].Class != "page" && visits[0].Class != "requisite" { // robots.txt and sitemaps have a history of their own
		return nil
	}
	r.seen++
	last, now, was := visits[len(visits)-1], publish.Current(visits), publish.Current(before)
	c := &Change{URL: last.URL, Was: copyOf(was), Now: now}
	c.Kind, c.Reason = kindOf(c.Was, now, last, before, visits)
	if c.Kind == "" {
		return nil
	}
	c.permit(visits, r.opts.Now)
	return c
}

// permit asks what of the change may be told.
func (c *Change) permit(visits []*crawllog.Visit, now time.Time) {
	c.Listed, c.shown = true, true
	for i, p := range publish.Permits(visits, now) {
		if v := visits[i]; v == c.Now || v == c.Was {
			c.Listed, c.shown = c.Listed && p.List, c.shown && p.Quote()
		}
	}
	if c.shown {
		c.Title = c.Now.Title
	}
}

// copyOf is the visit if it kept something to compare with, else nil.
func copyOf(v *crawllog.Visit) *crawllog.Visit {
	if v == nil || v.Status == 0 || v.Status >= 400 {
		return nil
	}
	return v
}

// kindOf names a change: was and now are the copies that stand for the URL, last
// is the latest visit.
func kindOf(was, now, last *crawllog.Visit, before, visits []*crawllog.Visit) (kind Kind, reason string) {
	_, gone := publish.GoneSince(visits)
	_, wasGone := publish.GoneSince(before)
	switch {
	case gone:
		if wasGone || was == nil {
			return "", ""
		}
		return Gone, ""
	case last.Suspect != "":
		return Suspect, last.Suspect
	case last.Status == 404:
		if was == nil {
			return "", ""
		}
		return Suspect, "404, once"
	case publish.StandingOf(last).Rank() < 2:
		return unreachable(was, last)
	case last.Status >= 400, isCut(last):
		return unreachable(was, last)
	case wasGone:
		return Back, ""
	case was == nil:
		return New, ""
	case now.Status >= 300 && now.Status < 400 && was.Status < 300:
		return Moved, now.Location
	case now.Digest != was.Digest || now.Location != was.Location:
		return Changed, ""
	}
	return "", ""
}

// isCut says that the server, or the way to it, broke off.
func isCut(v *crawllog.Visit) bool { return v.Truncated == "disconnect" || v.Truncated == "time" }

// unreachable tells of a page that was there; one that never was is no change.
func unreachable(was, last *crawllog.Visit) (Kind, string) {
	switch {
	case was == nil:
		return "", ""
	case last.Error != "":
		return Unreachable, last.Error
	case last.Blocked != "":
		return Unreachable, last.Blocked
	case isCut(last):
		return Unreachable, "cut off by the server"
	}
	return Unreachable, "HTTP " + strconv.Itoa(last.Status)
}
