package crawler_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"curtsy/crawler"
	"curtsy/internal/testkit/crawltest"
)

// inBubble runs f in a synctest bubble with a site that every host name and port resolves to. The
// bubble has its own clock: waiting takes no real time, and a busy machine makes no pause longer.
func inBubble(t *testing.T, pages map[string]page, f func(t *testing.T, s *site)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		s := &site{pages: pages, origin: "http://site.example"}
		s.Server = &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
		s.Start()
		s.URL = s.origin
		t.Cleanup(s.Close)
		s.dial = l.dial
		f(t, s)
	})
}

// options returns the options for a crawl of a site in a bubble.
func (s *site) options() crawler.Options {
	o := options(s.URL + "/")
	o.Archive.Alone = true // waiting at a socket would stop the bubble's clock
	o.Fetch.Dial = s.dial
	o.Fetch.Lookup = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}
	return o
}

// crawlLong crawls to the end in one run, which may last for months of the bubble's clock, and checks
// the archive.
func crawlLong(t *testing.T, dir string, o crawler.Options) crawler.Result {
	t.Helper()
	r := crawltest.Run(t, t.Context(), dir, o, 10_000*time.Hour)
	check(t, dir)
	return r
}

// pipes is an in-memory network with one server.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(93, 184, 216, 34), Port: 80} }
