package fetch

import (
	"crypto/tls"
	"net"
	"net/netip"
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
	idle   time.Time // since when nobody uses it
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
	var one [1]byte
	n, err := t.Read(one[:])
	var late net.Error
	if n != 0 || !asTimeout(err, &late) {
		return false
	}
	return t.SetReadDeadline(time.Time{}) == nil
}

// asTimeout says whether err is a deadline that passed.
func asTimeout(err error, to *net.Error) bool {
	e, ok := err.(net.Error)
	if ok {
		*to = e
	}
	return ok && e.Timeout()
}

// pool keeps idle connections, last used first, by origin.
type pool struct {
	mu     sync.Mutex
	idle   map[string][]*conn
	n      int
	closed bool
}

// get takes an idle connection to origin, or gives nil.
func (p *pool) get(origin string, now time.Time) *conn {
	for {
		k := p.pop(origin)
		if k == nil {
			return nil
		}
		if now.Sub(k.idle) < idleFor && k.SetDeadline(time.Time{}) == nil && k.quiet() {
			k.reused = true
			return k
		}
		k.Close()
	}
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
	if p.closed || p.n >= maxIdle {
		k.Close()
		return
	}
	if p.idle == nil {
		p.idle = map[string][]*conn{}
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
