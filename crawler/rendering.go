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

// A page is rendered between steps 4 and 5 of its visit. What its scripts ask
// for becomes URLs of the frontier, of the class requisite, which are judged,
// paced and archived as all are; the browser is answered from the archive once
// they are there. So a URL that many pages ask for is fetched once, and a kill
// costs the page that was being rendered, and none of what it asked for.

// RenderMode says which pages are rendered.
type RenderMode int

// The modes.
const (
	RenderNone RenderMode = iota
	RenderBare            // those that show next to nothing without their scripts
	RenderAll
)

// Browser renders pages, as *render.Browser does. It is usable again after Close.
type Browser interface {
	Render(ctx context.Context, url string, answer render.Fetch) (*render.Page, error)
	Close()
}

// Bounds of rendering.
const (
	maxTabs     = 2                // pages at a time
	maxAnswer   = 32 << 20         // octets of an answer that a browser is given
	maxPageWait = 30 * time.Second // for what is queued as a page, whose turn may be far
)

// tabs is what rendering needs beside the crawl. Its zero value renders nothing.
type tabs struct {
	browser Browser
	free    chan struct{}   // holds a token for each page being rendered
	ctx     context.Context // ends with the run, before the visits in flight do

	mu     sync.Mutex
	wanted map[weburl.URL]chan struct{} // closed by the next commit that says something of the URL
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

// wait is a channel that the next commit closes that has the URL's outcome, or a link to it.
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

// committed tells whoever waits for a URL that a group settled, put off or queued.
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

// render has a page's scripts run, if the page is one to be rendered. It is
// false where the run ended meanwhile: then the visit is as if it had not been.
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

// asker answers what the page of a job asks for.
type asker struct {
	c     *Crawl
	j     *job
	shell *visit.Shell
}

// answer is a render.Fetch.
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

// settled waits until it is decided what becomes of a URL, which is put into
// the frontier where it is not known.
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

// archived is the answer that the archive has for a URL.
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
