package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/preview"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/audit"
	"curtsy/publish/inventory"
	"curtsy/storage/crawllog"
)

// linkCheck reads the links of an archive and, for --external and --fragments, checks them
// beyond the state of their targets in the archive.
type linkCheck struct {
	*linksFlags
	a       *opened
	now     time.Time
	ignored func(string) bool
	site    *inventory.Site
	probes  map[string]*preview.Probe

	pages  map[string]crawllog.Ref // pages whose fragment identifiers are known, by URL
	wanted map[string][]string     // fragments to check, by URL
	places []uint64                // sorted hashes of page, '#' and id
	seed   maphash.Seed            // for places
}

// run prints the links of an archive; broken links are an error. With --external or
// --fragments, it includes what other sites answered, and whether fragments lead anywhere.
func (f *linksFlags) run(ctx context.Context, u *ui, dir string, ignored func(string) bool, w linkRows) (err error) {
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	k := &linkCheck{linksFlags: f, a: a, now: time.Now(), ignored: ignored, pages: map[string]crawllog.Ref{},
		wanted: map[string][]string{}, seed: maphash.MakeSeed()}
	sum := &linkSum{w: w, only: f.broken}
	if err = k.read(ctx); err == nil && f.external {
		err = k.ask(ctx, u)
	}
	if err == nil {
		err = k.eachLinks(ctx, func(from string, links []inventory.Link) error {
			for i := range links {
				if err := k.judge(&links[i]); err != nil {
					return err
				}
			}
			return sum.page(from, links)
		})
	}
	try := "curtsy explain " + quoted(dir) + " URL"
	if f.checks() {
		try = "--broken for the list; --ignore REGEXP for what is known"
	}
	return sum.end(u, a, dir, try, err)
}

// checks reports whether more is asked for than what the archive knows of the links' targets.
func (f *linksFlags) checks() bool { return f.external || f.fragments }

// isOwn reports whether a URL belongs to the site.
func (k *linkCheck) isOwn(u weburl.URL) bool { return slices.Contains(k.a.state.Origins, u.Origin()) }

// eachLinks calls each with the links of a page, without ignored ones, page by page.
func (k *linkCheck) eachLinks(ctx context.Context, each func(from string, links []inventory.Link) error) error {
	return k.site.Links(ctx, func(from string, links []inventory.Link) error {
		return each(from, slices.DeleteFunc(links, func(l inventory.Link) bool { return k.ignored(l.To) }))
	})
}

// read reads the state of all URLs and, if more is checked, the fragment identifiers of the
// site and the URLs to request.
func (k *linkCheck) read(ctx context.Context) error {
	o, err := linkOptions(k.a)
	if err != nil {
		return err
	}
	o.Fragments = k.checks()
	if k.site, err = inventory.Read(ctx, k.a.Archive, o); err != nil || !k.checks() {
		return err
	}
	err = k.site.Places(ctx, func(url string, p crawllog.Ref, ids []string) {
		k.pages[url] = p
		for _, id := range ids {
			k.places = append(k.places, k.place(url, id))
		}
	})
	slices.Sort(k.places)
	if err != nil || !k.external {
		return err
	}
	return k.eachLinks(ctx, func(_ string, links []inventory.Link) error {
		for i := range links {
			k.want(weburl.FromCanonical(k.site.End(links[i].To)), links[i].Fragment)
		}
		return nil
	})
}

// want adds a URL of another site to the requests.
func (k *linkCheck) want(u weburl.URL, fragment string) {
	if u.IsZero() || k.isOwn(u) {
		return
	}
	url := u.String()
	had := k.wanted[url]
	if fragment != "" && !slices.Contains(had, fragment) {
		had = append(had, fragment)
	}
	k.wanted[url] = had
}

func (k *linkCheck) place(url, id string) uint64 { return maphash.String(k.seed, url+"#"+id) }

// leads reports whether a fragment leads to a place in a page of the site. It returns true for
// pages that were not read.
func (k *linkCheck) leads(url, fragment string) (leads bool, err error) {
	page, read := k.pages[url]
	if !read {
		return true, nil
	}
	return audit.Leads(fragment, func(id string) bool {
		_, has := slices.BinarySearch(k.places, k.place(url, id))
		return has
	}, func() string {
		var blocks []htmlmeta.Block
		blocks, err = publish.WholeText(k.a.Archive, page, maxSaid)
		return wordsOf(blocks)
	}), err
}

// Limits, in octets, of a page in which fragments are searched, and of its text.
const (
	maxRead = 16 << 20
	maxSaid = 1 << 20
)

// wordsOf joins the text of a page to one line.
func wordsOf(blocks []htmlmeta.Block) string {
	var b strings.Builder
	for i := range blocks {
		b.WriteString(blocks[i].Text + " ")
	}
	return b.String()
}

// lacks returns the fragments that lead nowhere in a page of another site.
func lacks(at weburl.URL, contentType string, body io.Reader, fragments []string) (list []string) {
	if kind, _, _ := mime.ParseMediaType(contentType); kind != "text/html" && kind != "application/xhtml+xml" {
		return nil // in other types fragments have other meanings: a page of a PDF, a line of a text
	}
	p := htmlmeta.Page{URL: at, Header: http.Header{"Content-Type": {contentType}}}
	p.Body, _ = io.ReadAll(io.LimitReader(body, maxRead))
	said := htmlmeta.Read(p, htmlmeta.Options{})
	for _, f := range fragments {
		if !said.Capped && !audit.Leads(f, func(id string) bool { return slices.Contains(said.IDs, id) },
			func() string { return wordsOf(htmlmeta.ReadWholeText(p, maxSaid)) }) {
			list = append(list, f)
		}
	}
	return list
}

// ask requests the URLs of other sites.
func (k *linkCheck) ask(ctx context.Context, u *ui) error {
	c := k.a.config
	if err := u.readEnv(&c); err != nil {
		return err
	}
	c.Contact, c.Render.Pages = cmp.Or(k.contact, c.Contact), "none"
	o, err := crawlOptions(&c, k.a.seed, u.logger(false))
	if err != nil {
		return err
	}
	var urls []weburl.URL
	var allowed []string
	for name := range k.wanted {
		at := weburl.FromCanonical(name)
		urls = append(urls, at)
		if isLoopback(k.a.seed) && isLoopback(at) {
			allowed = append(allowed, at.Hostname())
		} else if c.Contact == "" {
			return usagef("--contact you@example.org",
				"%s is another machine: a contact is needed, so that its owner can reach you", at.Host())
		}
	}
	slices.SortFunc(urls, func(a, b weburl.URL) int { return cmp.Compare(a.String(), b.String()) })
	p := preview.NewProber(o, allowed...)
	defer p.Close()
	cache := readProbes(k.now)
	p.Cached = func(url string, fragments []string) *preview.Probe { return cache.find(url, fragments, k.now) }
	p.Fragments = func(url string) []string { return k.wanted[url] }
	p.Lacks = lacks
	u.say("asking for %s of other sites", legible.Count(len(urls), "URL"))
	k.probes = p.Run(ctx, urls)
	cache.keep(k.probes)
	if ctx.Err() != nil {
		return exitWith(exitStopped, errors.New("stopped; what was answered so far is remembered for a day"),
			"the same command")
	}
	return nil
}

// judge sets the verdict on a link with a fragment or to another site, if that is checked.
func (k *linkCheck) judge(l *inventory.Link) (err error) {
	if !k.checks() {
		return nil
	}
	to, fragment := l.To, l.Fragment
	if fragment != "" {
		l.To += "#" + fragment
	}
	switch {
	case l.URL.IsZero(): // not a URL
	case k.isOwn(l.URL):
		err = k.ownVerdict(l, to)
	case !k.external:
		l.Verdict, l.Reason = inventory.Unchecked, "another site; --external asks it"
	default:
		k.verdict(l, to, fragment)
		if p := k.probes[to]; p != nil {
			l.Status = p.Status
		}
	}
	l.Broken = l.Verdict == inventory.IsBroken
	return err
}

// ownVerdict checks the fragment of a link within the site, and the target if it redirects to
// another site.
func (k *linkCheck) ownVerdict(l *inventory.Link, to string) error {
	end, known := k.site.End(to), l.Reason
	switch {
	case l.Verdict != inventory.OK:
	case !k.isOwn(weburl.FromCanonical(end)):
		if k.external {
			if k.verdict(l, end, l.Fragment); l.Verdict != inventory.OK {
				l.Reason = "redirect to " + end + ": " + l.Reason
			} else {
				l.Reason = known
			}
		}
	case l.Fragment != "":
		leads, err := k.leads(end, l.Fragment)
		if !leads {
			l.Verdict, l.Reason = inventory.IsBroken, "no place #"+l.Fragment+" in the page"
			if end != to {
				l.Reason = "redirect to " + end + ": " + l.Reason
			}
		}
		return err
	}
	return nil
}

// verdict sets the verdict on a URL of another site, following redirects.
func (k *linkCheck) verdict(l *inventory.Link, url, fragment string) {
	p, permanent, hops := k.probes[url], true, 0
	if p == nil {
		l.Verdict, l.Reason = inventory.Unchecked, "not asked for"
		return
	}
	for ; p.To != ""; hops++ {
		permanent = permanent && (p.Status == http.StatusMovedPermanently || p.Status == http.StatusPermanentRedirect)
		if p.Place != "" {
			fragment = p.Place
		}
		next := k.probes[p.To]
		if next == nil || hops > judge.MaxRedirects {
			l.Verdict, l.Reason = inventory.IsBroken, "redirect: in a circle, or too many in a row"
			return
		}
		p = next
	}
	l.Verdict, l.Reason = probeVerdict(p)
	if l.Verdict == inventory.OK && slices.Contains(p.Lacks, fragment) {
		l.Verdict, l.Reason = inventory.IsBroken, "no place #"+fragment+" in the page"
	}
	switch {
	case hops > 0 && l.Verdict != inventory.OK:
		l.Reason = "redirect to " + p.URL + ": " + l.Reason
	case l.Verdict != inventory.OK:
	case hops > 0 && permanent:
		l.Reason = "moved for good: link to " + p.URL
	case hops > 0:
		l.Reason = "redirect for now to " + p.URL
	case p.HTTPS:
		l.Reason = "https answers, too: link to https" + p.URL[len("http"):]
	}
}

// probeVerdict returns the verdict on one response.
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
	case s == http.StatusNotFound || s == http.StatusGone || s == http.StatusBadRequest ||
		s == http.StatusRequestURITooLong:
		return inventory.IsBroken, fmt.Sprintf("http: %d", s)
	case s > 0:
		return inventory.Undecided, fmt.Sprintf("http: %d", s)
	}
	return inventory.Undecided, cmp.Or(p.Kind+": "+p.Why, "no answer")
}

// probeCache caches responses of other sites.
type probeCache struct {
	path   string
	probes map[string]*preview.Probe
}

// Lifetimes of cached responses; shorter for inconclusive ones.
const (
	probeAge     = 24 * time.Hour
	undecidedAge = time.Hour
)

// readProbes reads the account's cache, which may be deleted.
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

// find returns a cached response that covers the given fragments; nil if there is none.
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

// keep writes the cache. Errors are ignored.
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
