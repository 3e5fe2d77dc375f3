package render

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/chromedp/cdproto/emulation"
)

// Looking says how Look opens a page. Only Answer is required.
type Looking struct {
	Answer Fetch
	// File says which file: URLs the page may read; nil: none.
	File func(url string) bool
	// Press chooses the link to click, as an index into Seen.Links; -1 is none.
	Press func(*Seen) int
	// Document asks for Seen.HTML.
	Document bool
}

// Seen is what a reader sees of a page.
type Seen struct {
	URL      string   // its address, which scripts may have changed
	Text     string   // the visible text, up to 1 MiB
	Pictures int      // number of loaded images
	Links    []string // targets of the first 2000 links; "" for those that cannot be clicked
	Failed   []string // URLs of failed requests, not necessarily all
	HTML     []byte   // the document, if Looking.Document asked for it
}

// listen records, in an isolated world, which resources could not be loaded.
const listen = `globalThis.failed = []; addEventListener("error", (e) => { const t = e.target;
	if (t && t !== window && failed.length < 100)
		failed.push(String(t.currentSrc || t.src || t.href || t.localName).slice(0, 2000)) }, true)`

// seen collects what the page shows.
const seen = `Promise.resolve((() => {
	const plain = (a) => !/^(_blank|_new)$/i.test(a.target) && !a.hasAttribute("download") &&
		a.getClientRects().length && getComputedStyle(a).visibility === "visible";
	return {Text: (document.body ? document.body.innerText : "").slice(0, 1 << 20),
		URL: String(location.href).slice(0, 2000),
		Pictures: [...document.images].filter((i) => i.complete && i.naturalWidth > 1).length,
		Failed: globalThis.failed || [],
		Links: [...document.querySelectorAll("a[href]")].slice(0, 2000)
			.map((a) => plain(a) ? String(a.href).slice(0, 2000) : "")}})())`

// Look opens a page and returns what it shows, and what it shows after a click on the link that
// Press chose. That click may navigate; after is nil without one.
func (b *Browser) Look(ctx context.Context, url string, l Looking) (first, after *Seen, err error) {
	err = b.open(ctx, asked{url: url, answer: l.Answer, look: &l}, func(t *rendering) (err error) {
		if first, err = t.see(); err != nil || l.Press == nil {
			return err
		}
		n := l.Press(first)
		if n < 0 {
			return nil
		}
		if err = t.press(n); err == nil {
			after, err = t.see()
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", url, err)
	}
	return first, after, nil
}

// see returns what an idle page shows.
func (t *rendering) see() (*Seen, error) {
	s := &Seen{}
	if err := t.evaluate(seen, t.o.Timeout, s); err != nil {
		return nil, err
	}
	t.mu.Lock()
	for _, m := range t.page.Missing {
		s.Failed = append(s.Failed, m.URL)
	}
	t.mu.Unlock()
	slices.Sort(s.Failed)
	s.Failed = slices.DeleteFunc(slices.Compact(s.Failed), func(u string) bool { return u == "" })
	if t.look.Document {
		p, err := t.result()
		if err != nil {
			return nil, err
		}
		s.HTML = p.HTML
	}
	return s, nil
}

// press clicks the n-th link and waits until the page is idle again.
func (t *rendering) press(n int) error {
	t.mu.Lock()
	t.page.Missing = nil
	t.mu.Unlock()
	if err := call(t.calls, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		return err
	}
	_, _ = t.number(fmt.Sprintf(`(setTimeout(() => document.querySelectorAll("a[href]")[%d].click(), 0), 0)`, n),
		time.Second)
	select {
	case <-t.calls.Done():
		return context.Cause(t.calls)
	case <-time.After(4 * beat): // let a navigation begin
	}
	return t.rest()
}
