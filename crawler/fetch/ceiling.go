package fetch

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

// receiveBuffer is what the system may hold of a connection under a ceiling:
// the server should feel it, not only we.
const receiveBuffer = 64 << 10

// under makes connections whose reads keep to a ceiling.
func under(ceiling *rate.Limiter, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(receiveBuffer) // it keeps the average without, too
		}
		return &ceilingConn{Conn: c, ceiling: ceiling, closed: make(chan struct{})}, nil
	}
}

// dialFunc is the type of Options.Dial.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// ceilingConn waits after each read as long as the ceiling asks for.
type ceilingConn struct {
	net.Conn
	ceiling *rate.Limiter
	once    sync.Once
	closed  chan struct{}
}

// Read reads no more than may come at once. A wait ends when the connection
// is closed, which is how an exchange is cancelled.
func (c *ceilingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), c.ceiling.Burst())])
	if n <= 0 {
		return n, err
	}
	now := time.Now()
	if wait := c.ceiling.ReserveN(now, n).DelayFrom(now); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.closed:
		}
	}
	return n, err
}

// Close closes the connection and ends a wait.
func (c *ceilingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// SyscallConn is that of the connection below, which an idle one is looked at by.
func (c *ceilingConn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}
