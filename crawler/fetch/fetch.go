// Package fetch makes one HTTP/1.1 exchange and records it verbatim. It follows no redirects,
// knows no rules and stores nothing. Every wait and every read is bounded.
//
// It has its own connections instead of net/http's Transport, because the bytes must be kept as
// they were sent, and because a crawl of fast hosts spends most of its time in the transport:
// here no connection has a goroutine, and a response is read straight into the buffer that keeps
// it.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"curtsy/internal/http1"
	"curtsy/internal/weburl"
)

// Client makes exchanges over persistent connections. It is safe for concurrent use.
type Client struct {
	o      Options
	fields []field
	tls    *tls.Config
	guard  guard
	pool   pool

	scratch scratch
	large   chan struct{} // holds one token per body above SpillAt in memory
}

// maxLarge is how many bodies above Options.SpillAt may be in memory at a time: the crawler keeps
// bodies of up to 16 MiB in memory, and its maxHeld is 32 MiB.
const maxLarge = 2

// New makes a client. Close it when no exchange is running.
func New(o Options) *Client {
	o = o.withDefaults()
	return &Client{
		o:      o,
		fields: ours(o),
		guard:  guard{host: o.AllowHost, also: map[string]bool{}},
		pool:   pool{idle: map[string][]*conn{}, loud: map[string]bool{}, tried: map[string]int{}},
		large:  make(chan struct{}, maxLarge),
		tls: &tls.Config{
			RootCAs:            o.RootCAs,
			NextProtos:         []string{"http/1.1"},
			MinVersion:         tls.VersionTLS12,
			ClientSessionCache: tls.NewLRUClientSessionCache(maxIdle),
		},
	}
}

// Allow permits hosts to be at the kinds of private address that the seed's host is at; none if
// the seed's address is public.
func (c *Client) Allow(hosts ...string) { c.guard.allow(hosts...) }

// Reach connects to u's origin, with TLS if u is https, and sends nothing. The error, an *Error,
// says why the connection failed.
func (c *Client) Reach(ctx context.Context, u weburl.URL) error {
	k, err := c.connect(ctx, u, time.Now().Add(c.o.ConnectTimeout))
	if err != nil {
		kind, cause := classify(err)
		return &Error{Kind: kind, Op: "connect to " + u.Origin(), Err: cause}
	}
	return k.Close()
}

// Close closes the idle connections; those in use are closed when their exchanges end.
func (c *Client) Close() { c.pool.close() }

// errStale reports a pooled connection that had died before it was reused, or that held
// unrequested data.
var errStale = errors.New("the connection could not be reused")

// errUnasked reports that data followed the response on a reused connection: the response may
// belong to another request.
var errUnasked = errors.New("unexpected data after the response")

// Do makes one exchange: connection, request, head, body. It always returns an Exchange, which
// the caller must Release; a failure is its Err. If ctx is already done, nothing is sent.
func (c *Client) Do(ctx context.Context, r Request) *Exchange {
	x := &Exchange{URL: r.URL, Times: Times{Start: c.o.Now()}}
	x.rec = recording{buf: c.scratch.buffer(), scratch: &c.scratch}
	err := c.run(ctx, x, r)
	x.undecode()
	x.Total = c.o.Now().Sub(x.Start)
	x.RequestBytes = x.rec.buf[:x.rec.request]
	if err != nil {
		x.fail(err)
		return x
	}
	x.Head = x.rec.buf[x.rec.head:x.rec.body]
	if x.LoggedIn = len(x.rec.secret) > 0; x.LoggedIn {
		c.o.Login.withhold(x, time.Now())
	} else {
		x.Cleared = c.o.Login.missing(x.URL)
		c.keepCookies(x)
	}
	return x
}

// fail discards what was received and sets Err.
func (x *Exchange) fail(err error) {
	kind, cause := classify(err)
	if kind == KindDisconnect && len(x.rec.buf) <= x.rec.request {
		cause = ErrNoAnswer
	}
	x.Err = &Error{Kind: kind, Op: "fetch " + x.URL.String(), Err: cause}
	x.reset()
}

// reset discards what was received.
func (x *Exchange) reset() {
	x.undecode()
	x.rec.forget()
	x.frame, x.payload, x.limit = frame{}, 0, nil
	x.Status, x.Header, x.Proto, x.Truncated, x.Cut, x.Unwanted = 0, nil, "", "", nil, false
}

// run makes the exchange. It repeats it once on a new connection if a pooled one turns out dead
// before its first byte, or brings more than was asked for (RFC 9112 §9.3.1: GET is idempotent).
func (c *Client) run(ctx context.Context, x *Exchange, r Request) error {
	if r.URL.IsZero() {
		return bad(KindProtocol, "missing URL")
	}
	if ctx.Err() != nil {
		return &fault{KindCanceled, context.Cause(ctx)}
	}
	now := time.Now()
	end := now.Add(c.o.TotalTimeout)
	k := c.pool.get(r.URL.Origin(), now)
	if k != nil {
		err := c.exchange(ctx, k, x, r, end)
		if !errors.Is(err, errStale) && !errors.Is(err, errUnasked) {
			return err
		}
		x.reset()
		c.o.Logger.LogAttrs(ctx, slog.LevelDebug, "retried on a new connection", slog.String("origin", k.origin),
			slog.Any("why", err))
	}
	k, err := c.connect(ctx, r.URL, end)
	if err != nil {
		return err
	}
	return c.exchange(ctx, k, x, r, end)
}

// exchange uses k for one exchange, then pools or closes it. When ctx is cancelled, closing k
// ends whatever is waiting on it.
func (c *Client) exchange(ctx context.Context, k *conn, x *Exchange, r Request, end time.Time) error {
	if ctx.Err() != nil { // AfterFunc below would race with the request
		k.Close()
		return &fault{KindCanceled, context.Cause(ctx)}
	}
	if err := c.admit(ctx, k, r); err != nil {
		k.Close()
		return err
	}
	if k.reused && !k.quiet() { // data may have come while it waited for the gate
		c.pool.discard(k)
		return errStale
	}
	stop := context.AfterFunc(ctx, func() { k.Close() })
	keep, err := c.roundTrip(ctx, k, x, r, end)
	if !stop() {
		keep = false
		if err != nil || x.Truncated != "" {
			err = &fault{KindCanceled, context.Cause(ctx)}
		}
	}
	if keep && err == nil {
		c.pool.put(k, time.Now())
	} else {
		k.Close()
	}
	return err
}

// admit asks the gate, just before the request is written.
func (c *Client) admit(ctx context.Context, k *conn, r Request) error {
	if c.o.Gate == nil {
		return nil
	}
	err := c.o.Gate(ctx, r.URL.Host(), k.ip)
	switch {
	case ctx.Err() != nil:
		return &fault{KindCanceled, context.Cause(ctx)}
	case err != nil:
		return &fault{KindLocal, err}
	}
	return nil
}

// roundTrip sends the request and reads the response. keep says whether the connection may be
// reused.
func (c *Client) roundTrip(ctx context.Context, k *conn, x *Exchange, r Request, end time.Time) (keep bool, err error) {
	x.IP, x.TLSVersion, x.CipherSuite = k.ip, k.tls, k.cipher
	if err := c.render(&x.rec, r, k); err != nil {
		return false, err
	}
	sent := time.Now()
	k.SetDeadline(earlier(sent.Add(c.o.HeadTimeout), end))
	if err := k.send(&x.rec); err != nil {
		return false, k.stale(err)
	}
	r.at(StepWait)
	if err := c.readHead(k, x); err != nil {
		return false, err
	}
	if k.took == 0 {
		k.took = time.Since(sent)
	}
	r.at(StepRead)
	if x.Status == http.StatusProxyAuthRequired && k.forward != nil {
		return false, bad(KindProxy, "the proxy requires a user name and password")
	}
	x.frame, err = frameOf(x.Proto, x.Status, x.Header)
	if err != nil {
		return false, err
	}
	if r.HeadOnly { // a response to HEAD has no body, whatever its head says
		x.frame = frame{Frame: http1.Frame{Keep: x.frame.Keep}}
	}
	if r.Wanted != nil && !r.Wanted(x.Status, x.Header) {
		x.Unwanted, x.Truncated = true, "length"
		return false, nil
	}
	b := body{c: c, ctx: ctx, k: k, x: x, hold: r.Hold, end: end, most: c.o.MaxBody}
	if r.MaxBody != 0 {
		b.most = r.MaxBody
	}
	b.begin()
	clean, err := b.read()
	if clean && k.reused && k.surplus() {
		clean, b.surplus = false, true
	}
	if b.surplus {
		c.pool.distrust(k.origin)
	}
	if b.surplus && k.reused && err == nil {
		return false, errUnasked
	}
	return clean && x.frame.Keep, err
}

// send writes the request with the fields that are not recorded: Proxy-Authorization or those of
// the login.
func (k *conn) send(rec *recording) error {
	request := rec.buf
	switch {
	case k.forward != nil && k.forward.auth != "":
		end := len(request) - len("\r\n")
		request = append(slices.Clone(request[:end]), "Proxy-Authorization: "+k.forward.auth+"\r\n\r\n"...)
	case len(rec.secret) > 0:
		request = append(slices.Clone(request[:rec.open]), rec.secret...)
		request = append(request, "\r\n"...)
	}
	_, err := k.Write(request)
	return err
}

// stale returns errStale if a reused connection was found closed, else err.
func (k *conn) stale(err error) error {
	if k.reused && dropped(err) {
		return errStale
	}
	return err
}

// readHead reads to the end of the final response's head and drops interim responses (RFC 9110
// §15.2).
func (c *Client) readHead(k *conn, x *Exchange) error {
	start, from := x.rec.request, x.rec.request
	for interim := 0; interim <= maxInterim; interim++ {
		end, err := c.readToBlank(k, x, start, from)
		if err != nil {
			return err
		}
		x.Proto, x.Status, x.Header, err = parseHead(x.rec.buf[start:end])
		if err != nil {
			return err
		}
		if x.Status == http.StatusSwitchingProtocols {
			return bad(KindProtocol, "unexpected status 101 (Switching Protocols)")
		}
		if x.Status >= 200 {
			x.rec.head, x.rec.body = start, end
			return nil
		}
		start, from = end, end
	}
	return bad(KindProtocol, "too many interim responses")
}

// readToBlank reads until the head that begins at start is complete.
func (c *Client) readToBlank(k *conn, x *Exchange, start, from int) (int, error) {
	rec := &x.rec
	most := int64(rec.request) + c.o.MaxHead
	for {
		end, next := http1.HeadEnd(rec.buf, start, from)
		if end >= 0 && int64(end) <= most {
			return end, nil
		}
		if int64(len(rec.buf)) >= most {
			return 0, bad(KindHead, "the response head is too long")
		}
		if err := notHTTP(rec.buf[start:]); err != nil {
			return 0, err
		}
		from = next
		if len(rec.buf) == cap(rec.buf) {
			rec.grow(1)
		}
		n, err := k.Read(rec.buf[len(rec.buf):cap(rec.buf)])
		silent := len(rec.buf) == rec.request
		rec.buf = rec.buf[:len(rec.buf)+n]
		switch {
		case n == 0 && err != nil && silent:
			return 0, k.stale(err)
		case n == 0 && err != nil:
			return 0, err
		}
	}
}

// notHTTP reports early that b cannot become a status line.
func notHTTP(b []byte) error {
	const want = "HTTP/1."
	if n := min(len(b), len(want)); string(b[:n]) != want[:n] {
		_, _, err := http1.ParseStatus(string(b[:min(len(b), 80)]))
		return misread(err)
	}
	return nil
}

// earlier returns the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
