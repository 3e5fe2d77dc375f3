package inventory

import (
	"fmt"
	"hash/maphash"

	"curtsy/internal/weburl"
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
	mentioned bool // by a page that was read
}

// targets says of every known URL what a link to it leads to. URLs are known by
// a hash of 64 bits with a key of its own, so that no site can choose ones that
// collide.
type targets struct {
	o       Options
	seed    maphash.Seed
	by      map[uint64]*target
	moved   map[uint64]string // where redirects lead
	reasons []string
	index   map[string]uint32
}

func readTargets(a *storage.Archive, o Options) (*targets, error) {
	if o.Fold == nil {
		o.Fold = func(u weburl.URL) (weburl.URL, bool) { return u, false }
	}
	t := &targets{o: o, seed: maphash.MakeSeed(), by: map[uint64]*target{}, moved: map[uint64]string{}, index: map[string]uint32{}}
	err := o.Known(func(k Known) error {
		t.by[t.key(k.URL)] = &target{failed: k.State == "failed", reason: t.intern(reasonOf(k))}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for visits, err := range a.Histories() {
		if err != nil {
			return nil, err
		}
		t.visited(visits[len(visits)-1])
	}
	return t, nil
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

func (t *targets) find(url string) *target { return t.by[t.key(url)] }

// intern keeps a text once: there are few distinct reasons.
func (t *targets) intern(s string) uint32 {
	i, ok := t.index[s]
	if !ok {
		i = uint32(len(t.reasons))
		t.reasons, t.index[s] = append(t.reasons, s), i
	}
	return i
}

// judge says what a link to u leads to.
func (t *targets) judge(u weburl.URL) Link {
	l := Link{To: u.String()}
	url, o := l.To, t.find(l.To)
	if folded, ok := t.o.Fold(u); ok { // another URL was fetched in its place
		if as := t.find(folded.String()); as != nil {
			url, o = folded.String(), as
		}
	}
	if o == nil {
		l.Reason = "unknown to the crawl"
		return l
	}
	o.mentioned = true
	l.Status, l.Broken, l.Reason = int(o.status), o.failed, t.reasons[o.reason]
	if _, moved := t.moved[t.key(url)]; moved && !o.failed {
		t.redirected(&l, url)
	}
	return l
}

// redirected judges a link by the end of the redirects that it leads to.
func (t *targets) redirected(l *Link, url string) {
	seen := map[string]bool{}
	for range maxHops {
		next, moved := t.moved[t.key(url)]
		if !moved {
			return
		}
		if seen[url] {
			l.Broken, l.Reason = true, "redirect: in a circle"
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
		if l.Broken = end.failed; end.failed {
			l.Reason += ": " + t.reasons[end.reason]
			return
		}
	}
	l.Broken, l.Reason = true, fmt.Sprintf("redirect: more than %d in a row", maxHops-1)
}
