package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/preview"
	"curtsy/internal/weburl"
	"curtsy/publish/audit"
	"curtsy/publish/inventory"
	"curtsy/storage"
)

// linkCheck is a check of links that reads the pages again: --external, --fragments.
type linkCheck struct {
	*linksFlags
	a       *opened
	now     time.Time
	probes  map[string]*preview.Probe
	wanted  map[string][]string        // fragments by URL
	lacking map[string]map[string]bool // fragments that lead nowhere, by URL of the site
}

// check prints the links of an archive with what other sites say of theirs.
func (f *linksFlags) check(ctx context.Context, u *ui, dir string, ignored func(string) bool, w linkRows) (err error) {
	defer storage.Guard(&err)()
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	k := &linkCheck{linksFlags: f, a: a, now: time.Now(), wanted: map[string][]string{}, lacking: map[string]map[string]bool{}}
	if err := k.gather(ctx, ignored); err != nil {
		return archiveError(err, dir)
	}
	if err := k.readOwn(ctx); err != nil {
		return archiveError(err, dir)
	}
	if f.external {
		if err := k.ask(ctx, u); err != nil {
			return err
		}
	}
	o, err := linkOptions(a)
	if err != nil {
		return archiveError(err, dir)
	}
	judged := map[string]inventory.Link{} // by target; of the site
	err = inventory.Links(ctx, a.Archive, o, func(_ string, links []inventory.Link) error {
		for _, l := range links {
			judged[l.To] = l
		}
		return nil
	})
	if err != nil {
		return archiveError(err, dir)
	}
	sum := &linkSum{w: w, only: f.broken}
	err = k.eachPage(ctx, func(p *audit.Page) error { return sum.page(p.URL.String(), k.judge(p, judged, ignored)) })
	return sum.end(u, a, dir, "--broken for the list; --ignore REGEXP for what is known", err)
}

// eachPage reads the pages of the archive that may be shown.
func (k *linkCheck) eachPage(ctx context.Context, each func(*audit.Page) error) error {
	return audit.EachPage(ctx, k.a.Archive, k.now, k.fragments || k.external, func(p *audit.Page, _ *audit.Info) error { return each(p) })
}

// isOwn says whether a URL is the site's.
func (k *linkCheck) isOwn(u weburl.URL) bool { return slices.Contains(k.a.state.Origins, u.Origin()) }

// gather notes what is to be asked for.
func (k *linkCheck) gather(ctx context.Context, ignored func(string) bool) error {
	return k.eachPage(ctx, func(p *audit.Page) error {
		for _, r := range p.Refs {
			name := r.URL.String()
			if r.URL.IsZero() || ignored(name) {
				continue
			}
			had := k.wanted[name]
			if r.Fragment != "" && !slices.Contains(had, r.Fragment) {
				had = append(had, r.Fragment)
			}
			k.wanted[name] = had
		}
		return nil
	})
}

// readOwn looks for the fragments in the site's own pages.
func (k *linkCheck) readOwn(ctx context.Context) error {
	return k.eachPage(ctx, func(p *audit.Page) error {
		for _, fragment := range k.wanted[p.URL.String()] {
			if p.Holds(fragment) {
				continue
			}
			if k.lacking[p.URL.String()] == nil {
				k.lacking[p.URL.String()] = map[string]bool{}
			}
			k.lacking[p.URL.String()][fragment] = true
		}
		return nil
	})
}

// ask asks the other sites.
func (k *linkCheck) ask(ctx context.Context, u *ui) error {
	c := k.a.config
	if err := u.readEnv(&c); err != nil {
		return err
	}
	c.Contact = cmp.Or(k.contact, c.Contact)
	o, err := crawlOptions(&c, k.a.seed, u.logger(false))
	if err != nil {
		return err
	}
	var urls []weburl.URL
	var allowed []string
	for name := range k.wanted {
		at := weburl.FromCanonical(name)
		if k.isOwn(at) {
			continue
		}
		urls = append(urls, at)
		if isLoopback(k.a.seed) && isLoopback(at) {
			allowed = append(allowed, at.Hostname())
		} else if c.Contact == "" {
			return usagef("--contact you@example.org", "%s is another machine: a contact is needed, so that its owner can reach you", at.Host())
		}
	}
	slices.SortFunc(urls, func(a, b weburl.URL) int { return cmp.Compare(a.String(), b.String()) })
	p := preview.NewProber(o, allowed...)
	defer p.Close()
	cache := readProbes(k.now)
	p.Cached = func(url string) *preview.Probe { return cache.find(url, k.wanted[url], k.now) }
	p.Fragments = func(url string) []string { return k.wanted[url] }
	p.Lacks = func(at weburl.URL, contentType string, body io.Reader, fragments []string) (lacks []string) {
		page := audit.Read(at, contentType, body, true)
		for _, f := range fragments {
			if !page.Holds(f) {
				lacks = append(lacks, f)
			}
		}
		return lacks
	}
	u.say("asking for %s of other sites", count(len(urls), "URL"))
	k.probes = p.Run(ctx, urls)
	cache.keep(k.probes)
	if ctx.Err() != nil {
		return exitWith(exitStopped, errors.New("stopped; what was answered so far is remembered for a day"), "the same command")
	}
	return nil
}

// judge judges the links of a page, each once.
func (k *linkCheck) judge(p *audit.Page, judged map[string]inventory.Link, ignored func(string) bool) (links []inventory.Link) {
	from, seen := p.URL.String(), map[string]bool{}
	for _, r := range p.Refs {
		to := r.URL.String()
		if r.URL.IsZero() {
			to = r.Text
		}
		name := to
		if r.Fragment != "" && !r.URL.IsZero() {
			name += "#" + r.Fragment
		}
		if seen[name] || ignored(to) {
			continue
		}
		seen[name] = true
		l := inventory.Link{From: from, To: name, Verdict: inventory.OK}
		switch {
		case r.Odd != "":
			l.Verdict, l.Reason = inventory.IsBroken, r.Odd
		case r.URL.IsZero():
			continue
		case k.isOwn(r.URL):
			own, known := judged[to]
			if !known {
				own = inventory.Link{Verdict: inventory.Unchecked, Reason: "unknown to the crawl"}
			}
			l.Status, l.Verdict, l.Reason = own.Status, own.Verdict, own.Reason
			if l.Verdict == inventory.OK && k.lacking[to][r.Fragment] {
				l.Verdict, l.Reason = inventory.IsBroken, "no place #"+r.Fragment+" in the page"
			}
		case !k.external:
			l.Verdict, l.Reason = inventory.Unchecked, "another site; --external asks it"
		default:
			k.verdict(&l, to, r.Fragment)
		}
		l.Broken = l.Verdict == inventory.IsBroken
		links = append(links, l)
	}
	return links
}

// verdict says what came of asking for a URL, with its redirects followed.
func (k *linkCheck) verdict(l *inventory.Link, url, fragment string) {
	first := k.probes[url]
	if first == nil {
		l.Verdict, l.Reason = inventory.Unchecked, "not asked for"
		return
	}
	l.Status = first.Status
	p, permanent, hops := first, true, 0
	for ; p.To != ""; hops++ {
		permanent = permanent && (p.Status == http.StatusMovedPermanently || p.Status == http.StatusPermanentRedirect)
		next := k.probes[p.To]
		if next == nil || hops > 20 {
			l.Verdict, l.Reason = inventory.IsBroken, "redirect: in a circle, or too many in a row"
			return
		}
		p = next
	}
	l.Verdict, l.Reason = probeVerdict(p)
	switch {
	case hops > 0 && l.Verdict != inventory.OK:
		l.Reason = "redirect to " + p.URL + ": " + l.Reason
	case l.Verdict != inventory.OK:
	case slices.Contains(p.Lacks, fragment) || slices.Contains(first.Lacks, fragment):
		l.Verdict, l.Reason = inventory.IsBroken, "no place #"+fragment+" in the page"
	case hops > 0 && permanent:
		l.Reason = "moved for good: link to " + p.URL
	case hops > 0:
		l.Reason = "redirect for now to " + p.URL
	case p.HTTPS:
		l.Reason = "https answers, too: link to https" + p.URL[len("http"):]
	}
}

// probeVerdict is the verdict on one answer.
func probeVerdict(p *preview.Probe) (inventory.Verdict, string) {
	switch fetch.Kind(p.Kind) {
	case fetch.KindDNS, fetch.KindRefused, fetch.KindConnect, fetch.KindTLS, fetch.KindProtocol, fetch.KindHead:
		return inventory.IsBroken, p.Kind + ": " + p.Why
	case fetch.KindBlocked:
		return inventory.Unchecked, "at a private address"
	}
	switch s := p.Status; {
	case p.Denied:
		return inventory.Unchecked, p.Why
	case s >= 200 && s < 300:
		return inventory.OK, ""
	case s == http.StatusNotFound || s == http.StatusGone || s == http.StatusBadRequest || s == http.StatusRequestURITooLong:
		return inventory.IsBroken, fmt.Sprintf("http: %d", s)
	case s > 0:
		return inventory.Undecided, fmt.Sprintf("http: %d", s)
	}
	return inventory.Undecided, cmp.Or(p.Kind+": "+p.Why, "no answer")
}

// probeCache is what other sites answered of late.
type probeCache struct {
	path   string
	probes map[string]*preview.Probe
}

// How long an answer is used again: one that decides nothing, less long.
const (
	probeAge     = 24 * time.Hour
	undecidedAge = time.Hour
)

// readProbes reads the cache of this account; it is derived, and may be deleted.
func readProbes(now time.Time) *probeCache {
	c := &probeCache{probes: map[string]*preview.Probe{}}
	dir, err := os.UserCacheDir()
	if err != nil {
		return c
	}
	c.path = filepath.Join(dir, "curtsy", "links.json")
	b, err := os.ReadFile(c.path)
	if err != nil || json.Unmarshal(b, &c.probes) != nil {
		c.probes = map[string]*preview.Probe{}
	}
	for url, p := range c.probes {
		if p == nil || p.URL != url || !c.fresh(p, now) {
			delete(c.probes, url)
		}
	}
	return c
}

func (c *probeCache) fresh(p *preview.Probe, now time.Time) bool {
	most := probeAge
	if v, _ := probeVerdict(p); v == inventory.Undecided {
		most = undecidedAge
	}
	age := now.Sub(p.At)
	return age >= 0 && age < most
}

// find gives what is known of a URL and of all these fragments of it.
func (c *probeCache) find(url string, fragments []string, now time.Time) *preview.Probe {
	p := c.probes[url]
	if p == nil || !c.fresh(p, now) {
		return nil
	}
	for _, f := range fragments {
		if p.Status == http.StatusOK && !slices.Contains(p.Has, f) && !slices.Contains(p.Lacks, f) {
			return nil
		}
	}
	return p
}

// keep writes what was answered. Failing to is no failure of the command.
func (c *probeCache) keep(probes map[string]*preview.Probe) {
	for url, p := range probes {
		if !p.At.IsZero() && p.Kind != string(fetch.KindCanceled) {
			c.probes[url] = p
		}
	}
	if c.path == "" || os.MkdirAll(filepath.Dir(c.path), 0o700) != nil {
		return
	}
	if b, err := json.Marshal(c.probes); err == nil {
		_ = writeWhole(c.path, func(w io.Writer) error { _, err := w.Write(b); return err })
	}
}
