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
	net.Conn                 // what is written to and read from: TLS or plain
	raw      syscall.RawConn // the socket below, nil if it is none
	peek     func(fd uintptr) bool
	heard    bool // what peek found: bytes, the end or an error

	origin  string
	ip      netip.Addr // of the origin; none behind a proxy
	tls     string     // "tls/1.3", as in WARC-Protocol
	cipher  string     // "TLS_AES_128_GCM_SHA256"
	forward *forward   // not nil: requests go to a proxy in absolute form

	reused bool
	idle   time.Time     // since when nobody uses it
	probe  time.Duration // not 0: after the next answer, how long to see that nothing follows it
	took   time.Duration // its first answer, from the request to the first byte
}

// forward is how a plain request is addressed to a proxy (RFC 9112 §3.2.2).
type forward struct {
	auth string // Proxy-Authorization, or ""
}

// newConn wraps a connection whose socket is below.
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

// quiet says whether an idle connection can serve another request: it is
// open, and the server has sent nothing that nobody asked for. What lies
// unread would be taken for the next answer.
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

// quietTLS says whether t holds no decrypted or buffered bytes: a read whose
// time is over gives what is there and waits for nothing.
func quietTLS(t *tls.Conn) bool {
	if t.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	n, err := t.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && t.SetReadDeadline(time.Time{}) == nil
}

// The probation of an origin: after so many of its first reuses, each within
// soon of the answer before, it is seen for a while that nothing follows the
// answer. A response that nobody asked for and that came a moment late stood in
// the place of the right one, which then comes behind it.
const (
	probations = 4
	soon       = 100 * time.Millisecond
	minProbe   = 20 * time.Millisecond
	maxProbe   = 250 * time.Millisecond
)

// surplus says whether the server has sent more than was asked for, behind a
// whole answer on a connection that is open still.
func (k *conn) surplus() bool {
	if k.probe == 0 && k.quiet() {
		return false
	}
	// What is there may be the end, or of TLS alone: a read tells.
	if k.SetReadDeadline(time.Now().Add(max(k.probe, time.Millisecond))) != nil {
		return false
	}
	k.probe = 0
	n, err := k.Read(make([]byte, 1))
	return n > 0 || err == nil
}

// pool keeps idle connections, last used first, by origin.
type pool struct {
	mu     sync.Mutex
	idle   map[string][]*conn
	n      int
	closed bool
	loud   map[string]bool // origins that send what nobody asked for: none is kept
	tried  map[string]int  // reuses on probation, by origin
}

// maxKnown bounds the origins that are remembered.
const maxKnown = 1 << 12

// distrust closes every connection to origin after one exchange from now on.
func (p *pool) distrust(origin string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.loud) < maxKnown {
		p.loud[origin] = true
	}
}

// probation says how long to wait behind the next answer on k; 0 is not at all.
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

// get takes an idle connection to origin, or gives nil.
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

// discard closes a kept connection that is not quiet, and distrusts its origin
// where that has sent something.
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

// put keeps a connection for later, or closes it.
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

// prune closes what has been idle too long. p.mu is held.
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

// close closes what is idle, and whatever is put back from now on.
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
