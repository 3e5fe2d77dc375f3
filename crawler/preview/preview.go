// Package preview shows what a crawl would be allowed to fetch. It fetches robots.txt, sitemaps and
// single pages as a crawl would, and archives nothing.
package preview

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
	"curtsy/sitemap"
	"curtsy/usage"
)

// Preview is what a crawl would be allowed to fetch.
type Preview struct {
	Seed        string           `json:"seed"`
	Robots      string           `json:"robots"`
	Verdict     string           `json:"verdict"` // on the seed
	Closed      []string         `json:"closed"`  // the first paths that robots.txt disallows for the crawler
	Usage       string           `json:"usage"`   // what robots.txt says of the use of the seed: "search=y, train-ai=n"
	Refused     string           `json:"refused,omitempty"`
	Unreachable error            `json:"-"`                 // a crawler.UnreachableError
	Denied      bool             `json:"-"`                 // robots.txt denies the seed; else it is unavailable
	Stopped     string           `json:"stopped,omitempty"` // why the preview is incomplete: the site failed repeatedly
	Delay       string           `json:"delay"`
	Concurrency int              `json:"concurrency"`
	Names       []string         `json:"names"`           // origins that count as the site, the front page's first
	Notes       []string         `json:"notes"`           // how the origins were found, one line each
	Front       *Front           `json:"front,omitempty"` // the page that the seed leads to; nil if it was not fetched
	Sitemaps    []PreviewSitemap `json:"sitemaps"`
	LeftOut     map[string]int   `json:"left_out"` // URLs of sitemaps, by reason
	URLs        int              `json:"urls"`     // in scope and allowed, the seed included
	AtLeast     time.Duration    `json:"at_least_ns"`
}

// Front is the page that a seed leads to.
type Front struct {
	URL    string   `json:"url"`
	Status int      `json:"status"` // 0: no answer
	Type   string   `json:"content_type"`
	Title  string   `json:"title"`
	Links  int      `json:"links"`
	Needs  []string `json:"needs"` // what a crawl needs, or what may keep it from the pages
	// Failed is why a crawl of this seed would fail. If that is because the seed leads to
	// another site, Elsewhere is its URL.
	Failed    string `json:"failed,omitempty"`
	Elsewhere string `json:"elsewhere,omitempty"`
}

// PreviewSitemap is a sitemap that was read.
type PreviewSitemap struct {
	URL     string `json:"url"`
	Type    string `json:"type"`
	URLs    int    `json:"urls"`
	Allowed int    `json:"allowed"`
}

// maxPatience is the longest pause after which the seed's page is still fetched.
const maxPatience = 2 * time.Minute

// maxPreviewSitemaps bounds the sitemaps that a preview fetches.
const maxPreviewSitemaps = 50

// previewer fetches robots.txt, sitemaps and pages at the pace of a crawl.
type previewer struct {
	o      crawler.Options
	client *fetch.Client
	paces  map[string]*politeness.Host  // by host
	robots map[string]*robotstxt.Answer // by origin
	rules  *rules.Robots                // the rules for the seed
	scope  judge.Settings
	p      *Preview
	seen   map[weburl.URL]bool
	// exclusive, if not nil, waits for a turn at a URL's host.
	exclusive func(weburl.URL) (done func())
}

// Of fetches robots.txt, the page that the seed leads to and the sitemaps that robots.txt names, and
// judges their URLs.
func Of(ctx context.Context, o crawler.Options) (*Preview, error) {
	pv := newPreviewer(o)
	o = pv.o
	defer pv.client.Close()
	pv.scope.Origins = []string{o.Seed.Origin()}
	pv.p = &Preview{Seed: o.Seed.String(), Concurrency: o.Pace.Concurrency, LeftOut: map[string]int{},
		Names: []string{o.Seed.Origin()}, Notes: []string{}, Sitemaps: []PreviewSitemap{}, Closed: []string{}}
	f := pv.robotsOf(ctx, o.Seed.Origin())
	if err := ctx.Err(); err != nil {
		return pv.p, nil
	}
	pv.p.Robots = f.Summary()
	if f.Failed != "" {
		pv.p.Robots = f.Failed
		pv.p.Unreachable = crawler.CannotReach(o.Seed, f.Err)
		pv.p.Refused = fmt.Sprintf("%s: %s", robotstxt.URL(o.Seed.Origin()), f.Failed)
		return pv.p, nil
	}
	pv.rules = f.Rules
	pv.told()
	pv.seed(f)
	if !pv.p.Denied {
		pv.front(ctx)
	}
	for _, origin := range pv.scope.Origins {
		r := pv.robotsOf(ctx, origin).Rules
		if r == nil {
			continue // robots.txt is unavailable: nothing is fetched there
		}
		for _, s := range r.Sitemaps() {
			if u, err := robotstxt.URL(origin).Resolve(s.URL); err == nil {
				pv.sitemap(ctx, u, 0)
			}
		}
	}
	var d time.Duration
	d, pv.p.Delay = pv.pace(o.Seed).Delay()
	if pv.p.AtLeast = math.MaxInt64; d < pv.p.AtLeast/time.Duration(pv.p.URLs+1) {
		pv.p.AtLeast = time.Duration(pv.p.URLs) * d
	}
	return pv.p, nil
}

// maxClosed is how many closed paths a preview lists.
const maxClosed = 20

// told lists the paths that robots.txt disallows for the crawler, and what it says about use.
func (pv *previewer) told() {
	pv.p.Closed = []string{}
	pv.p.Usage = usage.Combine(pv.rules.Usage(pv.o.Seed.Target())).String()
	holds := pv.rules.Verdict("/").Group
	for _, g := range pv.rules.Groups() {
		if !slices.Contains(g.Agents, holds) {
			continue
		}
		for _, r := range g.Rules {
			if !r.Allow && r.Path != "" && len(pv.p.Closed) < maxClosed {
				pv.p.Closed = append(pv.p.Closed, r.Path)
			}
		}
	}
}

func (pv *previewer) seed(f *robotstxt.Answer) {
	d := robotstxt.Decide(pv.rules, &f.Version, pv.o.Seed)
	pv.p.Verdict = "allowed: " + robotstxt.Words(d)
	if !d.Allow {
		pv.p.Verdict = "denied: " + robotstxt.Words(d)
		pv.p.Refused, pv.p.Denied = fmt.Sprintf("%s is denied by %s", pv.o.Seed, robotstxt.Denial(d)), true
		return
	}
	pv.count(pv.o.Seed, 0)
}

// front follows the seed to its page, as a crawl would: redirects between names of the site are
// followed, those to another site only with FollowSeed or if it is in scope.
func (pv *previewer) front(ctx context.Context) {
	f := &Front{URL: pv.o.Seed.String(), Needs: []string{}}
	u := pv.o.Seed
	for range judge.MaxRedirects + 1 {
		if err := pv.judge(ctx, u); err != nil {
			f.Failed = err.Error()
			break
		}
		if d, why := pv.pace(u).Delay(); d > maxPatience {
			pv.p.Notes = append(pv.p.Notes, fmt.Sprintf("%s was not asked for: %s", u, why))
			break
		}
		x, err := pv.get(ctx, u)
		if ctx.Err() != nil {
			return
		} else if err != nil {
			f.Failed = err.Error()
			break
		}
		f.URL, f.Status, f.Type = u.String(), x.Status, x.Header.Get("Content-Type")
		if x.Err != nil {
			f.Failed = fmt.Sprintf("%s: %v", u, x.Err)
			x.Release()
			break
		}
		k := visit.LookAt(u, x, pv.o.Rules.Agents)
		x.Release()
		f.Title, f.Links, f.Needs = k.Title, k.Links, append(f.Needs, k.Needs...)
		to := k.LeadsTo
		if to.IsZero() || to == u {
			if (f.Status < 200 || f.Status > 299) && !k.Wall {
				f.Failed = fmt.Sprintf("%s answered %d", u, f.Status)
			}
			break
		}
		if !pv.leads(f, u, to) {
			break
		}
		u = to
	}
	pv.p.Front = f
	pv.home(ctx, u)
}

// leads handles a redirect of the seed, and reports whether it is followed.
func (pv *previewer) leads(f *Front, from, to weburl.URL) bool {
	switch {
	case slices.Contains(pv.scope.Origins, to.Origin()):
		return true
	case judge.SameSite(from, to):
		pv.p.Notes = append(pv.p.Notes, fmt.Sprintf("%s redirects to %s: both count as the site", from, to))
	case pv.o.FollowSeed:
		pv.p.Notes = append(pv.p.Notes, fmt.Sprintf("%s redirects to %s, which counts as the site (--follow-seed)",
			from, to))
	case pv.scope.Holds(to):
		return true
	default:
		f.Failed, f.Elsewhere = fmt.Sprintf("%s redirects to %s, which is another site", from, to), to.String()
		return false
	}
	pv.scope.Origins = append(pv.scope.Origins, to.Origin())
	pv.client.Allow(to.Hostname())
	return true
}

// home applies the rules of the origin at which the seed's page was found.
func (pv *previewer) home(ctx context.Context, u weburl.URL) {
	origin := u.Origin()
	if r := pv.robotsOf(ctx, origin); r.Rules != nil && origin != pv.o.Seed.Origin() && pv.p.Front.Failed == "" {
		pv.rules, pv.scope.Primary = r.Rules, origin
		pv.p.Robots = r.Summary()
		pv.told()
	}
	pv.p.Names = append(pv.p.Names[:0], origin)
	for _, name := range pv.scope.Origins {
		if name != origin {
			pv.p.Names = append(pv.p.Names, name)
		}
	}
}

// pace returns the pace of u's host, which all names of a site share.
func (pv *previewer) pace(u weburl.URL) *politeness.Host {
	host := judge.SiteKey(u)
	if pv.paces[host] == nil {
		pv.paces[host] = politeness.NewHost(pv.o.Pace)
	}
	return pv.paces[host]
}

// get makes one request when the pace allows it. The error is that of ctx, or says that the host has
// been given up.
func (pv *previewer) get(ctx context.Context, u weburl.URL) (*fetch.Exchange, error) {
	return pv.do(ctx, fetch.Request{URL: u})
}

// robotsOf returns the robots.txt of an origin, which is fetched once.
func (pv *previewer) robotsOf(ctx context.Context, origin string) *robotstxt.Answer {
	r := pv.robots[origin]
	if r == nil {
		r = pv.fetchRobots(ctx, robotstxt.URL(origin))
		pv.robots[origin] = r
	}
	return r
}

func (pv *previewer) fetchRobots(ctx context.Context, u weburl.URL) *robotstxt.Answer {
	origin := u.Origin()
	first := pv.pace(u)
	for hops := 0; ; hops++ {
		x, err := pv.get(ctx, u)
		if err != nil {
			return &robotstxt.Answer{Failed: err.Error()}
		}
		r := robotstxt.Read(robotstxt.Request{Origin: origin, URL: u, Hops: hops}, x,
			robotstxt.Options{Rules: pv.o.Rules, MaxAge: pv.o.MaxRobotsAge})
		x.Release()
		if r.Rules != nil {
			first.Obey(origin, r.Rules.Pace())
		}
		if r.Hop.IsZero() {
			return r
		}
		u = r.Hop
	}
}

func (pv *previewer) sitemap(ctx context.Context, u weburl.URL, depth int) {
	if depth > visit.MaxSitemapDepth || len(pv.p.Sitemaps) >= maxPreviewSitemaps || pv.seen[u] || pv.p.Stopped != "" ||
		ctx.Err() != nil {
		return
	}
	pv.seen[u] = true
	if pv.judge(ctx, u) != nil {
		pv.p.LeftOut["robots.txt: a sitemap"]++
		return
	}
	x, err := pv.get(ctx, u)
	if err != nil && u.Host() == pv.o.Seed.Host() {
		pv.p.Stopped = err.Error()
		return
	} else if err != nil {
		pv.p.LeftOut[err.Error()]++
		return
	}
	defer x.Release()
	body, _, _ := x.Decoded(sitemap.MaxBytes)
	s := PreviewSitemap{URL: u.String(), Type: fmt.Sprintf("answered %d", x.Status)}
	var children []weburl.URL
	if x.Err == nil && x.Status == 200 {
		summary, err := sitemap.Read(bytes.NewReader(body), u, func(e sitemap.Entry, child bool) error {
			v, err := u.Resolve(e.Loc)
			switch {
			case err != nil:
			case child:
				children = append(children, v)
			default:
				s.URLs++
				if pv.count(v, 1) {
					s.Allowed++
				}
			}
			return nil
		})
		if err == nil {
			s.Type = string(summary.Kind)
		}
	}
	pv.p.Sitemaps = append(pv.p.Sitemaps, s)
	for _, child := range children {
		pv.sitemap(ctx, child, depth+1)
	}
}

// count judges one URL as the crawl would, and counts it the first time.
func (pv *previewer) count(u weburl.URL, depth int) bool {
	if folded, by := pv.rules.Fold(u); by != nil {
		u = folded
	}
	if pv.scope.Primary != "" && pv.scope.Main(u) {
		u = pv.scope.AtPrimary(u)
	}
	v := pv.rules.Verdict(u.Target())
	verdict := judge.Decide(judge.Taken, &frontier.Link{URL: u, Class: frontier.Page, Depth: depth},
		&judge.Facts{Settings: &pv.scope, Decision: &v})
	ok := !verdict.Excludes()
	switch {
	case pv.seen[u]:
	case ok:
		pv.p.URLs++
	default:
		pv.p.LeftOut[verdict.Reason.String()]++
	}
	pv.seen[u] = true
	return ok
}
