// Package render returns what a page shows after its scripts have run. It drives an installed Chromium
// through the Chrome DevTools Protocol.
//
// The browser has no network access. Every request of a page is paused (domain Fetch) and answered by
// the caller, who applies the rules of the crawl. What is not paused (WebSockets, WebRTC, workers) is
// stopped by a proxy that refuses everything, by names that do not resolve, and by interfaces that are
// removed. Downloads, dialogs, windows and service workers are off. Each page has a browser context of
// its own, in memory only.
package render

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Request is a request of a page.
type Request struct {
	URL  string
	Type string // resource type as in the protocol: "Script", "Fetch", …
	Main bool   // for the page itself
}

// Response is the response to a Request. The body has no content or transfer coding.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Fetch answers a request of a page; an error says why it is not answered. It is called concurrently and
// may wait for the site's pace: that does not count towards the page's Timeout.
type Fetch func(ctx context.Context, r Request) (*Response, error)

// Page is a page after its scripts have run.
type Page struct {
	HTML    []byte    // the document, shadow trees included, in UTF-8
	URL     string    // its address, which scripts may have changed
	Moved   []string  // navigation by scripts, which was blocked
	Routes  []string  // links to fragments that scripts display, "#/about"
	Missing []Missing // the first requests that were not answered
	Asked   int       // number of requests, that for the page included
	Cut     string    // why the page was read before it was idle, or truncated; "" if neither
}

// Missing is a request that was not answered.
type Missing struct{ URL, Why string }

// ErrNoBrowser reports that there is no Chromium.
var ErrNoBrowser = errors.New("no Chromium was found")

// Options are the settings of a Browser. Only Browser is required.
type Options struct {
	// Browser is the program, or the ws:// address of a running browser.
	Browser string
	// Dir is where the browser's profile is while it runs; "" is a temporary directory. No
	// content of pages is written there.
	Dir string
	// UserAgent is appended to the browser's own User-Agent, for scripts to see.
	UserAgent string
	// Quiet is how long a page must make no request, by its own clock, to count as idle; 0 is
	// 500 ms.
	Quiet time.Duration
	// Timeout bounds the time of a page without waiting for responses; 0 is 30 s. Limit bounds
	// it with waiting; 0 is 15 minutes.
	Timeout, Limit time.Duration
	// MaxAsked bounds the requests of one page; 0 is 1000.
	MaxAsked int
	// MaxHTML bounds the document, in octets; 0 is 16 MiB.
	MaxHTML int
	// Memory bounds the writable memory of each process of a browser started here, in octets
	// (Linux only); 0 is 1 GiB.
	Memory int64
}
