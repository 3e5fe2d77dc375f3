package render

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// absent takes away what would open a way out or a window, before any script
// of the page runs. Scripts that look for it find a browser without.
const absent = `for (const n of ["RTCPeerConnection","webkitRTCPeerConnection","RTCDataChannel","WebTransport","WebSocketStream","SharedWorker","PushManager"])
	try { delete globalThis[n] } catch (e) {}
try { delete Navigator.prototype.serviceWorker } catch (e) {}
try { globalThis.open = () => null } catch (e) {}
try { globalThis.print = () => {} } catch (e) {}`

// The window of a page, and how tall it is made so that what loads when it is
// scrolled to is loaded.
const (
	width, height = 1280, 1024
	tallest       = 20_000
)

// Render loads a page and lets its scripts run until they are at rest. Where
// the browser ends meanwhile it is started anew, once.
func (b *Browser) Render(ctx context.Context, url string, answer Fetch) (*Page, error) {
	p, err := b.once(ctx, url, answer)
	if errors.Is(err, errEnded) {
		p, err = b.once(ctx, url, answer)
	}
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", url, err)
	}
	return p, nil
}

// errEnded says that the browser ended while it rendered.
var errEnded = errors.New("the browser exited")

func (b *Browser) once(ctx context.Context, url string, answer Fetch) (*Page, error) {
	on, err := b.process()
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(ctx, b.o.Limit)
	defer done()
	tab, leave := chromedp.NewContext(on.ctx, chromedp.WithNewBrowserContext(on.alone))
	defer leave()
	stop := context.AfterFunc(ctx, leave)
	defer stop()
	t := &rendering{o: &b.o, ctx: ctx, tab: tab, url: url, answer: answer}
	p, err := t.run(on.agent)
	t.end()
	switch {
	case err == nil:
		return p, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case on.ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil, err
}

// alone makes a page's browser context, which leads to nobody, also in a
// browser that was started by others.
func (p *process) alone(c *target.CreateBrowserContextParams) {
	yes := true
	c.DisposeOnDetach, c.ProxyServer, c.ProxyBypassList = &yes, p.wall.address, "<-loopback>"
}

// run is the life of one page.
func (t *rendering) run(agent string) (*Page, error) {
	ctx, cancel := context.WithCancel(t.tab)
	defer cancel()
	t.calls = ctx
	if err := t.prepare(agent); err != nil {
		return nil, err
	}
	res, err := chromedp.Call(ctx, page.Navigate, page.NavigateParams{URL: t.url})
	if err == nil && res.ErrorText != "" {
		err = errors.New(res.ErrorText)
	}
	if err != nil {
		return nil, err
	}
	if err := t.settle(); err != nil {
		return nil, err
	}
	if t.grow() {
		if err := t.settle(); err != nil {
			return nil, err
		}
	}
	return t.result()
}

func (t *rendering) prepare(agent string) error {
	if err := chromedp.Listen(t.calls, t.event); err != nil {
		return err
	}
	c := chromedp.FromContext(t.tab)
	t.frame = cdp.FrameID(c.Target.TargetID)
	yes := true
	return errors.Join(
		call(t.calls, fetch.Enable, fetch.EnableParams{}),
		call(t.calls, network.Enable, network.EnableParams{}),
		call(t.calls, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: yes}),
		call(t.calls, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent}),
		call(t.calls, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: absent}),
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
	return call(t.calls, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: high, DeviceScaleFactor: 1})
}

// grow makes the window as tall as the page; false where it is so already.
func (t *rendering) grow() bool {
	v, err := t.evaluate("document.documentElement.scrollHeight", time.Second)
	if err != nil {
		return false
	}
	n, err := strconv.ParseFloat(v, 64)
	return err == nil && n > height && t.window(int64(min(n, tallest))) == nil
}

// evaluate runs an expression in the page; the value is JSON.
func (t *rendering) evaluate(expression string, most time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(t.calls, most)
	defer cancel()
	yes := true
	r, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, AwaitPromise: &yes, ReturnByValue: &yes, Silent: &yes})
	if err != nil || r.Result == nil {
		return "", err
	}
	return string(r.Result.Value), nil
}

// result reads the document, by the protocol and not by scripts, which the
// page could have changed.
func (t *rendering) result() (*Page, error) {
	ctx, cancel := context.WithTimeout(t.calls, t.o.Timeout)
	defer cancel()
	root, err := chromedp.Call(ctx, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		return nil, err
	}
	yes := true
	html, err := chromedp.Call(ctx, dom.GetOuterHTML, dom.GetOuterHTMLParams{NodeID: root.Root.NodeID, IncludeShadowDOM: &yes})
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.page
	p.HTML, p.URL = []byte(html.OuterHTML), root.Root.DocumentURL
	if len(p.HTML) > t.o.MaxHTML {
		p.HTML, p.Cut = p.HTML[:t.o.MaxHTML], "the document is too large"
	}
	return &p, nil
}
