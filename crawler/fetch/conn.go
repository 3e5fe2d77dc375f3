package fetch

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// conn is a connection to an origin, used by one exchange at a time.
type conn struct {
	net.Conn                 // what is read from and written to: TLS or plain TCP
	raw      syscall.RawConn // the underlying socket; nil if there is none
	peek     func(fd uintptr) bool
	heard    bool // result of peek: data, end of stream or an error is waiting

	origin  string
	ip      netip.Addr // of the origin; invalid behind a proxy
	tls     string     // "tls/1.3", as in WARC-Protocol
	cipher  string     // "TLS_AES_128_GCM_SHA256"
	forward *forward   // not nil: requests go to a proxy in absolute form

	reused bool
	idle   time.Time     // when it was last put into the pool
	probe  time.Duration // not 0: how long to watch for unrequested data after the next response
	took   time.Duration // time from its first request to the head of the response
}

// forward marks a connection to a proxy that takes requests in absolute form (RFC 9112 §3.2.2).
type forward struct {
	auth string // Proxy-Authorization, or ""
}

// newConn wraps c; below is the connection that has the socket.
func newConn(c, below net.Conn, origin string) *conn {
	k := &conn{Conn: c, origin: origin}
	if s, ok := below.(syscall.Conn); ok {
		k.raw, _ = s.SyscallConn()
	}
	k.peek = func(fd uintptr) bool {
		k.heard = readable(fd)
		return true
	}
	return k
}

// quiet reports whether an idle connection can serve another request: it is open, and the server
// has sent no unrequested data, which would be taken for the next response.
func (k *conn) quiet() bool {
	if t, ok := k.Conn.(*tls.Conn); ok && !quietTLS(t) {
		return false
	}
	if k.raw == nil {
		return true
	}
	k.heard = false
	err := k.raw.Read(k.peek)
	return err == nil && !k.heard
}

// quietTLS reports whether t holds no decrypted or buffered bytes. A read whose deadline has
// passed returns buffered data without blocking.
func quietTLS(t *tls.Conn) bool {
	if t.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	n, err := t.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && t.SetReadDeadline(time.Time{}) == nil
}

// An origin is on probation for its first reuses of connections: if a reuse comes within soon of
// the previous response, the client watches for a while after the response for further data. An
// unrequested response that arrived slightly late would have been taken for the right one, which
// then follows it.
const (
	probations = 4
	soon       = 100 * time.Millisecond
	minProbe   = 20 * time.Millisecond
	maxProbe   = 250 * time.Millisecond
)

// surplus reports whether the server has sent more than was asked for, after a complete response
// on a connection that is still open.
func (k *conn) surplus() bool {
	if k.probe == 0 && k.quiet() {
		return false
	}
	// The socket is readable, but perhaps only because of the end of the stream or a TLS record
	// without data: a read decides.
	if k.SetReadDeadline(time.Now().Add(max(k.probe, time.Millisecond))) != nil {
		return false
	}
	k.probe = 0
	n, err := k.Read(make([]byte, 1))
	return n > 0 || err == nil
}

// pool keeps idle connections by origin; the last used is taken first.
type pool struct {
	mu     sync.Mutex
	idle   map[string][]*conn
	n      int
	closed bool
	loud   map[string]bool // origins that sent unrequested data: their connections are not kept
	tried  map[string]int  // probationary reuses so far, by origin
}

// maxKnown bounds the number of origins in loud and in tried.
const maxKnown = 1 << 12

// distrust makes the client close every connection to origin after one exchange.
func (p *pool) distrust(origin string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.loud) < maxKnown {
		p.loud[origin] = true
	}
}

// probation returns how long to watch after the next response on k; 0 is not at all.
func (p *pool) probation(k *conn, now time.Time) time.Duration {
	if k.raw == nil || now.Sub(k.idle) >= soon {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tried[k.origin] >= probations || len(p.tried) >= maxKnown {
		return 0
	}
	p.tried[k.origin]++
	return min(max(minProbe, 2*k.took), maxProbe)
}

// get returns a usable idle connection to origin, or nil.
func (p *pool) get(origin string, now time.Time) *conn {
	for {
		k := p.pop(origin)
		if k == nil {
			return nil
		}
		if now.Sub(k.idle) < idleFor && k.SetDeadline(time.Time{}) == nil && k.quiet() {
			k.reused, k.probe = true, p.probation(k, now)
			return k
		}
		p.discard(k)
	}
}

// discard closes a pooled connection, and distrusts its origin if it sent unrequested data.
func (p *pool) discard(k *conn) {
	if k.surplus() {
		p.distrust(k.origin)
	}
	k.Close()
}

func (p *pool) pop(origin string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.idle[origin]
	if len(l) == 0 {
		return nil
	}
	k := l[len(l)-1]
	l[len(l)-1] = nil
	p.idle[origin] = l[:len(l)-1]
	p.n--
	return k
}

// put pools a connection, or closes it.
func (p *pool) put(k *conn, now time.Time) {
	k.idle = now
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n >= maxIdle {
		p.prune(now)
	}
	if p.closed || p.n >= maxIdle || p.loud[k.origin] {
		k.Close()
		return
	}
	p.idle[k.origin] = append(p.idle[k.origin], k)
	p.n++
}

// prune closes connections that have been idle for idleFor. p.mu is held.
func (p *pool) prune(now time.Time) {
	for origin, l := range p.idle {
		old := 0
		for old < len(l) && now.Sub(l[old].idle) >= idleFor {
			l[old].Close()
			old++
		}
		p.n -= old
		if p.idle[origin] = l[old:]; old == len(l) {
			delete(p.idle, origin)
		}
	}
}

// close closes the idle connections; connections put back later are closed too.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.idle {
		for _, k := range l {
			k.Close()
		}
	}
	p.idle, p.n, p.closed = nil, 0, true
}
