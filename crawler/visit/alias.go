package visit

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
)

// A site may have several names: http and https, with www. and without (judge.SameSite). An origin
// becomes a name when one is seen to redirect to the other. Of an origin that may be a name, a few
// linked URLs are fetched to find out; if they return pages of their own, it is a separate site.

// learnName evaluates a redirect between origins. It returns false if the redirect is not followed,
// because it shows that the origin is not a name of the site.
func (o *Outcome) learnName(r *Reader, a *Attempt, target weburl.URL) bool {
	s := r.Scope()
	from, to := s.Main(a.URL), s.Main(target)
	switch {
	case from && to:
	case (from || to) && judge.SameSite(a.URL, target):
		if o.Names.Alias = target.Origin(); to {
			o.Names.Alias = a.URL.Origin()
		}
		o.tell("%s redirects to %s: both now count as the site", a.URL, target)
	case a.Entry.IsSeed() && !s.Holds(target):
		o.seedLeaves(r, a.URL, target)
	case r.isProbe(a):
		o.State, o.Reason = frontier.StateDisregarded, judge.Reason{Rule: judge.Host}
		return false
	}
	return true
}

// seedLeaves handles a seed that redirects to another site.
func (o *Outcome) seedLeaves(r *Reader, seed, target weburl.URL) {
	if r.opts.FollowSeed {
		o.Names.Alias = target.Origin()
		o.tell("%s redirects to %s, which counts as the site (--follow-seed)", seed, target)
		return
	}
	o.tell("%s redirects to %s, which is another site", seed, target)
}

// primary records under which name the seed was answered.
func (o *Outcome) primary(a *Attempt, status int) {
	if a.Entry.IsSeed() && o.State == frontier.StateFetched && (status >= 200 && status < 300 || status == 304) {
		o.Names.Primary = a.URL.Origin()
	}
}

// answersItself records that an origin that might have been a name of the site returns its own pages.
func (o *Outcome) answersItself(r *Reader, a *Attempt, status int) {
	if !r.isProbe(a) || status < 200 || status > 299 || r.probes.add(a.URL.Origin(), decidedOrigin) >= 2*decidedOrigin {
		return
	}
	o.Names.Apart = a.URL.Origin()
	o.tell("%s answers for itself and does not redirect to %s: another site, its pages are skipped; "+
		"to crawl both as one: curtsy crawl %s --alias %s, with another --archive",
		a.URL, cmp.Or(r.Scope().Primary, r.opts.Seed.Origin()), word(r.opts.Seed), a.URL.Hostname())
}

// isProbe reports whether an attempt tests whether an origin is a name of the site.
func (r *Reader) isProbe(a *Attempt) bool {
	return a.Entry.How == judge.HowName && !r.Scope().Holds(a.URL)
}

// IsApart reports whether an origin that might have been a name of the site is a separate site.
func (r *Reader) IsApart(u weburl.URL) bool { return r.probes.add(u.Origin(), 0) >= decidedOrigin }

// judgeName judges a link. If it may lead to another name of the site, it is admitted as a probe, at
// most maxNameProbes times per origin.
func (r *Reader) judgeName(l *frontier.Link, f *judge.Facts) judge.Verdict {
	v := judge.Decide(judge.Found, l, f)
	if v.Reason.Rule != judge.Host || l.Class <= frontier.Sitemap || !f.Sibling(l.URL) ||
		r.probes.add(l.URL.Origin(), 1) > maxNameProbes {
		return v
	}
	probe := *l
	probe.How, probe.Class, probe.Needed, probe.Alternate = judge.HowName, frontier.Page, false, false
	if v := judge.Decide(judge.Found, &probe, f); v.Excludes() {
		return v
	}
	*l = probe
	return judge.Verdict{}
}

// maxNameProbes is how many URLs of an origin are fetched to find out whether it is a name of the site.
// It is more than one because a URL may be missing.
const maxNameProbes = 3

// decidedOrigin is added to the count of an origin that needs no more probes.
const decidedOrigin = 1 << 28

// tally counts by key, for at most maxTallied keys. It is safe for concurrent use; the zero value is
// ready.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

const maxTallied = 1 << 16

// add adds more to the count of key and returns the sum.
func (t *tally) add(key string, more int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[string]int{}
	}
	if more != 0 && (len(t.n) < maxTallied || t.n[key] > 0) {
		t.n[key] += more
	}
	return t.n[key]
}

func (o *Outcome) tell(format string, args ...any) {
	o.Notes = append(o.Notes, fmt.Sprintf(format, args...))
}

// word quotes a URL as one word for a shell.
func word(u weburl.URL) string {
	if !strings.ContainsAny(u.String(), "?*&;'()$!~#<>|[]{}") {
		return u.String()
	}
	return "'" + strings.ReplaceAll(u.String(), "'", `'\''`) + "'"
}

// hostLine handles the main mirror that a robots.txt names (Yandex: Host). A mirror that may be a name of
// the site is probed; otherwise it is only reported.
func (o *Outcome) hostLine(r *Reader, a *Attempt, from weburl.URL, robots *rules.Robots) {
	name, line, ok := robots.Host()
	if !ok {
		return
	}
	scheme, _, _ := strings.Cut(from.Origin(), "://")
	mirror, err := weburl.Parse(scheme + "://" + name + "/")
	switch {
	case err != nil || r.Scope().Holds(mirror):
	case r.Scope().Sibling(mirror):
		o.Links = r.Judge(o.Links, a, frontier.Link{URL: mirror, Class: frontier.Page, How: judge.HowRobots}, r.Facts())
	case domain(mirror) == domain(from):
		o.tell("%s line %d: Host: %s: another site of the domain; try: curtsy crawl %s", from, line, name, mirror)
	default:
		o.tell("%s line %d: Host: %s is in another domain; try: curtsy crawl %s", from, line, name, mirror)
	}
}

// domain returns the registered domain of a host, or the host if there is none.
func domain(u weburl.URL) string {
	if d, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname()); err == nil {
		return d
	}
	return u.Hostname()
}
