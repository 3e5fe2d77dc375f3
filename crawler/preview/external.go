package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness"
)

// Probe is the result of checking whether a URL of another site exists.
type Probe struct {
	URL    string    `json:"url"`
	Status int       `json:"status"` // 0: no answer
	To     string    `json:"to,omitempty"`
	Place  string    `json:"place,omitempty"`  // fragment of To; "" keeps the link's own (RFC 9110 §10.2.2)
	Kind   string    `json:"kind,omitempty"`   // of a failure: a fetch.Kind, "robots.txt" or "host"
	Why    string    `json:"why,omitempty"`    // in words
	Denied bool      `json:"denied,omitempty"` // robots.txt denies it: no request was made
	At     time.Time `json:"at"`
	// Lacks are the requested fragments that the page does not have, Has those that it has.
	Lacks []string `json:"lacks,omitempty"`
	Has   []string `json:"has,omitempty"`
	HTTPS bool     `json:"https,omitempty"` // of an http URL: its host also answers https
}

// Prober checks whether URLs exist. It fetches each host's robots.txt first and makes one request per
// host at a time, at the host's pace: HEAD, then if necessary GET of the first octets. Nothing is
// archived.
type Prober struct {
	// Fragments returns the fragments to look for in a URL, or in the page it redirects to.
	// Lacks returns those of them that the page does not have.
	Fragments func(url string) []string
	Lacks     func(u weburl.URL, contentType string, body io.Reader, fragments []string) []string
	// Cached returns an earlier result for a URL with all these fragments; nil if there is none.
	Cached func(url string, fragments []string) *Probe
	// MaxWait is how long to wait for a host that asks to be left alone.
	MaxWait time.Duration
	// Hosts is how many hosts are asked at the same time.
	Hosts int

	o      crawler.Options
	client *fetch.Client
	mu     sync.Mutex // guards the maps below
	hosts  map[string]*host
	probes map[string]*Probe
	wanted map[string][]string // fragments by URL
	secure map[string]bool     // by host: whether it answers https
	slots  chan struct{}
	wg     sync.WaitGroup
}

// host is one host. mu is held during each request to it.
type host struct {
	mu    sync.Mutex
	pv    *previewer
	queue []job // guarded by Prober.mu
	busy  bool  // guarded by Prober.mu
}

type job struct {
	url       weburl.URL
	hops      int
	fragments []string // of the links that lead here through a redirect
}

// Octets read of a page, without and with fragments to look for.
const (
	firstOctets = 16 << 10
	wholePage   = 4 << 20
)

// maxFailures is the number of consecutive failures after which a host is given up; the back-off
// doubles each time.
const maxFailures = 4

// NewProber makes a Prober with the options of a crawl. allowed is passed to fetch.Client.Allow. Close
// it after use.
func NewProber(o crawler.Options, allowed ...string) *Prober {
	o = o.WithDefaults()
	o.Pace.Concurrency, o.Fetch.SpillAt = 1, 2*wholePage
	o.Pace.MaxFailures = maxFailures
	p := &Prober{o: o, client: fetch.New(o.Fetch), MaxWait: 2 * time.Minute, Hosts: 16, hosts: map[string]*host{},
		probes: map[string]*Probe{},
		wanted: map[string][]string{}, secure: map[string]bool{}}
	p.client.Allow(allowed...)
	return p
}

// Close closes the connections.
func (p *Prober) Close() { p.client.Close() }

// Run checks all URLs and the targets of their redirects, and returns a result for each.
func (p *Prober) Run(ctx context.Context, urls []weburl.URL) map[string]*Probe {
	p.slots = make(chan struct{}, max(p.Hosts, 1))
	p.mu.Lock()
	for _, u := range urls {
		j := job{url: u}
		if p.Fragments != nil {
			j.fragments = p.Fragments(u.String())
		}
		p.add(ctx, j)
	}
	p.mu.Unlock()
	p.wg.Wait()
	return p.probes
}

// add queues a URL at its host, unless it was checked with all its fragments; p.mu is held.
func (p *Prober) add(ctx context.Context, j job) {
	name := j.url.String()
	had, more := p.probes[name], false
	for _, f := range j.fragments {
		if !slices.Contains(p.wanted[name], f) {
			p.wanted[name], more = append(p.wanted[name], f), true
		}
	}
	switch {
	case had != nil && (!more || had.At.IsZero()):
		return // checked or queued already
	case had == nil && p.Cached != nil:
		had = p.Cached(name, p.wanted[name])
	}
	if had != nil && (had.To != "" || had.Status != http.StatusOK || !more || had.knows(p.wanted[name])) {
		p.probes[name] = had
		p.follow(ctx, j, had)
		return
	}
	p.probes[name] = &Probe{URL: name, Kind: string(fetch.KindCanceled), Why: "not asked for yet"}
	h := p.host(j.url.Host())
	h.queue = append(h.queue, j)
	if !h.busy {
		h.busy = true
		p.wg.Add(1)
		go p.work(ctx, h)
	}
}

// follow queues the target of a redirect; p.mu is held.
func (p *Prober) follow(ctx context.Context, j job, r *Probe) {
	next := weburl.FromCanonical(r.To)
	if next.IsZero() || j.hops >= judge.MaxRedirects {
		return
	}
	fragments := p.wanted[r.URL]
	if r.Place != "" {
		fragments = nil
	}
	p.add(ctx, job{next, j.hops + 1, fragments})
}

// knows reports whether r has a result for each of the fragments.
func (r *Probe) knows(fragments []string) bool {
	return !slices.ContainsFunc(fragments, func(f string) bool {
		return !slices.Contains(r.Has, f) &&
			!slices.Contains(r.Lacks, f)
	})
}

// host returns a host, creating it if necessary; p.mu is held.
func (p *Prober) host(name string) *host {
	h := p.hosts[name]
	if h == nil {
		h = &host{pv: &previewer{o: p.o, client: p.client, paces: map[string]*politeness.Host{},
			robots: map[string]*robotstxt.Answer{}}}
		h.pv.exclusive = p.turn
		p.hosts[name] = h
	}
	return h
}

// turn waits until no other request to u's host is in progress, requests that a redirect from another
// host's robots.txt causes included.
func (p *Prober) turn(u weburl.URL) (done func()) {
	p.mu.Lock()
	h := p.host(u.Host())
	p.mu.Unlock()
	h.mu.Lock()
	return h.mu.Unlock
}

// work checks the URLs queued at a host.
func (p *Prober) work(ctx context.Context, h *host) {
	defer p.wg.Done()
	p.slots <- struct{}{}
	defer func() { <-p.slots }()
	for {
		p.mu.Lock()
		if len(h.queue) == 0 || ctx.Err() != nil {
			h.busy = false
			p.mu.Unlock()
			return
		}
		j := h.queue[0]
		h.queue = h.queue[1:]
		wanted := p.wanted[j.url.String()]
		p.mu.Unlock()
		r := p.probe(ctx, h.pv, j.url, wanted)
		p.mu.Lock()
		p.probes[r.URL] = r
		if r.Status == http.StatusOK && len(p.wanted[r.URL]) > len(wanted) { // a redirect added fragments
			h.queue = append(h.queue, j)
		}
		p.follow(ctx, j, r)
		p.mu.Unlock()
	}
}

// probe checks one URL. It repeats the request up to maxFailures times if the host answers 429 or 503
// and asks for no more than MaxWait.
func (p *Prober) probe(ctx context.Context, pv *previewer, u weburl.URL, wanted []string) *Probe {
	r := &Probe{URL: u.String(), At: p.o.Now()}
	if err := pv.judge(ctx, u); err != nil {
		var denied *DeniedError
		r.Denied, r.Kind, r.Why = errors.As(err, &denied), "robots.txt", err.Error()
		if _, ok := errors.AsType[*crawler.UnreachableError](err); ok {
			r.Kind = string(fetch.KindOf(pv.robots[u.Origin()].Err))
		}
		return r
	}
	for n := range maxFailures {
		if wait := pv.pace(u).Next(p.o.Now()); !wait.At.Equal(politeness.Never) && wait.At.Sub(p.o.Now()) > p.MaxWait {
			if n == 0 { // the response to another URL of the host asked for the wait
				r.Kind, r.Why = "host", fmt.Sprintf("not asked for, %s until %s", wait.Why,
					wait.At.UTC().Format("2006-01-02 15:04 UTC"))
			}
			break
		}
		p.ask(ctx, pv, u, r, wanted)
		if r.Status != http.StatusTooManyRequests && r.Status != http.StatusServiceUnavailable || ctx.Err() != nil {
			break
		}
	}
	if u.Scheme() == "http" && r.Status >= 200 && r.Status < 300 {
		r.HTTPS = p.secured(ctx, pv, u)
	}
	return r
}

// ask makes the requests: HEAD, and GET if HEAD fails or fragments are to be looked for.
func (p *Prober) ask(ctx context.Context, pv *previewer, u weburl.URL, r *Probe, wanted []string) {
	head := len(wanted) == 0
	for {
		q := fetch.Request{URL: u, HeadOnly: head, MaxBody: firstOctets}
		if len(wanted) > 0 {
			q.MaxBody = wholePage
		}
		x, err := pv.do(ctx, q)
		if err != nil {
			r.Kind, r.Why = "host", err.Error()
			if ctx.Err() != nil {
				r.Kind = string(fetch.KindCanceled) // this says nothing about the URL
			}
			return
		}
		r.Status, r.To, r.Kind, r.Why = x.Status, "", string(fetch.KindOf(x.Err)), ""
		if x.Err != nil {
			r.Why = fetch.Cause(x.Err).Error()
		}
		if location := x.Header.Get("Location"); x.Err == nil && x.Status >= 300 && x.Status < 400 && location != "" {
			if to, err := u.Resolve(location); err == nil {
				r.To = to.String()
				_, r.Place, _ = strings.Cut(location, "#")
			}
		}
		if !head && len(wanted) > 0 && x.Status == http.StatusOK && x.Err == nil && p.Lacks != nil {
			p.look(x, r, wanted)
		}
		x.Release()
		again := head && ctx.Err() == nil && r.Status != http.StatusTooManyRequests && (r.Status >= 400 ||
			r.Status == 0 && fetch.Kind(r.Kind) == fetch.KindDisconnect || fetch.Kind(r.Kind) == fetch.KindProtocol)
		if !again {
			return
		}
		head = false // some servers do not support HEAD
	}
}

// look looks for fragments in the page.
func (p *Prober) look(x *fetch.Exchange, r *Probe, wanted []string) {
	body, cut, err := x.Decoded(wholePage)
	if err != nil || cut || x.Truncated != "" {
		return // a missing fragment may be in the rest
	}
	r.Lacks = p.Lacks(x.URL, x.Header.Get("Content-Type"), bytes.NewReader(body), wanted)
	for _, f := range wanted {
		if !slices.Contains(r.Lacks, f) {
			r.Has = append(r.Has, f)
		}
	}
}

// secured reports whether the host of an http URL answers https; it is asked once.
func (p *Prober) secured(ctx context.Context, pv *previewer, u weburl.URL) bool {
	p.mu.Lock()
	known, ok := p.secure[u.Host()]
	p.mu.Unlock()
	if ok {
		return known
	}
	is := false
	if s, err := weburl.Parse("https" + u.String()[len("http"):]); err == nil && s.Port() == "443" &&
		pv.judge(ctx, s) == nil {
		if x, err := pv.do(ctx, fetch.Request{URL: s, HeadOnly: true}); err == nil {
			is = x.Err == nil && x.Status >= 200 && x.Status < 300
			x.Release()
		}
	}
	p.mu.Lock()
	p.secure[u.Host()] = is
	p.mu.Unlock()
	return is
}

// do waits for the host's turn and pace, then makes one request.
func (pv *previewer) do(ctx context.Context, r fetch.Request) (*fetch.Exchange, error) {
	if pv.exclusive != nil {
		defer pv.exclusive(r.URL)()
	}
	p := pv.pace(r.URL)
	if gave, why := p.GaveUp(); gave {
		return nil, fmt.Errorf("giving up on %s: %s", r.URL.Host(), why)
	}
	if w := p.Next(pv.o.Now()); w.At.After(pv.o.Now()) && !w.At.Equal(politeness.Never) {
		t := time.NewTimer(w.At.Sub(pv.o.Now()))
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.Start(pv.o.Now())
	x := pv.client.Do(ctx, r)
	p.Done(x.End(), crawler.ResultOf(x))
	return x, nil
}
