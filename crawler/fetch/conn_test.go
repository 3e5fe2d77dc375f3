package fetch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"curtsy/internal/weburl"
)

const page = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// Which responses leave the connection open for another request, and which must not.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		conns        int64 // for two requests
	}{
		{"a page", page, 1},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 1},
		{"304", "HTTP/1.1 304 Not Modified\r\n\r\n", 1},
		{"HTTP/1.0 that says so", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", 1},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 2},
		{"connection: close", "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx", 2},
		{"bytes behind the body", page + "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", 2},
		{"a body behind a 204", "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", 2},
		{"a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(c net.Conn, _ string) bool {
				io.WriteString(c, tt.answer)
				return true
			})
			c := local(t, Options{})
			for range 2 {
				x := do(t, c, s.url+"/")
				if r, n := x.Wire(); x.Err != nil || strings.Contains(all(t, r, n), "bad") {
					t.Fatal(x.Err)
				}
			}
			if got := s.conns.Load(); got != tt.conns {
				t.Errorf("%d connections, want %d", got, tt.conns)
			}
		})
	}
}

// Octets that a server sends on an idle connection are not taken as the next response.
func TestUnaskedAnswersAreNotTaken(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("sockets are not peeked at there")
	}
	done := make(chan bool)
	s := serve(t, func(c net.Conn, _ string) bool {
		io.WriteString(c, page)
		<-done
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad")
		return true
	})
	var last net.Conn
	c := local(t, Options{Dial: func(ctx context.Context, network, addr string) (k net.Conn, err error) {
		last, err = new(net.Dialer).DialContext(ctx, network, addr)
		return last, err
	}})
	for i := range 3 {
		x := do(t, c, s.url+"/")
		r, n := x.Wire()
		if got := all(t, r, n); x.Err != nil || got != "hello" {
			t.Fatalf("%d: %v, %q", i, x.Err, got)
		}
		done <- true
		if i == 0 { // no connection is kept after this
			untilReadable(t, last)
		}
	}
}

// The same for octets that arrive after the connection was chosen, while the request waits at the gate
// (a fleet's gate may take seconds). By then the connection is past its probation.
func TestUnaskedAnswersWhileTheGateWaits(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("sockets are not peeked at there")
	}
	const held = probations + 2 // the request that waits
	for _, tt := range []struct {
		name, late string
		open       bool
	}{
		{"an answer", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", true},
		{"an answer and the end", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", false},
		{"the end", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			late := make(chan bool)
			var answered atomic.Int64
			s := serve(t, func(c net.Conn, _ string) bool {
				io.WriteString(c, page)
				if answered.Add(1) != held-1 {
					return true
				}
				<-late
				io.WriteString(c, tt.late)
				return tt.open
			})
			var last net.Conn
			asked := 0
			c := local(t, Options{
				Dial: func(ctx context.Context, network, addr string) (k net.Conn, err error) {
					last, err = new(net.Dialer).DialContext(ctx, network, addr)
					return last, err
				},
				Gate: func(context.Context, string, netip.Addr) error {
					if asked++; asked == held {
						close(late)
						untilReadable(t, last)
					}
					return nil
				},
			})
			for i := range held {
				x := do(t, c, s.url+"/")
				r, n := x.Wire()
				if got := all(t, r, n); x.Err != nil || got != "hello" {
					t.Errorf("%d: %v, %q", i, x.Err, got)
				}
			}
			if n := s.conns.Load(); n != 2 || asked != held+1 {
				t.Errorf("%d connections, the gate was asked %d times; want 2 and %d", n, asked, held+1)
			}
		})
	}
}

// untilReadable waits until k has data to read or is closed by the peer.
func untilReadable(t *testing.T, k net.Conn) {
	t.Helper()
	raw, err := k.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = raw.Read(readable)
	}
	if err != nil {
		t.Error(err)
	}
}

// A server may close a kept connection while the next request is on its way. That request is sent
// again once.
func TestDeadConnectionsAreReplaced(t *testing.T) {
	var n atomic.Int64
	s := serve(t, func(c net.Conn, _ string) bool {
		if n.Add(1)%2 == 0 {
			return false // reads the request, and closes
		}
		io.WriteString(c, page)
		return true
	})
	c := local(t, Options{})
	for range 3 {
		if x := do(t, c, s.url+"/"); x.Err != nil || !strings.HasPrefix(string(x.RequestBytes), "GET / HTTP/1.1\r\n") {
			t.Error(x.Err)
		}
	}
	if s.conns.Load() != 3 {
		t.Errorf("%d connections, want 3", s.conns.Load())
	}
}

func TestADeadNewConnectionIsAnError(t *testing.T) {
	s := serve(t, func(net.Conn, string) bool { return false })
	x := do(t, local(t, Options{}), s.url+"/")
	if kindOf(x.Err) != KindDisconnect || s.conns.Load() != 1 {
		t.Errorf("%v after %d connections", x.Err, s.conns.Load())
	}
}

func TestOutOfTime(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	drip := func(c net.Conn, s string, every time.Duration) {
		for i := range len(s) {
			if _, err := io.WriteString(c, s[i:i+1]); err != nil {
				return
			}
			time.Sleep(every)
		}
	}
	short := 100 * time.Millisecond
	tests := []struct {
		name      string
		o         Options
		answer    func(c net.Conn)
		kind      Kind
		truncated string
	}{
		{"no answer", Options{Timeouts: Timeouts{HeadTimeout: short}}, func(net.Conn) { time.Sleep(3 * short) },
			KindTimeout, ""},
		{"a head that drips", Options{Timeouts: Timeouts{HeadTimeout: short, IdleTimeout: short}},
			func(c net.Conn) { drip(c, ok+strings.Repeat("A: b\r\n", 100), short/10) }, KindTimeout, ""},
		{"heads without end", Options{Timeouts: Timeouts{HeadTimeout: short}},
			func(c net.Conn) { drip(c, strings.Repeat("HTTP/1.1 100 x\r\n\r\n", 7), short/50) }, KindTimeout, ""},
		{"a body that stops", Options{Timeouts: Timeouts{IdleTimeout: short}},
			func(c net.Conn) { io.WriteString(c, ok+"Content-Length: 9\r\n\r\nhello"); time.Sleep(3 * short) }, "",
			"time"},
		{"a body that drips", Options{Timeouts: Timeouts{TotalTimeout: 2 * short, IdleTimeout: short}},
			func(c net.Conn) { io.WriteString(c, ok+"\r\n"); drip(c, strings.Repeat("x", 1000), short/10) }, "",
			"time"},
		{"chunks that drip", Options{Timeouts: Timeouts{TotalTimeout: 2 * short}}, func(c net.Conn) {
			io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\n")
			drip(c, strings.Repeat("1\r\nx\r\n", 1000), short/10)
		}, "", "time"},
		{"slow, but in time", Options{Timeouts: Timeouts{HeadTimeout: 20 * short, IdleTimeout: short}},
			func(c net.Conn) { drip(c, page, short/20) }, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var servers sync.WaitGroup
				defer servers.Wait()
				tt.o.Dial = func(context.Context, string, string) (net.Conn, error) {
					client, server := net.Pipe()
					servers.Go(func() {
						defer server.Close()
						if _, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
							tt.answer(server)
						}
					})
					return client, nil
				}
				x := do(t, local(t, tt.o), "http://127.0.0.1/")
				if kindOf(x.Err) != tt.kind || x.Truncated != tt.truncated {
					t.Errorf("got %v, %q, want %q, %q", x.Err, x.Truncated, tt.kind, tt.truncated)
				}
			})
		})
	}
}

func TestNobodyAccepts(t *testing.T) {
	c := local(t, Options{Timeouts: Timeouts{ConnectTimeout: 50 * time.Millisecond},
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
	if x := do(t, c, "http://127.0.0.1:1/"); kindOf(x.Err) != KindTimeout {
		t.Error(x.Err)
	}
}

// A cancelled context ends an exchange wherever it waits.
func TestCancel(t *testing.T) {
	tests := []struct {
		name   string
		answer string
	}{
		{"for the head", ""},
		{"in the head", "HTTP/1.1 200 OK\r\nA: "},
		{"in the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked, over := make(chan bool, 1), make(chan bool)
			defer close(over)
			s := serve(t, func(c net.Conn, _ string) bool {
				io.WriteString(c, tt.answer)
				asked <- true
				<-over
				return false
			})
			ctx, cancel := context.WithCancel(context.Background())
			go func() { <-asked; time.Sleep(10 * time.Millisecond); cancel() }()
			x := local(t, Options{}).Do(ctx, Request{URL: weburl.MustParse(s.url)})
			defer x.Release()
			if kindOf(x.Err) != KindCanceled {
				t.Error(x.Err)
			}
		})
	}
	t.Run("before it began", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		x := local(t, Options{}).Do(ctx, Request{URL: weburl.MustParse("http://127.0.0.1:1/")})
		defer x.Release()
		if kindOf(x.Err) != KindCanceled {
			t.Error(x.Err)
		}
	})
}

func TestRefused(t *testing.T) {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	l.Close()
	x := do(t, local(t, Options{}), "http://"+l.Addr().String()+"/a?b")
	if kindOf(x.Err) != KindRefused || x.Err.Error() != "fetch http://"+l.Addr().String()+
		"/a?b: refused: connection refused" {
		t.Error(x.Err)
	}
}

// Many concurrent exchanges leave no goroutine behind, and no more connections than may be kept.
func TestManyAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.Path+strings.Repeat("x", len(r.URL.Path)*1000))
	}))
	c := New(Options{AllowHost: "127.0.0.1", SpillAt: 20_000, Spill: spillTo(t.TempDir())})
	done := make(chan error)
	for i := range 100 {
		go func() {
			var err error
			for j := range 20 {
				path := "/" + strings.Repeat("a", (i+j)%40)
				x := c.Do(context.Background(), Request{URL: weburl.MustParse(s.URL + path)})
				b, _, _ := x.Decoded(1 << 20)
				if x.Err != nil || !strings.HasPrefix(string(b), path+"x") || len(b) != 1001*len(path) {
					err = x.Err
				}
				x.Release()
			}
			done <- err
		}()
	}
	for range 100 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if c.pool.n > maxIdle {
		t.Errorf("%d idle connections", c.pool.n)
	}
	c.Close()
	s.Close()
	for i := 0; runtime.NumGoroutine() > before && i < 3000; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// Whatever a server sends, no connection and no file stays open.
func TestNoFilesAreLeft(t *testing.T) {
	files := func() int {
		l, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here")
		}
		return len(l)
	}
	serve(t, func(net.Conn, string) bool { return false }) // opens the poller's files before they are counted
	before := files()
	answers := []string{page, "", "HTTP/1.1 200 OK\r\n", "SSH-2.0", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 1<<17),
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz"}
	c := New(Options{AllowHost: "127.0.0.1", SpillAt: 1 << 16, Timeouts: Timeouts{HeadTimeout: 20 * time.Millisecond,
		IdleTimeout: 5 * time.Millisecond}, Spill: spillTo(t.TempDir())})
	var listeners []net.Listener
	for i, a := range answers {
		s := serve(t, func(c net.Conn, _ string) bool { io.WriteString(c, a); return i%2 == 0 })
		listeners = append(listeners, s.l)
		for range 20 {
			x := c.Do(context.Background(), Request{URL: weburl.MustParse(s.url), MaxBody: 1 << 18})
			x.Release()
		}
	}
	c.Close()
	for _, l := range listeners {
		l.Close()
	}
	for i := 0; files() > before && i < 3000; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if n := files(); n > before {
		t.Errorf("%d open files, %d before", n, before)
	}
}

// A second, unrequested response that arrives a moment late is not taken for the next page, whether
// the server sends it before it reads the next request or concurrently.
func TestUnaskedAndLate(t *testing.T) {
	answer := func(c net.Conn, body string) {
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	target := func(request string) string { return strings.Fields(request)[1] }
	for _, late := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond} {
		for _, beside := range []bool{false, true} {
			t.Run(fmt.Sprint(late, beside), func(t *testing.T) {
				t.Parallel()
				s := serve(t, func(c net.Conn, request string) bool {
					answer(c, target(request))
					if beside {
						time.AfterFunc(late, func() { answer(c, "evil") })
						return true
					}
					time.Sleep(late)
					answer(c, "evil")
					return true
				})
				c := local(t, Options{})
				for i := range 9 {
					path := fmt.Sprint("/", i)
					x := do(t, c, s.url+path)
					if r, n := x.Wire(); x.Err != nil || all(t, r, n) != path {
						t.Errorf("%s: %v, %q", path, x.Err, all(t, r, n))
					}
				}
			})
		}
	}
}
