package render

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/chromedp/cdproto/emulation"
)

// Looking says what a page is looked at for. Only Answer is needed.
type Looking struct {
	Answer Fetch
	// File says which files a page on the disk may read; nil: none.
	File func(url string) bool
	// Press chooses the link that is clicked on, by its place in Seen.Links, after
	// the page was seen; -1 is none.
	Press func(*Seen) int
	// Document asks for the document, too.
	Document bool
}

// Seen is what a reader sees of a page.
type Seen struct {
	URL      string   // its address then
	Text     string   // what is visible of it, up to 1 MiB
	Pictures int      // that are whole
	Links    []string // where those lead that can be clicked on; "" for others; the first 2000
	Failed   []string // requests that failed, by their URLs; some of them
	HTML     []byte   // the document, if it was asked for
}

// listen notes what could not be loaded, in a world of its own.
const listen = `globalThis.failed = []; addEventListener("error", (e) => { const t = e.target;
	if (t && t !== window && failed.length < 100)
		failed.push(String(t.currentSrc || t.src || t.href || t.localName).slice(0, 2000)) }, true)`

// seen is what the page shows.
const seen = `Promise.resolve((() => {
	const plain = (a) => !/^(_blank|_new)$/i.test(a.target) && !a.hasAttribute("download") &&
		a.getClientRects().length && getComputedStyle(a).visibility === "visible";
	return {Text: (document.body ? document.body.innerText : "").slice(0, 1 << 20),
		URL: String(location.href).slice(0, 2000),
		Pictures: [...document.images].filter((i) => i.complete && i.naturalWidth > 1).length,
		Failed: globalThis.failed || [],
		Links: [...document.querySelectorAll("a[href]")].slice(0, 2000)
			.map((a) => plain(a) ? String(a.href).slice(0, 2000) : "")}})())`

// Look opens a page and says what is seen of it, and after a click on one of its
// links, which it lets lead on; after is nil where none was chosen.
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

// see is what a page at rest shows.
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

// press clicks on a link, and waits for where it leads.
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
	case <-time.After(4 * beat): // until it has begun to lead on
	}
	return t.rest()
}
