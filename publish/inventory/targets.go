package inventory

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// maxHops is how many redirects are followed one after another.
const maxHops = 21

// target is what became of a URL that links may lead to.
type target struct {
	reason    uint32 // index in targets.reasons
	status    int16
	failed    bool
	waits     bool  // it is queued
	mentioned bool  // by a page that was read
	page      int32 // the last page that led here
}

// targets says of every known URL what a link to it leads to. URLs are known by
// a hash of 64 bits with a key of its own, so that no site can choose ones that
// collide.
type targets struct {
	o       Options
	page    int32           // which is being read
	strange map[string]bool // what it leads to and nothing is known of
	seed    maphash.Seed
	by      map[uint64]int32 // places in all: no pointers, for a URL each
	all     []target
	moved   map[uint64]string // where redirects lead
	hidden  []bool            // of each page that is read: it must not be named
	reasons []string
	index   map[string]uint32
}

// readTargets reads what is known of all URLs, and which pages have links that can
// be told.
func readTargets(ctx context.Context, a *storage.Archive, o Options) (t *targets, pages []publish.Page, err error) {
	if o.Fold == nil {
		o.Fold = func(u weburl.URL) (weburl.URL, bool) { return u, false }
	}
	t = &targets{o: o, seed: maphash.MakeSeed(), by: map[uint64]int32{}, moved: map[uint64]string{},
		index: map[string]uint32{}, strange: map[string]bool{}}
	err = o.Known(func(k Known) error {
		t.by[t.key(k.URL)] = int32(len(t.all))
		t.all = append(t.all, target{failed: k.State == "failed", waits: k.State == "queued",
			reason: t.intern(reasonOf(k))})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for visits, err := range a.Histories() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		if o.Visits != nil {
			o.Visits(visits)
		}
		t.visited(visits[len(visits)-1])
		v, may, ok := readable(a, visits, o.Now)
		if !ok {
			continue
		}
		if p, ok := publish.PageOf(v); ok {
			pages, t.hidden = append(pages, p), append(t.hidden, !may.List)
		}
	}
	return t, pages, nil
}

// reasonOf is why a URL was not fetched; a URL that waits has no rule for it.
func reasonOf(k Known) string {
	if k.State == "queued" && k.Reason.IsZero() {
		return "queued"
	}
	return k.Reason.String()
}

// visited notes what the latest visit of a URL says.
func (t *targets) visited(v *crawllog.Visit) {
	if o := t.find(v.URL); o != nil {
		o.status = int16(v.Status)
	}
	if v.Location != "" {
		t.moved[t.key(v.URL)] = v.Location
	}
}

func (t *targets) key(url string) uint64 { return maphash.String(t.seed, url) }

func (t *targets) find(url string) *target { return t.at(t.key(url)) }

func (t *targets) at(key uint64) *target {
	if i, ok := t.by[key]; ok {
		return &t.all[i]
	}
	return nil
}

// intern keeps a text once: there are few distinct reasons.
func (t *targets) intern(s string) uint32 {
	i, ok := t.index[s]
	if !ok {
		i = uint32(len(t.reasons))
		t.reasons, t.index[s] = append(t.reasons, s), i
	}
	return i
}

// judge says what a link to u leads to; !first: the page being read has had one, whose
// verdict stands, unless again.
func (t *targets) judge(u weburl.URL, again bool) (l Link, first bool) {
	l.To, l.URL = u.String(), u
	key := t.key(l.To)
	o := t.at(key)
	switch first = o == nil && !t.strange[l.To] || o != nil && o.page != t.page; {
	case !first && !again:
		return l, false
	case o == nil:
		t.strange[l.To] = true
	default:
		o.page = t.page
	}
	url := l.To
	if folded, ok := t.o.Fold(u); ok { // another URL was fetched in its place
		if as := t.find(folded.String()); as != nil {
			url, o, key = folded.String(), as, t.key(folded.String())
		}
	}
	if o == nil {
		l.Reason, l.Verdict = "unknown to the crawl", Unchecked
		return l, first
	}
	o.mentioned = true
	l.Status, l.Broken, l.Reason = int(o.status), o.failed, t.reasons[o.reason]
	if _, moved := t.moved[key]; moved && (!o.failed || l.Reason == inCircle) {
		t.redirected(&l, url)
	}
	l.judged(o.waits)
	return l, first
}

// End is where redirects of the site lead from a URL.
func (t *targets) End(url string) string {
	for range maxHops {
		next, moved := t.moved[t.key(url)]
		if !moved {
			break
		}
		url = next
	}
	return url
}

var inCircle = judge.Words(judge.Reason{Rule: judge.Location, Params: judge.Params{Text: judge.InCircle}})

// redirected judges a link by the end of the redirects that it leads to.
//
// Where that is a circle all of it is mentioned: it is one broken link and not several.
func (t *targets) redirected(l *Link, url string) {
	seen := map[string]bool{}
	for range maxHops {
		next, moved := t.moved[t.key(url)]
		if !moved {
			return
		}
		if seen[url] {
			l.Broken, l.Reason = true, inCircle
			return
		}
		seen[url] = true
		url = next
		l.Reason = "redirect: to " + url
		end := t.find(url)
		if end == nil {
			return
		}
		end.mentioned = true
		if l.Broken = end.failed; end.failed && t.reasons[end.reason] != inCircle {
			l.Reason += ": " + t.reasons[end.reason]
			return
		}
	}
	l.Broken, l.Reason = true, fmt.Sprintf("redirect: more than %d in a row", maxHops-1)
}
