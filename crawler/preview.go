package crawler

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/sitemap"
	"curtsy/storage"
)

// Preview is what a crawl would be let do.
type Preview struct {
	Seed        string           `json:"seed"`
	Robots      string           `json:"robots"`
	Verdict     string           `json:"verdict"` // on the seed
	Refused     string           `json:"refused,omitempty"`
	Denied      bool             `json:"-"`                 // robots.txt denies the seed; else it is unavailable
	Stopped     string           `json:"stopped,omitempty"` // the site fails again and again: not all was looked at
	Delay       string           `json:"delay"`
	Concurrency int              `json:"concurrency"`
	Sitemaps    []PreviewSitemap `json:"sitemaps"`
	LeftOut     map[string]int   `json:"left_out"` // URLs of sitemaps, by reason
	URLs        int              `json:"urls"`     // in scope and allowed, the seed among them
	AtLeast     time.Duration    `json:"at_least_ns"`
}

// PreviewSitemap is a sitemap that was read.
type PreviewSitemap struct {
	URL     string `json:"url"`
	Type    string `json:"type"`
	URLs    int    `json:"urls"`
	Allowed int    `json:"allowed"`
}

// maxPreviewSitemaps bounds what a preview fetches.
const maxPreviewSitemaps = 50

// previewer fetches robots.txt and sitemaps, at the pace of the crawl, and
// keeps nothing.
type previewer struct {
	o      Options
	client *fetch.Client
	paces  map[string]*pace        // by host
	robots map[string]*robotsFetch // by origin
	rules  *rules.Robots           // of the seed
	scope  judge.Settings
	p      *Preview
	seen   map[weburl.URL]bool
}

// PreviewOf fetches robots.txt and the sitemaps it names, and judges.
func PreviewOf(ctx context.Context, o Options) (*Preview, error) {
	pv := newPreviewer(o)
	o = pv.o
	defer pv.client.Close()
	pv.scope.Origins = []string{o.Seed.Origin()}
	pv.p = &Preview{Seed: o.Seed.String(), Concurrency: o.Pace.Concurrency, LeftOut: map[string]int{}, Sitemaps: []PreviewSitemap{}}
	f := pv.robotsOf(ctx, o.Seed.Origin())
	if err := ctx.Err(); err != nil {
		return pv.p, nil
	}
	pv.p.Robots = fmt.Sprintf("answered %d", f.version.Status)
	if f.failed != "" {
		pv.p.Robots = f.failed
		pv.p.Refused = fmt.Sprintf("%s: %s", robotsURL(o.Seed.Origin()), f.failed)
		return pv.p, nil
	}
	pv.rules = f.rules
	_, pv.p.Delay = pv.pace(o.Seed).Delay()
	pv.seed(f)
	for _, s := range f.rules.Sitemaps() {
		if u, err := robotsURL(o.Seed.Origin()).Resolve(s.URL); err == nil {
			pv.sitemap(ctx, u, 0)
		}
	}
	d, _ := pv.pace(o.Seed).Delay()
	if pv.p.AtLeast = math.MaxInt64; d < pv.p.AtLeast/time.Duration(pv.p.URLs+1) {
		pv.p.AtLeast = time.Duration(pv.p.URLs) * d
	}
	return pv.p, nil
}

func (pv *previewer) seed(f *robotsFetch) {
	v := pv.rules.Verdict(pv.o.Seed.Target())
	d := storage.Decision{Allow: v.Allow, Line: v.Line, Rule: v.Rule, Group: v.Group, Version: f.version.Short(), Fetched: f.version.At}
	pv.p.Verdict = "allowed: " + decisionText(d)
	if !v.Allow {
		pv.p.Verdict = "denied: " + decisionText(d)
		pv.p.Refused, pv.p.Denied = fmt.Sprintf("%s is denied by %s", pv.o.Seed, denial(v)), true
		return
	}
	pv.count(pv.o.Seed, 0)
}

// pace finds or makes the pace of u's host.
func (pv *previewer) pace(u weburl.URL) *pace {
	p := pv.paces[u.Host()]
	if p == nil {
		p = newPace(u.Host(), pv.o.Pace)
		pv.paces[u.Host()] = p
	}
	return p
}

// get makes one request when the limiter lets it. The error says that it
// never will: the host is given up.
func (pv *previewer) get(ctx context.Context, u weburl.URL) (*fetch.Exchange, error) {
	p := pv.pace(u)
	if gave, why := p.GaveUp(); gave {
		return nil, fmt.Errorf("%s is given up: %s", u.Host(), why)
	}
	if w := p.Next(time.Now()); time.Until(w.At) > 0 {
		t := time.NewTimer(time.Until(w.At))
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	p.Start(time.Now())
	x := pv.client.Do(ctx, fetch.Request{URL: u})
	p.Done(x.End(), resultOf(x))
	return x, nil
}

// robotsOf is the robots.txt of an origin, asked for once.
func (pv *previewer) robotsOf(ctx context.Context, origin string) *robotsFetch {
	r := pv.robots[origin]
	if r == nil {
		r = pv.fetchRobots(ctx, robotsURL(origin))
		pv.robots[origin] = r
	}
	return r
}

func (pv *previewer) fetchRobots(ctx context.Context, u weburl.URL) *robotsFetch {
	c := &Crawl{opts: pv.o}
	o := &origin{name: u.Origin()}
	first := pv.pace(u)
	for hops := 0; ; hops++ {
		x, err := pv.get(ctx, u)
		if err != nil {
			return &robotsFetch{failed: err.Error()}
		}
		r := c.readRobots(&job{url: u, robots: &robotsJob{origin: o, hops: hops}}, x)
		x.Release()
		if r.rules != nil {
			first.obey(o.name, paceRules(r.rules))
		}
		if r.hop.IsZero() {
			return r
		}
		u = r.hop
	}
}

func (pv *previewer) sitemap(ctx context.Context, u weburl.URL, depth int) {
	if depth > maxSitemapDepth || len(pv.p.Sitemaps) >= maxPreviewSitemaps || pv.seen[u] || pv.p.Stopped != "" || ctx.Err() != nil {
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
	body, _, _ := x.Decoded(maxSitemap)
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

// count judges one URL as the crawl would, and counts it once.
func (pv *previewer) count(u weburl.URL, depth int) bool {
	if folded, by := pv.rules.Fold(u); by != nil {
		u = folded
	}
	v := pv.rules.Verdict(u.Target())
	verdict := judge.Decide(judge.Taken, &frontier.Link{URL: u, Class: frontier.Page, Depth: depth},
		&judge.Facts{Settings: &pv.scope, Decision: &judge.RobotsVerdict{Allow: v.Allow, Line: v.Line, Rule: v.Rule}})
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
