package fetch

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"curtsy/internal/weburl"
	"curtsy/politeness"
)

// The bandwidth ceiling holds over all connections together, as seen by the server: at no time has it
// sent more than the rate allows plus the one burst.
func TestCeilingAtTheServer(t *testing.T) {
	const rate, size, clients = 100_000, 300_000, 3
	synctest.Test(t, func(t *testing.T) {
		band := politeness.NewBandwidth(rate)
		began := time.Now()
		var mu sync.Mutex
		sent := 0
		c := New(Options{
			Ceiling: band, AllowHost: "127.0.0.1",
			Lookup: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			},
			Dial: func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe() // unbuffered: a write returns when it has been read
				go func() {
					defer far.Close()
					_, _ = io.ReadAtLeast(far, make([]byte, 4096), 20)
					piece := []byte(strings.Repeat("x", 1000))
					_, _ = io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nConnection: close\r\n\r\n")
					for range size / len(piece) {
						if _, err := far.Write(piece); err != nil {
							t.Errorf("write: %v", err)
							return
						}
						mu.Lock()
						sent += len(piece)
						most := rate*time.Since(began).Seconds() + float64(clients*(band.Burst()+len(piece)))
						if float64(sent) > most {
							t.Errorf("%d bytes after %v, want %.0f at most", sent, time.Since(began), most)
						}
						mu.Unlock()
					}
				}()
				return near, nil
			},
		})
		defer c.Close()
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				x := c.Do(t.Context(), Request{URL: weburl.MustParse("http://127.0.0.1/")})
				defer x.Release()
				if x.Err != nil || x.Truncated != "" {
					t.Errorf("%v, truncated %q", x.Err, x.Truncated)
				}
			})
		}
		all.Wait()
		least := time.Duration(float64(clients*size-band.Burst()) / rate * float64(time.Second))
		if took := time.Since(began); took < least || took > least+time.Second {
			t.Errorf("took %v, want %v and hardly more", took, least)
		}
	})
}

// Cancelling an exchange ends its wait for the bandwidth ceiling.
func TestACeilingsWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		k := &ceilingConn{Conn: near, ceiling: politeness.NewBandwidth(1), closed: make(chan struct{})}
		go func() { _, _ = far.Write(make([]byte, 4000)) }()
		go func() {
			time.Sleep(time.Second)
			k.Close()
		}()
		began := time.Now()
		p := make([]byte, 1<<10)
		_, _ = k.Read(p) // the burst
		_, _ = k.Read(p)
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %v, want a second", took)
		}
		far.Close()
	})
}
