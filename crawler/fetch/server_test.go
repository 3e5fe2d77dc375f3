package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

// rawServer answers with exact bytes, which net/http's server would not send.
type rawServer struct {
	url   string
	conns atomic.Int64 // accepted so far
	l     net.Listener
}

// serve calls answer with each request's line and fields, on every connection, until it returns false.
func serve(t testing.TB, answer func(c net.Conn, request string) (more bool)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{url: "http://" + l.Addr().String(), l: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			go func() {
				defer c.Close()
				r := bufio.NewReader(c)
				for {
					request, err := readRequest(r)
					if err != nil || !answer(c, request) {
						return
					}
				}
			}()
		}
	}()
	return s
}

func readRequest(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			return b.String(), err
		}
	}
}

// say serves the same bytes for every request and closes.
func say(t testing.TB, bytes string) *rawServer {
	return serve(t, func(c net.Conn, _ string) bool {
		io.WriteString(c, bytes)
		return false
	})
}

// local returns a client that may connect to this machine.
func local(t testing.TB, o Options) *Client {
	o.AllowHost = "127.0.0.1"
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

// do makes one exchange, which is released when the test ends.
func do(t testing.TB, c *Client, url string) *Exchange {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	x := c.Do(ctx, Request{URL: weburl.MustParse(url)})
	t.Cleanup(x.Release)
	return x
}

func kindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// all reads everything from Wire or Payload and checks its length.
func all(t testing.TB, r io.Reader, n int64) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil || int64(len(b)) != n {
		t.Errorf("read %d bytes of %d: %v", len(b), n, err)
	}
	return string(b)
}
