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
	"syscall"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

// TestMain lets this binary be the server of the benchmarks, so that its
// CPU time is not counted as the client's.
func TestMain(m *testing.M) {
	if os.Getenv("CURTSY_BENCH_SERVER") != "" {
		serveBench()
		return
	}
	os.Exit(m.Run())
}

const benchPage = 25 << 10

// serveBench answers every request with the same page, as nginx would.
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
	cmd.Env = append(os.Environ(), "CURTSY_BENCH_SERVER=1")
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

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkDo holds an exchange against net/http's client doing the same:
// the page read into memory over a kept connection. The figure to compare
// is cpu-ns/op; ns/op holds the server's time too.
func BenchmarkDo(b *testing.B) {
	u := benchServer(b)
	b.Run("curtsy", func(b *testing.B) {
		c := New(Options{AllowHost: "127.0.0.1", UserAgent: "curtsy/0"})
		defer c.Close()
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		measure(b, func() {
			x := c.Do(ctx, Request{URL: u})
			if _, n := x.Wire(); x.Err != nil || n != benchPage {
				b.Fatal(x.Err, n)
			}
			x.Release()
		})
	})
	b.Run("nethttp", func(b *testing.B) {
		c := &http.Client{Transport: &http.Transport{DisableCompression: true}}
		defer c.CloseIdleConnections()
		var buf bytes.Buffer
		measure(b, func() {
			req, _ := http.NewRequestWithContext(b.Context(), "GET", u.String(), nil)
			resp, err := c.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			buf.Reset()
			if n, err := buf.ReadFrom(resp.Body); err != nil || n != benchPage {
				b.Fatal(err, n)
			}
			resp.Body.Close()
		})
	})
}

func measure(b *testing.B, f func()) {
	b.ReportAllocs()
	f()
	b.ResetTimer()
	start := cpu()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op")
}
