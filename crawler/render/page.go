package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// absent removes interfaces that reach the network or open windows, before any script of the page
// runs.
const absent = `for (const n of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport",
	"WebSocketStream", "SharedWorker", "PushManager"])
	try { delete globalThis[n] } catch (e) {}
try { delete Navigator.prototype.serviceWorker } catch (e) {}
try { globalThis.open = () => null } catch (e) {}
try {
	globalThis.print = globalThis.alert = () => {}; globalThis.confirm = () => false; globalThis.prompt = () => null
} catch (e) {}`

// world is the name of our isolated world in a page.
const world = "curtsy"

// The window size, and the maximum height to which the window grows so that content that loads on
// scrolling is loaded.
const (
	width, height = 1280, 1024
	tallest       = 20_000
)

// Render loads a page and lets its scripts run until it is idle. If the browser exits meanwhile, the
// page is tried once more in a new one.
func (b *Browser) Render(ctx context.Context, url string, answer Fetch) (p *Page, err error) {
	err = b.open(ctx, asked{url: url, answer: answer}, func(t *rendering) (err error) {
		if err = t.unfold(); err != nil {
			return err
		}
		if p, err = t.result(); err == nil {
			t.take()
			p.Missing, p.Asked = t.told()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", url, err)
	}
	return p, nil
}

// open opens a page and calls then when it is idle; once more if the browser exits meanwhile.
func (b *Browser) open(ctx context.Context, a asked, then func(*rendering) error) error {
	err := b.once(ctx, a, then)
	if errors.Is(err, errEnded) {
		err = b.once(ctx, a, then)
	}
	return err
}

// errCrashed reports that the page crashed while the browser kept running.
var errCrashed = errors.New("the page crashed, or needs more memory than render.max_memory")

// errEnded reports that the browser exited during rendering.
var errEnded = errors.New("the browser exited")

func (b *Browser) once(ctx context.Context, a asked, then func(*rendering) error) error {
	on, err := b.process()
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, b.o.Limit)
	defer done()
	tab, leave := chromedp.NewContext(on.ctx, chromedp.WithNewBrowserContext(on.alone))
	defer leave()
	stop := context.AfterFunc(ctx, leave)
	defer stop()
	t := &rendering{o: &b.o, ways: &b.ways, asked: a, ctx: ctx, tab: tab}
	err = t.run(on.agent, then)
	t.end()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(t.calls), errCrashed):
		return errCrashed
	case on.ctx.Err() != nil:
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return err
}

// alone gives a page a browser context without network access, even in a browser that was not started
// here.
func (p *process) alone(c *target.CreateBrowserContextParams) {
	yes := true
	c.DisposeOnDetach, c.ProxyServer, c.ProxyBypassList = &yes, p.wall.address, "<-loopback>"
}

// run opens one page and calls then when it is idle.
func (t *rendering) run(agent string, then func(*rendering) error) error {
	ctx, cancel := context.WithCancelCause(t.tab)
	defer cancel(nil)
	t.calls, t.crash = ctx, func() { cancel(errCrashed) }
	if err := t.prepare(agent); err != nil {
		return err
	}
	res, err := chromedp.Call(ctx, page.Navigate, page.NavigateParams{URL: t.url})
	if err == nil && res.ErrorText != "" {
		err = errors.New(res.ErrorText)
	}
	if err != nil {
		return err
	}
	if err := t.rest(); err != nil {
		return err
	}
	return then(t)
}

// rest waits until a page is idle, including what loads in a window as tall as the page.
func (t *rendering) rest() error {
	err := t.idle()
	if err == nil && t.grow() {
		err = t.idle()
	}
	return err
}

func (t *rendering) prepare(agent string) error {
	if err := chromedp.Listen(t.calls, t.event); err != nil {
		return err
	}
	c := chromedp.FromContext(t.tab)
	t.frame = cdp.FrameID(c.Target.TargetID)
	return errors.Join(
		call(t.calls, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "http://*"},
			{URLPattern: "https://*"}, {URLPattern: "file://*"}}}),
		// The events of these domains may be as long as the page likes.
		call(t.calls, network.Disable, cdp.Empty{}),
		call(t.calls, runtime.Disable, cdp.Empty{}),
		call(t.calls, log.Disable, cdp.Empty{}),
		call(t.calls, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent}),
		call(t.calls, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: absent}),
		call(t.calls, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: listen,
			WorldName: world}),
		t.window(height),
		callBrowser(t.calls, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: c.BrowserContextID}),
	)
}

func call[P, R any](ctx context.Context, command cdp.Command[P, R], p P) error {
	_, err := chromedp.Call(ctx, command, p)
	return err
}

func callBrowser[P, R any](ctx context.Context, command cdp.Command[P, R], p P) error {
	_, err := chromedp.CallBrowser(ctx, command, p)
	return err
}

func (t *rendering) window(high int64) error {
	t.high = high
	return call(t.calls, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width,
		Height: high, DeviceScaleFactor: 1})
}

// grow makes the window as tall as the page, and reports whether it changed.
func (t *rendering) grow() bool {
	n, err := t.number("document.documentElement.scrollHeight", time.Second)
	high := int64(min(n, tallest))
	return err == nil && high > t.high && t.window(high) == nil
}

// number evaluates an expression whose value is a number or a promise of one.
func (t *rendering) number(expression string, most time.Duration) (n float64, err error) {
	err = t.evaluate("Promise.resolve("+expression+").then(v => Number(v) || 0)", most, &n)
	return n, err
}

// evaluate runs an expression in an isolated world, whose built-in objects the page's scripts cannot
// change. value gets the JSON of the result.
func (t *rendering) evaluate(expression string, most time.Duration, value any) error {
	ctx, cancel := context.WithTimeout(t.calls, most)
	defer cancel()
	own, err := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: t.frame,
		WorldName: world})
	if err != nil {
		return err
	}
	yes := true
	r, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: expression,
		ContextID:    own.ExecutionContextID,
		AwaitPromise: &yes, ReturnByValue: &yes, Silent: &yes})
	if err != nil {
		return err
	}
	if r.Result == nil || r.ExceptionDetails != nil {
		return errors.New("the page could not be asked")
	}
	return json.Unmarshal([]byte(r.Result.Value), value)
}

// routes lists the links of a page to fragments that the site's scripts display.
const routes = `Promise.resolve([...new Set([...document.querySelectorAll("a[href]")].map((a) => String(a.href))
	.filter((u) => /^https?:[^#]*#[/!]./.test(u) && u.length < 2000 && u.startsWith(location.origin + "/")))]
	.slice(0, 2000))`

// The protocol returns a document in one message, in which a character may take six octets. A document
// longer than maxWhole is read in slices, without its shadow trees.
const (
	maxWhole = 2 << 20
	slice    = 1 << 20
)

// result reads the document through the protocol, not through functions that the page's scripts could
// have replaced.
func (t *rendering) result() (*Page, error) {
	ctx, cancel := context.WithTimeout(t.calls, t.o.Timeout)
	defer cancel()
	root, err := chromedp.Call(ctx, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		return nil, err
	}
	size, err := t.number("(globalThis.text = document.documentElement.outerHTML).length", t.o.Timeout)
	if err != nil {
		return nil, err
	}
	var html string
	if size <= maxWhole {
		html, err = whole(ctx, root.Root.NodeID)
	} else {
		html, err = t.slices(int(size))
	}
	if err != nil {
		return nil, err
	}
	var list []string
	if err := t.evaluate(routes, t.o.Timeout, &list); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.page
	p.Routes = list
	p.HTML, p.URL = []byte(html), root.Root.DocumentURL
	if len(p.HTML) > t.o.MaxHTML {
		p.HTML, p.Cut = p.HTML[:t.o.MaxHTML], "the document is too large"
	}
	return &p, nil
}

func whole(ctx context.Context, root cdp.NodeID) (string, error) {
	yes := true
	html, err := chromedp.Call(ctx, dom.GetOuterHTML, dom.GetOuterHTMLParams{NodeID: root, IncludeShadowDOM: &yes})
	if err != nil {
		return "", err
	}
	return html.OuterHTML, nil
}

// slices reads a long document, up to about MaxHTML.
func (t *rendering) slices(size int) (string, error) {
	var b strings.Builder
	for at := 0; at < size && b.Len() <= t.o.MaxHTML; at += slice {
		var text string
		if err := t.evaluate(fmt.Sprintf("text.slice(%d, %d)", at, at+slice), t.o.Timeout, &text); err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return "<!DOCTYPE html>" + b.String(), nil
}
