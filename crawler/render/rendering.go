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

// asked is a page to be opened.
type asked struct {
	url    string
	answer Fetch
	look   *Looking // nil for Render
}

// rendering is the state of one open page.
type rendering struct {
	asked
	o     *Options
	ways  *ways
	high  int64           // height of the window
	ctx   context.Context // the caller's
	tab   context.Context
	calls context.Context // derived from tab, ended with run
	crash func()          // ends calls after a crash of the page
	frame cdp.FrameID     // the page's main frame

	answers sync.WaitGroup
	mu      sync.Mutex
	page    Page
	main    bool // the page itself has been requested
	loaded  bool
	pending int
	wander  bool // links are being clicked: their targets are known already
	left    bool // the last click would have left the document
	over    bool // no more requests are answered
}

// event handles an event of the browser; it must not block.
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

// end waits for the answers in progress and lets no others begin.
func (t *rendering) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.answers.Wait()
}

// paused answers one paused request.
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

// Errors that do not mean that something of the page is missing.
var (
	errMoved = errors.New("navigation is blocked")
	errFile  = errors.New("no file to be read")
	errIcon  = errors.New("not requested by the page") // the browser asked for it by itself
)

// answerTo returns the response to a request; nil for a file that the browser is to read itself.
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

// admit returns an error if a request is not to be answered.
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

// missing records a request that was not answered, and returns the reason for the browser. An aborted
// navigation leaves the page as it is; a blocked one would put the browser's own error page in its place. It
// also ends the loading of the page, whose load event does not come then.
func (t *rendering) missing(ev *fetch.EventRequestPaused, why error) network.ErrorReason {
	t.mu.Lock()
	defer t.mu.Unlock()
	leaves := ev.ResourceType == network.ResourceTypeDocument && ev.FrameID == t.frame && t.main && t.look == nil
	if leaves {
		t.loaded = true
	}
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
	if leaves {
		return network.ErrorReasonAborted
	}
	return network.ErrorReasonBlockedByClient
}

// unfit are the header fields that do not apply to the decoded body.
var unfit = map[string]bool{"Content-Encoding": true, "Content-Length": true, "Transfer-Encoding": true,
	"Connection": true, "Keep-Alive": true, "Trailer": true}

// lines formats header fields for the protocol's BinaryResponseHeaders: "name: value", each followed
// by a NUL.
func lines(r *Response) []byte {
	b := []byte{} // nil would be left out of the command
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			if !unfit[name] && !strings.ContainsAny(v, "\x00\r\n") {
				b = append(b, name+": "+v+"\x00"...)
			}
		}
	}
	return b
}

// beat is the polling interval.
const beat = 50 * time.Millisecond

// idle waits until the page is loaded and has made no request for Options.Quiet. Time spent waiting for
// responses does not count.
func (t *rendering) idle() error { return t.idleFor(t.o.Quiet) }

// idleFor is idle with another duration.
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
