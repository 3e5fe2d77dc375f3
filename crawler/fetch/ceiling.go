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

// receiveBuffer is the socket's receive buffer under a ceiling. It is small, so that TCP flow
// control slows the server down.
const receiveBuffer = 64 << 10

// under wraps dial so that the connections' reads keep to the ceiling.
func under(ceiling *rate.Limiter, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(receiveBuffer) // on failure the average rate is still kept
		}
		return &ceilingConn{Conn: c, ceiling: ceiling, closed: make(chan struct{})}, nil
	}
}

// dialFunc is the type of Options.Dial.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// ceilingConn is a connection that waits after each read as long as the rate limit requires.
type ceilingConn struct {
	net.Conn
	ceiling *rate.Limiter
	once    sync.Once
	closed  chan struct{}
}

// Read reads at most the limiter's burst and then waits. Closing the connection, which is how
// an exchange is cancelled, ends the wait.
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

// SyscallConn returns the underlying socket, which conn.quiet peeks at.
func (c *ceilingConn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}
