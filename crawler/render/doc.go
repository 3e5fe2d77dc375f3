// Package render answers: what does a page show once its scripts have run? It
// drives a Chromium that the user has, by the Chrome DevTools Protocol.
//
// The browser asks the network for nothing. Every request of a page is paused
// (domain Fetch) and answered by the caller, who decides by the rules of the
// crawl; what is not paused (WebSockets, WebRTC, workers) meets a proxy that
// refuses all, names that do not resolve, and interfaces that are not there.
// Downloads, dialogs, windows and service workers are off. A page has a
// browser context of its own, in memory only, which ends with it.
package render

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Request is what a page asks for.
type Request struct {
	URL  string
	Type string // of the resource, as the protocol names it: "Script", "Fetch", …
	Main bool   // the page itself
}

// Response is what it is answered with: the body as the page is to see it,
// without any coding.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Fetch answers a request of a page, or says in an error why it is not
// answered. It is called by many goroutines at a time, and may take as long as
// the site's pace asks for: a page's time does not pass meanwhile.
type Fetch func(ctx context.Context, r Request) (*Response, error)

// Page is a page as it is once its scripts have run.
type Page struct {
	HTML    []byte    // the document, shadow trees included, in UTF-8
	URL     string    // its address then, which scripts may have changed
	Moved   []string  // where scripts wanted to go; they were not let
	Routes  []string  // links to what scripts show for a fragment, "#/about"
	Missing []Missing // requests that were not answered, the first of them
	Asked   int       // requests of the page, itself included
	Cut     string    // why the rendering ended before the page was at rest
}

// Missing is a request that was not answered.
type Missing struct{ URL, Why string }

// ErrNoBrowser says that there is no Chromium.
var ErrNoBrowser = errors.New("no Chromium was found")

// Options are the settings of a Browser. Only Browser is needed.
type Options struct {
	// Browser is the program, or the ws:// address of one that runs.
	Browser string
	// Dir is where the browser's profile lies while it runs; "" is a temporary
	// directory. Nothing of a page is written there.
	Dir string
	// UserAgent is added to what scripts see as the browser's.
	UserAgent string
	// Quiet is how long a page must have asked for nothing to be at rest, by
	// the page's own clock; 0 is 500 ms.
	Quiet time.Duration
	// Timeout is the time that a page may take, waiting for answers left out; 0
	// is 30 s. Limit is that with waiting; 0 is 15 minutes.
	Timeout, Limit time.Duration
	// MaxAsked bounds the requests of one page; 0 is 1000.
	MaxAsked int
	// MaxHTML bounds the document; 0 is 16 MiB.
	MaxHTML int
	// Memory bounds what each process of a browser that is started here may have
	// written to, in octets (Linux); 0 is 1 GiB.
	Memory int64
}
