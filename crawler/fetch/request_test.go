package fetch

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync/atomic"
	"testing"

	"curtsy/internal/weburl"
)

// echo answers with the request it received, and sets a cookie.
func echo(t *testing.T) *rawServer {
	return serve(t, func(c net.Conn, request string) bool {
		c.Write([]byte("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nSet-Cookie: x=\x01y\r\n\r\n" + request))
		return false
	})
}

func TestRequestsAreSentAsKept(t *testing.T) {
	s := echo(t)
	host := strings.TrimPrefix(s.url, "http://")
	const accept = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
	const coding = "Accept-Encoding: gzip, br\r\n"
	tests := []struct {
		name string
		o    Options
		h    http.Header
		url  string
		want string // after the request line and Host
	}{
		{"nothing set", Options{}, nil, "/", accept + coding},
		{"a user agent", Options{UserAgent: "curtsy/1 (+x@y)"}, nil, "/", "User-Agent: curtsy/1 (+x@y)\r\n" +
			accept + coding},
		{"fields for all", Options{Header: http.Header{"b": {"2", "3"}, "A": {" 1 "}}}, nil, "/",
			accept + coding + "A: 1\r\nB: 2\r\nB: 3\r\n"},
		{"fields for one", Options{}, http.Header{"If-None-Match": {`"x"`}}, "/",
			accept + coding + "If-None-Match: \"x\"\r\n"},
		{"a field in place of ours", Options{UserAgent: "x"}, http.Header{"user-agent": {"y"}, "Accept": nil}, "/",
			coding + "User-Agent: y\r\n"},
		{"framing is not theirs to set", Options{Header: http.Header{"Host": {"x"}, "Content-Length": {"5"},
			"transfer-encoding": {"chunked"}, "Connection": {"close"}}}, http.Header{"TE": {"gzip"}}, "/",
			accept + coding},
		{"nobody splits a request", Options{UserAgent: "x\r\nEvil: 1", Header: http.Header{"A": {"b\r\nEvil: 1"},
			"C\r\nEvil": {"d"}}}, http.Header{"E": {"f\nEvil: 1", "ok\x00"}}, "/", accept + coding},
		{"no credentials for everybody", Options{Header: http.Header{"authorization": {"Basic x"}, "Cookie": {"a=b"}}},
			nil, "/", accept + coding},
		{"credentials for one", Options{}, http.Header{"Authorization": {"Basic x"}}, "/",
			accept + coding + "Authorization: Basic x\r\n"},
		{"a long, odd URL", Options{}, nil, "/a%20b/ü?q=ы'\"<>" + strings.Repeat("x", 4000), accept + coding},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := weburl.MustParse(s.url + tt.url)
			x := local(t, tt.o).Do(context.Background(), Request{URL: u, Header: tt.h})
			defer x.Release()
			if x.Err != nil {
				t.Fatal(x.Err)
			}
			want := "GET " + u.Target() + " HTTP/1.1\r\nHost: " + host + "\r\n" + tt.want + "\r\n"
			r, n := x.Payload()
			if got := all(t, r, n); got != want || string(x.RequestBytes) != want {
				t.Errorf("sent %q, kept %q, want %q", got, x.RequestBytes, want)
			}
		})
	}
}

func TestCookies(t *testing.T) {
	s := echo(t)
	jar, _ := cookiejar.New(nil)
	c := local(t, Options{Cookies: jar})
	for i, want := range []bool{false, true} {
		if x := do(t, c, s.url+"/"); x.Err != nil || strings.Contains(string(x.RequestBytes),
			"\r\nCookie: a=b\r\n") != want {
			t.Errorf("request %d: %v, %q", i, x.Err, x.RequestBytes)
		}
	}
	if x := do(t, local(t, Options{}), s.url+"/"); strings.Contains(string(x.RequestBytes), "Cookie") {
		t.Error("cookies are not off")
	}
}

func TestNoURL(t *testing.T) {
	x := New(Options{}).Do(context.Background(), Request{})
	defer x.Release()
	if kindOf(x.Err) != KindProtocol {
		t.Error(x.Err)
	}
	r, n := x.Wire()
	if all(t, r, n) != "" {
		t.Error("bytes came from nowhere")
	}
	x.PayloadDigest()
	if b, cut, err := x.Decoded(10); len(b) > 0 || cut || err != nil {
		t.Error(b, cut, err)
	}
}

// A request that is cancelled before it begins is not sent, on a new connection or a kept one.
func TestCancelledRequestsAreNotSent(t *testing.T) {
	var asked atomic.Int64
	s := serve(t, func(c net.Conn, _ string) bool {
		asked.Add(1)
		io.WriteString(c, page)
		return true
	})
	for _, kept := range []bool{false, true} {
		c := local(t, Options{})
		if kept {
			do(t, c, s.url+"/")
		}
		before, conns := asked.Load(), s.conns.Load()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 200 {
			x := c.Do(ctx, Request{URL: weburl.MustParse(s.url + "/")})
			if kindOf(x.Err) != KindCanceled {
				t.Fatalf("got %v, want a cancelled request", x.Err)
			}
			x.Release()
		}
		do(t, c, s.url+"/") // after any request that was sent
		if got := asked.Load() - before; got != 1 {
			t.Errorf("kept %v: %d requests were sent, want the last one only", kept, got)
		}
		if got := s.conns.Load() - conns; !kept && got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
	}
}

// Secret recognises credential fields by their names, and only those.
func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "Proxy-Authorization": true, "cookie": true, "X-Api-Key": true, "apikey": true,
		"API_KEY": true, "X-Auth-Token": true,
		"X-Amz-Security-Token": true, "Client-Secret": true, "X-Hub-Signature-256": true,
		"Ocp-Apim-Subscription-Key": true, "X-Session": true,
		"Password": true, "X-Credentials": true, "Private-Token": true, "X-Goog-Api-Key": true,
		"CF-Access-Client-Secret": true, "X-JWT": true, "X-CSRF-Token": true,
		"Accept-Language": false, "X-Author": false, "Authority": false, "DNT": false, "Keyboard": false, "From": false,
		"X-Keyword": false, "Referer": false, "X-Debug": false,
	} {
		if got := Secret(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
