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

// maxHops is the most redirects followed in a row.
const maxHops = 21

// target is the state of a known URL.
type target struct {
	reason    uint32 // index in targets.reasons
	status    int16
	failed    bool
	waits     bool  // queued
	mentioned bool  // by a page that was read
	page      int32 // the last page that linked here
}

// targets tells for every known URL what a link to it leads to. URLs are identified by a 64-bit
// hash with a random key, so that no site can construct collisions.
type targets struct {
	o       Options
	page    int32           // the page being read
	strange map[string]bool // unknown URLs that the current page links to
	seed    maphash.Seed
	by      map[uint64]int32 // indices into all: without pointers, since there is one per URL
	all     []target
	moved   map[uint64]string // redirect targets
	hidden  []bool            // per page read: it must not be published
	reasons []string
	index   map[string]uint32
}

// Read reads the state of all URLs, and which pages have links that may be read.
func Read(ctx context.Context, a *storage.Archive, o Options) (*Site, error) {
	if o.Fold == nil {
		o.Fold = func(u weburl.URL) (weburl.URL, bool) { return u, false }
	}
	t := &targets{o: o, seed: maphash.MakeSeed(), by: map[uint64]int32{}, moved: map[uint64]string{},
		index: map[string]uint32{}, strange: map[string]bool{}}
	s := &Site{targets: t, a: a}
	err := o.Known(func(k Known) error {
		t.by[t.key(k.URL)] = int32(len(t.all))
		t.all = append(t.all, target{failed: k.State == "failed", waits: k.State == "queued",
			reason: t.intern(reasonOf(k))})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for visits, err := range a.Histories() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if o.Visits != nil {
			o.Visits(visits)
		}
		t.visited(visits[len(visits)-1])
		if v, may, ok := readable(a, visits, o.Now); ok && publish.HasPage(v) {
			s.pages, t.hidden = append(s.pages, v.Ref()), append(t.hidden, !may.List)
		}
	}
	return s, nil
}

// reasonOf says why a URL was not fetched; queued URLs have no rule.
func reasonOf(k Known) string {
	if k.State == "queued" && k.Reason.IsZero() {
		return "queued"
	}
	return k.Reason.String()
}

// visited records the latest visit of a URL.
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

// intern stores each distinct text once; there are few.
func (t *targets) intern(s string) uint32 {
	i, ok := t.index[s]
	if !ok {
		i = uint32(len(t.reasons))
		t.reasons, t.index[s] = append(t.reasons, s), i
	}
	return i
}

// judge judges a link to u. first is false if the page being read already linked to u; then l
// has no verdict, unless again is set.
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
	if folded, ok := t.o.Fold(u); ok { // the folded URL was fetched instead
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

// End follows the redirects from a URL and returns the last URL.
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

var inCircle = judge.Reason{Rule: judge.Location, Params: judge.Params{Text: judge.InCircle}}.String()

// redirected judges a link by the end of its redirects. All URLs of a redirect loop count as
// mentioned, so that a loop is reported once.
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
