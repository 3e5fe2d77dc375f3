package crawler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/render"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// A page is rendered between steps 4 and 5 of its visit. What its scripts request becomes URLs of the
// frontier, of class requisite, which are judged, paced and archived like all others; once they are
// archived, the browser gets them from the archive. So a URL that many pages use is fetched once, and a
// kill loses only the page being rendered, not what it requested.

// RenderMode says which pages are rendered.
type RenderMode int

// The render modes.
const (
	RenderNone RenderMode = iota
	RenderBare            // pages that show next to nothing without their scripts
	RenderAll
)

// Browser renders pages, as *render.Browser does. It must be usable again after Close.
type Browser interface {
	Render(ctx context.Context, url string, answer render.Fetch) (*render.Page, error)
	Close()
}

// Bounds of rendering.
const (
	maxTabs     = 2                // pages rendered at the same time
	maxAnswer   = 32 << 20         // octets of a response given to the browser
	maxPageWait = 30 * time.Second // for a URL that is queued as a page, whose turn may be far off
)

// tabs is the state of rendering. Its zero value renders nothing.
type tabs struct {
	browser Browser
	free    chan struct{}   // holds one token per page being rendered
	ctx     context.Context // ends with the run, before the visits in flight do

	mu     sync.Mutex
	wanted map[weburl.URL]chan struct{} // closed by the next commit that concerns the URL
}

func (t *tabs) open(o *Options) {
	if o.Render == RenderNone || o.Browser == nil {
		return
	}
	t.browser, t.free = o.Browser, make(chan struct{}, maxTabs)
	t.wanted = map[weburl.URL]chan struct{}{}
}

func (t *tabs) close() {
	if t.browser != nil {
		t.browser.Close()
	}
}

// wait returns a channel that is closed by the next commit with the URL's outcome or a link to it.
func (t *tabs) wait(u weburl.URL) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	ch := t.wanted[u]
	if ch == nil {
		ch = make(chan struct{})
		t.wanted[u] = ch
	}
	return ch
}

// committed wakes those who wait for a URL that the group settled, retries or queued.
func (t *tabs) committed(group []*outcome) {
	if t.browser == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range group {
		if len(t.wanted) == 0 {
			return
		}
		t.wake(o.Entry.URL)
		t.wake(o.asked)
		for i := range o.Links {
			t.wake(o.Links[i].URL)
		}
	}
}

func (t *tabs) wake(u weburl.URL) {
	if ch := t.wanted[u]; ch != nil {
		close(ch)
		delete(t.wanted, u)
	}
}

// render renders the page of a visit if the mode asks for it. It returns false if the run ended
// meanwhile: the visit is then dropped.
func (c *Crawl) render(j *job, x *fetch.Exchange) bool {
	if c.tabs.browser == nil {
		return true
	}
	var shell *visit.Shell
	c.crew.process(func() { shell = c.reader.Shell(&j.Attempt, x) })
	if shell == nil || c.opts.Render == RenderBare && !shell.Bare {
		return true
	}
	c.flight.rendering(1)
	defer c.flight.rendering(-1)
	select {
	case c.tabs.free <- struct{}{}:
		defer func() { <-c.tabs.free }()
	case <-c.tabs.ctx.Done():
		return false
	}
	j.at("rendering", c.now())
	p, err := c.tabs.browser.Render(c.tabs.ctx, j.URL.String(), (&asker{c, j, shell}).answer)
	if c.tabs.ctx.Err() != nil {
		return false
	}
	if err != nil {
		c.opts.Tell(fmt.Sprintf("not rendered: %v", err))
		return true
	}
	j.Rendered = newRendered(p)
	return true
}

func newRendered(p *render.Page) *visit.Rendered {
	sum := sha256.Sum256(p.HTML)
	r := &visit.Rendered{HTML: p.HTML, Moved: p.Moved, Routes: p.Routes}
	r.Rendered = crawllog.Rendered{Length: int64(len(p.HTML)), SHA256: hex.EncodeToString(sum[:]),
		Asked: p.Asked, Cut: p.Cut}
	for _, m := range p.Missing {
		r.Missing = append(r.Missing, crawllog.Missing{URL: m.URL[:min(len(m.URL), 2000)], Why: m.Why})
	}
	return r
}

// asker answers the requests of a job's page.
type asker struct {
	c     *Crawl
	j     *job
	shell *visit.Shell
}

// answer implements render.Fetch.
func (a *asker) answer(ctx context.Context, r render.Request) (_ *render.Response, err error) {
	defer func() {
		if _, ok := errors.AsType[*storage.DamageError](err); ok {
			a.c.ledger.fail(err)
		}
	}()
	defer storage.Guard(&err)()
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	if r.Main || u == a.j.URL.Page() {
		return &render.Response{Status: a.shell.Status, Header: a.shell.Header, Body: a.shell.Body}, nil
	}
	f, err := a.settled(ctx, u)
	if err != nil {
		return nil, err
	}
	return a.c.archived(f)
}

// settled adds a URL to the frontier if it is unknown, and waits until it is no longer queued.
func (a *asker) settled(ctx context.Context, u weburl.URL) (f frontier.Found, err error) {
	c, asked := a.c, false
	late := time.After(maxPageWait)
	for isLate := false; ; {
		changed := c.tabs.wait(u)
		found, err := c.frontier.Find(u)
		if err != nil {
			return f, err
		}
		known := len(found) > 0
		if known {
			f = found[len(found)-1]
		}
		switch {
		case known && f.State != frontier.StateQueued:
			return f, nil
		case known && isLate && f.Class.OfLink() == frontier.Page:
			return f, errors.New("it is queued as a page")
		case !known && !c.frontier.Known(u):
			if asked {
				return f, errors.New("the archive knows as many URLs as it may")
			}
			asked = true
			c.flight.dismiss()
			c.crew.outcomes <- &outcome{Outcome: a.shell.Ask(u), asked: u}
		}
		select {
		case <-ctx.Done():
			return f, context.Cause(ctx)
		case <-changed:
		case <-late:
			isLate = true
		}
	}
}

// archived returns the archived response of a URL.
func (c *Crawl) archived(f frontier.Found) (*render.Response, error) {
	if f.State == frontier.StateDisregarded {
		return nil, errors.New(f.Reason.String())
	}
	visits, err := c.archive.VisitsOf(f.ID, 1)
	if err != nil || len(visits) == 0 {
		return nil, errors.Join(errors.New("it has no visit"), err)
	}
	v := visits[0]
	if v.Status == http.StatusNotModified && v.Refers != nil {
		if v, err = c.archive.Visit(*v.Refers); err != nil || v == nil {
			return nil, errors.Join(errors.New("its visit is missing"), err)
		}
	}
	switch {
	case v.Error != "":
		return nil, errors.New(v.Error)
	case v.Kept == crawllog.KeptWithheld:
		return nil, errors.New("its body is not kept, as the site asks: " + visit.WithheldBy(v))
	case !v.HasBody():
		return nil, errors.New(f.Reason.String())
	}
	return c.answerOf(v)
}

func (c *Crawl) answerOf(v *crawllog.Visit) (*render.Response, error) {
	resp, err := c.archive.Response(v)
	if err != nil {
		return nil, err
	}
	defer resp.Close()
	payload, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && v.Truncated == "" {
		return nil, err
	}
	x, err := c.client.Replay(weburl.FromCanonical(v.URL), v.At, resp.Head, payload)
	if err != nil {
		return nil, err
	}
	defer x.Release()
	body, _, err := x.Decoded(maxAnswer)
	return &render.Response{Status: x.Status, Header: x.Header, Body: bytes.Clone(body)}, err
}
