package render

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
)

// maxListed bounds the lists of a Page.
const maxListed = 200

// asked is a page that is to be opened.
type asked struct {
	url    string
	answer Fetch
	look   *Looking // nil where it is rendered
}

// rendering is one page on its way.
type rendering struct {
	asked
	o     *Options
	ways  *ways
	high  int64           // of the window
	ctx   context.Context // of the caller
	tab   context.Context
	calls context.Context // of the tab, ended with run
	crash func()          // ends calls where the page has crashed
	frame cdp.FrameID     // the page's own

	answers sync.WaitGroup
	mu      sync.Mutex
	page    Page
	main    bool // the page itself was asked for
	loaded  bool
	pending int
	wander  bool // links are taken: where they lead elsewhere is known already
	left    bool // one would have led elsewhere
	over    bool // nothing is answered any more
}

// event takes in what the browser tells; it must not wait.
func (t *rendering) event(ev any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	switch ev := ev.(type) {
	case *fetch.EventRequestPaused:
		t.pending++
		t.page.Asked++
		t.answers.Go(func() { t.paused(ev) })
	case *inspector.EventTargetCrashed:
		t.crash()
	case *page.EventFrameNavigated:
		if ev.Frame.ID == t.frame {
			t.loaded = false
		}
	case *page.EventLoadEventFired:
		t.loaded = true
	case *page.EventJavascriptDialogOpening:
		t.answers.Go(func() {
			_ = call(t.calls, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		})
	}
}

// end waits for the answers on their way; none follows.
func (t *rendering) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.answers.Wait()
}

// paused answers one request.
func (t *rendering) paused(ev *fetch.EventRequestPaused) {
	defer func() {
		t.mu.Lock()
		t.pending--
		t.mu.Unlock()
	}()
	r, err := t.answerTo(ev)
	if err == nil && r == nil {
		_ = call(t.calls, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: ev.RequestID})
		return
	}
	if err != nil {
		_ = call(t.calls, fetch.FailRequest, fetch.FailRequestParams{RequestID: ev.RequestID,
			ErrorReason: t.missing(ev, err)})
		return
	}
	_ = call(t.calls, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: ev.RequestID,
		ResponseCode:          int64(r.Status),
		BinaryResponseHeaders: lines(r), Body: r.Body})
}

// Errors that are no lack of the page.
var (
	errMoved = errors.New("navigation is blocked")
	errFile  = errors.New("no file to be read")
	errIcon  = errors.New("not requested by the page") // the browser did, for a tab that nobody sees
)

// answerTo is the answer to a request; nil for a file that is read from the disk.
func (t *rendering) answerTo(ev *fetch.EventRequestPaused) (*Response, error) {
	r := Request{URL: ev.Request.URL, Type: string(ev.ResourceType)}
	if err := t.admit(ev, &r); err != nil {
		return nil, err
	}
	if strings.HasPrefix(r.URL, "file:") {
		if t.look == nil || t.look.File == nil || !t.look.File(r.URL) {
			return nil, errFile
		}
		return nil, nil
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	stop := context.AfterFunc(t.calls, cancel)
	defer stop()
	return t.answer(ctx, r)
}

// admit says whether a request is one to be answered at all.
func (t *rendering) admit(ev *fetch.EventRequestPaused, r *Request) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.page.Asked > t.o.MaxAsked {
		return fmt.Errorf("over the limit of %d requests per page", t.o.MaxAsked)
	}
	if ev.Request.Method != "GET" {
		return fmt.Errorf("%s requests are not sent", ev.Request.Method)
	}
	if accept, _ := ev.Request.Headers["Accept"].(string); strings.HasPrefix(accept, "text/event-stream") {
		return errors.New("event streams are not fetched")
	}
	switch ev.ResourceType {
	case network.ResourceTypeOther:
		if strings.HasSuffix(ev.Request.URL, "/favicon.ico") {
			return errIcon
		}
	case network.ResourceTypePing, network.ResourceTypeCSPViolationReport, network.ResourceTypePreflight:
		return fmt.Errorf("%s requests are not sent", ev.ResourceType)
	case network.ResourceTypeDocument:
		if ev.FrameID != t.frame {
			return nil
		}
		if t.main && t.look == nil {
			return errMoved
		}
		t.main, r.Main = true, true
	}
	return nil
}

// missing notes a request that was not answered, and says what the page is
// told: a navigation that is aborted leaves it as it was.
func (t *rendering) missing(ev *fetch.EventRequestPaused, why error) network.ErrorReason {
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(why, errMoved) {
		t.left = true
		if len(t.page.Moved) < maxListed && !t.wander {
			t.page.Moved = append(t.page.Moved, ev.Request.URL)
		}
		return network.ErrorReasonAborted
	}
	if len(t.page.Missing) < maxListed && !errors.Is(why, errIcon) {
		t.page.Missing = append(t.page.Missing, Missing{ev.Request.URL, why.Error()})
	}
	return network.ErrorReasonBlockedByClient
}

// unfit are the fields of a head that are not true of the body as it is given.
var unfit = map[string]bool{"Content-Encoding": true, "Content-Length": true, "Transfer-Encoding": true,
	"Connection": true, "Keep-Alive": true, "Trailer": true}

// lines are the fields of a head as the protocol takes them where they may
// hold any octets: "name: value", with a NUL between two.
func lines(r *Response) (b []byte) {
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			if !unfit[name] && !strings.ContainsAny(v, "\x00\r\n") {
				b = append(b, name+": "+v+"\x00"...)
			}
		}
	}
	if b == nil {
		return []byte("Content-Length: 0\x00")[:0:0]
	}
	return b
}

// beat is how often a page is looked at.
const beat = 50 * time.Millisecond

// idle waits until the page is loaded and asks for nothing more. Time in
// which it waits for answers does not count.
func (t *rendering) idle() error { return t.idleFor(t.o.Quiet) }

// idleFor waits until the page has asked for nothing for so long.
func (t *rendering) idleFor(quiet time.Duration) error {
	rest := fmt.Sprintf("new Promise(r => setTimeout(() => requestIdleCallback(r, {timeout: 5000}), %d))",
		quiet.Milliseconds())
	for left := t.o.Timeout; left > 0; {
		busy, loaded, asked := t.state()
		if busy || !loaded {
			select {
			case <-t.calls.Done():
				return context.Cause(t.calls)
			case <-time.After(beat):
			}
			if !busy {
				left -= beat
			}
			continue
		}
		began := time.Now()
		_, err := t.number(rest, left)
		left -= time.Since(began)
		if err := t.calls.Err(); err != nil {
			return err
		}
		if busy, _, now := t.state(); err == nil && !busy && now == asked {
			return nil
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.page.Cut = fmt.Sprintf("still busy after %s", t.o.Timeout)
	return nil
}

func (t *rendering) state() (busy, loaded bool, asked int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pending > 0, t.loaded, t.page.Asked
}
