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
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/preview"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/audit"
	"curtsy/publish/inventory"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// linkCheck is a check of links for which the pages are read again, each once:
// --external, --fragments.
type linkCheck struct {
	*linksFlags
	a       *opened
	now     time.Time
	ignored func(string) bool
	probes  map[string]*preview.Probe

	names  []string         // URLs, fragments and remarks of all links, each once
	number map[string]int32 // in names
	pages  []linkedPage
	at     map[int32]int             // in pages, by number of the URL
	wanted map[string][]string       // fragments by URL
	places []uint64                  // hashes of what fragments may name: page, '#' and id; in order
	seed   maphash.Seed              // of places
	judged map[string]inventory.Link // by target; of the site
	moved  map[string]string         // where redirects of the site lead
}

// linkedPage is a page with its links; visit says where its body is.
type linkedPage struct {
	url   int32
	visit crawllog.Ref
	links []pageLink
}

// pageLink is one link as numbers of linkCheck.names; odd is why it is no URL, or "".
type pageLink struct{ to, fragment, odd int32 }

// check prints the links of an archive with what other sites say of theirs.
func (f *linksFlags) check(ctx context.Context, u *ui, dir string, ignored func(string) bool, w linkRows) (err error) {
	defer storage.Guard(&err)()
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	k := &linkCheck{linksFlags: f, a: a, now: time.Now(), ignored: ignored, number: map[string]int32{},
		at: map[int32]int{}, wanted: map[string][]string{},
		seed: maphash.MakeSeed(), judged: map[string]inventory.Link{}, moved: map[string]string{}}
	for _, step := range []func(context.Context) error{k.readTargets, k.readPages} {
		if err := step(ctx); err != nil {
			return archiveError(err, dir)
		}
	}
	if f.external {
		if err := k.ask(ctx, u); err != nil {
			return err
		}
	}
	sum := &linkSum{w: w, only: f.broken}
	for i := range k.pages {
		links, err := k.judge(&k.pages[i])
		if err == nil && len(links) > 0 {
			err = sum.page(k.names[k.pages[i].url], links)
		}
		if err != nil {
			return archiveError(err, dir)
		}
	}
	return sum.end(u, a, dir, "--broken for the list; --ignore REGEXP for what is known", ctx.Err())
}

// isOwn says whether a URL is the site's.
func (k *linkCheck) isOwn(u weburl.URL) bool { return slices.Contains(k.a.state.Origins, u.Origin()) }

// readTargets reads what the archive says of the site's own links.
func (k *linkCheck) readTargets(ctx context.Context) error {
	o, err := linkOptions(k.a)
	if err != nil {
		return err
	}
	o.Visits = func(visits []*crawllog.Visit) {
		if v := visits[len(visits)-1]; v.Location != "" {
			k.moved[v.URL] = v.Location
		}
	}
	return inventory.Links(ctx, k.a.Archive, o, func(_ string, links []inventory.Link) error {
		for _, l := range links {
			k.judged[l.To] = l
		}
		return nil
	})
}

// end is where redirects of the site lead.
func (k *linkCheck) end(url string) string {
	for range judge.MaxRedirects {
		next, moved := k.moved[url]
		if !moved {
			break
		}
		url = next
	}
	return url
}

// intern gives the number of a text.
func (k *linkCheck) intern(text string) int32 {
	n, ok := k.number[text]
	if !ok {
		n = int32(len(k.names))
		k.names, k.number[text] = append(k.names, text), n
	}
	return n
}

// readPages notes the links of all pages, each once a page, what is to be asked for,
// and what fragments may name.
func (k *linkCheck) readPages(ctx context.Context) error {
	err := audit.EachPage(ctx, k.a.Archive, k.now, false, func(p *audit.Page, i *audit.Info) error {
		url := p.URL.String()
		page, seen := linkedPage{url: k.intern(url), visit: i.Visit.Ref()}, map[pageLink]bool{}
		for _, r := range p.Refs {
			to := r.URL.String()
			if r.URL.IsZero() {
				to = r.Text
			}
			if r.URL.IsZero() && r.Odd == "" || k.ignored(to) {
				continue
			}
			l := pageLink{k.intern(to), k.intern(""), k.intern(r.Odd)}
			if !r.URL.IsZero() {
				l.fragment = k.intern(r.Fragment)
				k.want(weburl.FromCanonical(k.end(to)), r.Fragment)
			}
			if !seen[l] {
				seen[l] = true
				page.links = append(page.links, l)
			}
		}
		for id := range p.IDs {
			k.places = append(k.places, k.place(url, id))
		}
		k.at[page.url] = len(k.pages)
		k.pages = append(k.pages, page)
		return nil
	})
	slices.Sort(k.places)
	return err
}

// want notes what other sites are to be asked for.
func (k *linkCheck) want(u weburl.URL, fragment string) {
	if !k.external || k.isOwn(u) {
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

// leads says whether a fragment leads to a place in a page of the site. One that was
// not read has all.
func (k *linkCheck) leads(url, fragment string) (leads bool, err error) {
	n, known := k.number[url]
	i, read := k.at[n]
	if !known || !read {
		return true, nil
	}
	var page *audit.Page // for what it says, once
	return audit.Leads(fragment, func(id string) bool {
		_, has := slices.BinarySearch(k.places, k.place(url, id))
		return has
	}, func(text string) bool {
		if page == nil {
			page, err = k.reread(k.pages[i].visit)
		}
		return err == nil && page.Says(text)
	}), err
}

// reread reads what a page says.
func (k *linkCheck) reread(visit crawllog.Ref) (*audit.Page, error) {
	v, err := k.a.Visit(visit)
	if err == nil && v == nil {
		err = errors.New("a visit has disappeared")
	}
	if err != nil {
		return nil, err
	}
	b, err := publish.OpenPage(k.a.Archive, v)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return audit.Read(weburl.FromCanonical(v.URL), v.ContentType, b, true), nil
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
	p.Lacks = func(at weburl.URL, contentType string, body io.Reader, fragments []string) (lacks []string) {
		if kind, _, _ := mime.ParseMediaType(contentType); kind != "text/html" && kind != "application/xhtml+xml" {
			return nil // what a fragment means there is another matter: a page of a PDF, a line of a text
		}
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
		return exitWith(exitStopped, errors.New("stopped; what was answered so far is remembered for a day"),
			"the same command")
	}
	return nil
}

// judge judges the links of a page.
func (k *linkCheck) judge(p *linkedPage) (links []inventory.Link, err error) {
	for _, n := range p.links {
		to, fragment := k.names[n.to], k.names[n.fragment]
		l := inventory.Link{From: k.names[p.url], To: to, Verdict: inventory.OK}
		if fragment != "" {
			l.To += "#" + fragment
		}
		switch {
		case k.names[n.odd] != "":
			l.Verdict, l.Reason = inventory.IsBroken, k.names[n.odd]
		case k.isOwn(weburl.FromCanonical(to)):
			err = cmp.Or(err, k.ownVerdict(&l, to, fragment))
		case !k.external:
			l.Verdict, l.Reason = inventory.Unchecked, "another site; --external asks it"
		default:
			k.verdict(&l, to, fragment)
			if p := k.probes[to]; p != nil {
				l.Status = p.Status
			}
		}
		l.Broken = l.Verdict == inventory.IsBroken
		links = append(links, l)
	}
	return links, err
}

// ownVerdict says what the archive knows of a link to the site itself, and what
// another site answers that it redirects to.
func (k *linkCheck) ownVerdict(l *inventory.Link, to, fragment string) error {
	own, known := k.judged[to]
	if !known {
		own = inventory.Link{Verdict: inventory.Unchecked, Reason: "unknown to the crawl"}
	}
	l.Status, l.Verdict, l.Reason = own.Status, own.Verdict, own.Reason
	end := k.end(to)
	switch {
	case l.Verdict != inventory.OK:
	case !k.isOwn(weburl.FromCanonical(end)):
		if k.external {
			if k.verdict(l, end, fragment); l.Verdict != inventory.OK {
				l.Reason = "redirect to " + end + ": " + l.Reason
			} else {
				l.Reason = own.Reason
			}
		}
	case fragment != "":
		leads, err := k.leads(end, fragment)
		if !leads {
			l.Verdict, l.Reason = inventory.IsBroken, "no place #"+fragment+" in the page"
			if end != to {
				l.Reason = "redirect to " + end + ": " + l.Reason
			}
		}
		return err
	}
	return nil
}

// verdict says what came of asking for a URL, with its redirects followed.
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
	case s == http.StatusNotFound || s == http.StatusGone || s == http.StatusBadRequest ||
		s == http.StatusRequestURITooLong:
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
