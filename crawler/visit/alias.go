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

// A site may have several names: http and https, with www. and without
// (judge.SameSite). One counts when it is seen to redirect to the other. A link
// to what may be a name is asked for, and nothing else there, until that is
// known; what answers for itself is another site.

// learnName takes in where a URL redirects to. It is false where the redirect is
// followed no further: that of what might have been a name of the site.
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

// seedLeaves takes in a seed that redirects to another site.
func (o *Outcome) seedLeaves(r *Reader, seed, target weburl.URL) {
	if r.opts.FollowSeed {
		o.Names.Alias = target.Origin()
		o.tell("%s redirects to %s, which counts as the site (--follow-seed)", seed, target)
		return
	}
	o.tell("%s redirects to %s, which is another site", seed, target)
}

// primary takes in under which name the seed answers.
func (o *Outcome) primary(a *Attempt, status int) {
	if a.Entry.IsSeed() && o.State == frontier.StateFetched && (status >= 200 && status < 300 || status == 304) {
		o.Names.Primary = a.URL.Origin()
	}
}

// answersItself takes in that what might have been a name of the site gives pages.
func (o *Outcome) answersItself(r *Reader, a *Attempt, status int) {
	if !r.isProbe(a) || status < 200 || status > 299 || r.probes.add(a.URL.Origin(), decidedOrigin) >= 2*decidedOrigin {
		return
	}
	o.Names.Apart = a.URL.Origin()
	o.tell("%s answers for itself and does not redirect to %s: another site, its pages are skipped; "+
		"to crawl both as one: curtsy crawl %s --alias %s, with another --archive",
		a.URL, cmp.Or(r.Scope().Primary, r.opts.Seed.Origin()), word(r.opts.Seed), a.URL.Hostname())
}

// isProbe says whether an attempt asks whether an origin is a name of the site.
func (r *Reader) isProbe(a *Attempt) bool {
	return a.Entry.How == judge.HowName && !r.Scope().Holds(a.URL)
}

// IsApart says whether what might have been a name of the site answers for itself.
func (r *Reader) IsApart(u weburl.URL) bool { return r.probes.add(u.Origin(), 0) >= decidedOrigin }

// judgeName asks the rules about a link. One that may lead to another name of
// the site is let through to find out, a few times at most.
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

// maxNameProbes is how many URLs of an origin are asked for to learn whether it is a
// name of the site: one may be missing.
const maxNameProbes = 3

// decidedOrigin is added to the count of an origin that no more URLs are asked for of.
const decidedOrigin = 1 << 28

// tally counts by a key, of maxTallied keys at most. It is for any goroutine; the zero
// value is ready.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

const maxTallied = 1 << 16

// add counts so many more, and says how many that makes.
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

// word is a URL as one word for a shell.
func word(u weburl.URL) string {
	if !strings.ContainsAny(u.String(), "?*&;'()$!~#<>|[]{}") {
		return u.String()
	}
	return "'" + strings.ReplaceAll(u.String(), "'", `'\''`) + "'"
}

// hostLine takes in the main mirror that a robots.txt names (Yandex: Host). It
// decides nothing: what may be a name of the site is asked.
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

// domain is the registered domain of a host, or the host where it has none.
func domain(u weburl.URL) string {
	if d, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname()); err == nil {
		return d
	}
	return u.Hostname()
}
