//go:build unix

package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// visited records the answers of a server on an archive.
type visited struct {
	mu   sync.Mutex
	said strings.Builder
}

func (v *visited) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.said.Write(b)
}

func (v *visited) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.said.String()
}

var (
	servingAt = regexp.MustCompile(`(?m)^serving .* at (http://127\.0\.0\.1:\d+/)$`)
	frameAt   = regexp.MustCompile(`src="(http://[^"]+)"`)
)

// visit runs c, which serves an archive, requests its start page, captures inside and outside
// their frame and a search, and ends it. Any answer is accepted, but there must be one.
func (g *stranger) visit(ctx context.Context, c *exec.Cmd) (said string, err error) {
	var out visited
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended: // it ended before it served
			return out.String(), err
		case <-time.After(5 * time.Millisecond):
		}
		m := servingAt.FindStringSubmatch(out.String())
		if m == nil {
			continue
		}
		answers := g.requests(ctx, m[1])
		_ = c.Process.Signal(syscall.SIGTERM)
		err := <-ended
		return out.String() + answers, err
	}
}

// requests sends the requests and describes the answers.
func (g *stranger) requests(ctx context.Context, at string) string {
	home := func(ctx context.Context, _, addr string) (net.Conn, error) { // TOKEN.localhost resolves to this machine
		_, port, _ := net.SplitHostPort(addr)
		return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	}
	client := &http.Client{Transport: &http.Transport{DialContext: home, DisableKeepAlives: true}}
	var said strings.Builder
	get := func(target string) (body string) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		if err != nil {
			return ""
		}
		resp, err := client.Do(r)
		if err == nil {
			var b []byte
			b, err = io.ReadAll(io.LimitReader(resp.Body, 1<<22))
			body = string(b)
			resp.Body.Close()
		}
		if err != nil {
			fmt.Fprintf(&said, "no answer: %q\n", err)
		} else {
			fmt.Fprintf(&said, "answer: %d, precious: %t\n", resp.StatusCode, strings.Contains(body, "precious"))
		}
		return body
	}
	get(at)
	for _, page := range []string{"", "page.html", "twin", "p.png", "withheld", "gone"} {
		m := frameAt.FindStringSubmatch(get(at + "2999/" + g.seed + page))
		if m != nil {
			get(strings.ReplaceAll(m[1], "&amp;", "&"))
		}
	}
	get(at + "versions/" + g.seed)
	get(at + "timemap/link/" + g.seed + "page.html")
	get(at + "search?" + url.Values{"q": {"precious"}}.Encode())
	return said.String()
}

// The requests reach the content of an archive, as otherwise they would test nothing.
func TestTheStrangersServerIsVisited(t *testing.T) {
	long(t)
	t.Parallel()
	g := newStranger(t)
	_, code, said := g.run(t.TempDir(), "serve", g.base, "--listen", "127.0.0.1:0")
	got, want := strings.Count(said, "answer: 200, "), strings.Count(said, "answer: ")
	if code != exitDone || got < 10 || got+2 < want ||
		strings.Count(said, "precious: true") < 3 { // except those withheld or absent
		t.Errorf("exit code %d, %d answers of %d are 200:\n%s", code, got, want, said)
	}
}
