//go:build unix

package fetch

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

// TestMain runs this binary as the benchmark server if asked to, so that the server's CPU time is not
// counted as the client's.
func TestMain(m *testing.M) {
	if os.Getenv("CURTSY_TEST_BENCH_SERVER") != "" {
		serveBench()
		return
	}
	os.Exit(m.Run())
}

const benchPage = 25 << 10

// serveBench answers every request with the same page and a head like nginx's.
func serveBench() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() { io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	answer := []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\nContent-Type: text/html\r\n"+
		"Content-Length: %d\r\nLast-Modified: Sun, 01 Mar 2026 12:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"5f-6400\"\r\nAccept-Ranges: bytes\r\n\r\n%s",
		benchPage, strings.Repeat("<p>Hello.\n", benchPage/10+1)[:benchPage]))
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			r := bufio.NewReader(c)
			for {
				line, err := r.ReadSlice('\n')
				if err != nil {
					return
				}
				if len(bytes.TrimSpace(line)) == 0 {
					c.Write(answer)
				}
			}
		}()
	}
}

func benchServer(b *testing.B) weburl.URL {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CURTSY_TEST_BENCH_SERVER=1")
	out, _ := cmd.StdoutPipe()
	in, _ := cmd.StdinPipe()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return weburl.MustParse("http://" + strings.TrimSpace(addr) + "/page.html")
}

// cpu returns the CPU time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkDo compares an exchange with the same one by net/http's client: the page is read into
// memory over a kept connection, by one and by eight workers. Compare cpu-ns/op; ns/op includes the
// server's time.
func BenchmarkDo(b *testing.B) {
	u := benchServer(b)
	for _, workers := range []int{1, 8} {
		b.Run(fmt.Sprintf("curtsy/%d", workers), func(b *testing.B) {
			c := New(Options{AllowHost: "127.0.0.1", UserAgent: "curtsy/0"})
			defer c.Close()
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			measure(b, workers, func() { ours1(b, ctx, c, u) })
		})
		b.Run(fmt.Sprintf("nethttp/%d", workers), func(b *testing.B) {
			c := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: workers}}
			defer c.CloseIdleConnections()
			bufs := sync.Pool{New: func() any { return new(bytes.Buffer) }}
			measure(b, workers, func() { theirs1(b, c, u, &bufs) })
		})
	}
}

func ours1(b *testing.B, ctx context.Context, c *Client, u weburl.URL) {
	x := c.Do(ctx, Request{URL: u})
	if _, n := x.Wire(); x.Err != nil || n != benchPage {
		b.Error(x.Err, n)
	}
	x.Release()
}

func theirs1(b *testing.B, c *http.Client, u weburl.URL, bufs *sync.Pool) {
	req, _ := http.NewRequestWithContext(b.Context(), "GET", u.String(), nil)
	resp, err := c.Do(req)
	if err != nil {
		b.Error(err)
		return
	}
	buf := bufs.Get().(*bytes.Buffer)
	buf.Reset()
	if n, err := buf.ReadFrom(resp.Body); err != nil || n != benchPage {
		b.Error(err, n)
	}
	resp.Body.Close()
	bufs.Put(buf)
}

// measure runs f b.N times on the given number of workers and reports the CPU time.
func measure(b *testing.B, workers int, f func()) {
	b.ReportAllocs()
	f()
	b.ResetTimer()
	start := cpu()
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				f()
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op")
}
