package fetch

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
)

var discard = log.New(io.Discard, "", 0)

// httpProxy forwards everything to one origin and records its requests.
type httpProxy struct {
	to    string
	mu    sync.Mutex
	asked []string
}

func (p *httpProxy) answer(t *testing.T) *rawServer {
	return serve(t, func(c net.Conn, request string) bool {
		p.mu.Lock()
		p.asked = append(p.asked, request)
		p.mu.Unlock()
		if !strings.Contains(request, "Proxy-Authorization: Basic "+
			base64.StdEncoding.EncodeToString([]byte("user:secret"))) {
			io.WriteString(c, "HTTP/1.1 407 Who?\r\nContent-Length: 0\r\n\r\n")
			return true
		}
		o, err := net.Dial("tcp", p.to)
		if err != nil {
			return false
		}
		defer o.Close()
		if strings.HasPrefix(request, "CONNECT ") {
			io.WriteString(c, "HTTP/1.1 200 Connected\r\n\r\n")
			go io.Copy(o, c)
		} else {
			io.WriteString(o, request)
		}
		io.Copy(c, o)
		return false
	})
}

// first returns the first request received.
func (p *httpProxy) first() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[0]
}

func proxied(t *testing.T, raw string, o Options) *Client {
	t.Helper()
	p, err := ProxyURL(raw)
	if err != nil {
		t.Fatal(err)
	}
	o.Proxy = p
	o.Lookup = func(context.Context, string) ([]netip.Addr, error) { panic("a name was resolved here") }
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

func TestPlainThroughHTTPProxy(t *testing.T) {
	t.Parallel()
	origin := say(t, page)
	p := &httpProxy{to: origin.l.Addr().String()}
	addr := p.answer(t).l.Addr().String()
	x := do(t, proxied(t, "http://user:secret@"+addr, Options{}), "http://site.example:81/a?b")
	if x.Err != nil || x.Status != 200 || x.IP.IsValid() {
		t.Fatal(x.Err, x.Status, x.IP)
	}
	if !strings.HasPrefix(p.first(), "GET http://site.example:81/a?b HTTP/1.1\r\nHost: site.example:81\r\n") {
		t.Errorf("asked %q", p.first())
	}
	want := strings.Replace(p.first(), "Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n", "", 1)
	if string(x.RequestBytes) != want {
		t.Errorf("kept %q, want %q", x.RequestBytes, want)
	}
	x = do(t, proxied(t, "http://user:wrong@"+addr, Options{}), "http://site.example/")
	if kindOf(x.Err) != KindProxy || strings.Contains(x.Err.Error(), "wrong") {
		t.Error(x.Err)
	}
}

func TestTLSThroughHTTPProxy(t *testing.T) {
	s, roots := secureServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }, nil)
	p := &httpProxy{to: s.Listener.Addr().String()}
	addr := p.answer(t).l.Addr().String()
	x := do(t, proxied(t, "http://user:secret@"+addr, Options{RootCAs: roots}), "https://example.com/a")
	if x.Err != nil || x.TLSVersion != "tls/1.3" || string(x.RequestBytes[:len("GET /a ")]) != "GET /a " {
		t.Error(x.Err)
	}
	if !strings.HasPrefix(p.first(), "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n") {
		t.Errorf("asked %q", p.first())
	}
	x = do(t, proxied(t, "http://"+addr, Options{RootCAs: roots}), "https://example.com/a")
	if kindOf(x.Err) != KindProxy || !strings.Contains(x.Err.Error(), "407") {
		t.Error(x.Err)
	}
}

func TestBadProxies(t *testing.T) {
	tests := []struct{ name, answer string }{
		{"no HTTP", "SSH-2.0-x\r\n"},
		{"nothing", ""},
		{"an endless head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", 1<<20)},
		{"more than an answer", "HTTP/1.1 200 OK\r\n\r\nhello"},
		{"502", "HTTP/1.1 502 No\r\n\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := do(t, proxied(t, "http://u:pass-word@"+say(t, tt.answer).l.Addr().String(), Options{}),
				"https://site.example/")
			if kindOf(x.Err) != KindProxy || strings.Contains(x.Err.Error(), "pass-word") {
				t.Error(x.Err)
			}
		})
	}
}

// socks runs a SOCKS5 proxy for one connection to one origin and returns its address.
func socks(t *testing.T, to string, asked chan<- string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		hello := make([]byte, 2)
		io.ReadFull(r, hello)
		io.CopyN(io.Discard, r, int64(hello[1]))
		c.Write([]byte{5, 0})
		head := make([]byte, 5) // 5 connect 0 domain length
		io.ReadFull(r, head)
		name := make([]byte, int(head[4])+2)
		io.ReadFull(r, name)
		asked <- string(name[:len(name)-2])
		c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		o, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer o.Close()
		go io.Copy(o, r)
		io.Copy(c, o)
	}()
	return l.Addr().String()
}

func TestSOCKS(t *testing.T) {
	asked := make(chan string, 1)
	addr := socks(t, say(t, page).l.Addr().String(), asked)
	x := do(t, proxied(t, "socks5://"+addr, Options{}), "http://site.example/a")
	if x.Err != nil || string(x.RequestBytes[:len("GET /a ")]) != "GET /a " || <-asked != "site.example" {
		t.Error(x.Err)
	}
}

// A proxy does not bypass the address guard, as far as the host name alone tells.
func TestGuardBeforeProxies(t *testing.T) {
	for _, u := range []string{"http://127.0.0.1/", "http://localhost/", "http://a.localhost./", "http://[::1]/",
		"http://169.254.169.254/", "https://10.0.0.1/"} {
		if x := do(t, proxied(t, "http://127.0.0.1:1", Options{AllowHost: "192.168.0.1"}),
			u); kindOf(x.Err) != KindBlocked {
			t.Errorf("%s: %v", u, x.Err)
		}
	}
	if x := do(t, proxied(t, "http://127.0.0.1:1", Options{AllowHost: "192.168.0.1"}),
		"http://192.168.0.1/"); kindOf(x.Err) != KindProxy {
		t.Error(x.Err) // nobody listens at port 1
	}
}

func TestProxyFromEnvironment(t *testing.T) {
	tests := []struct {
		env       map[string]string
		url, want string
	}{
		{nil, "http://a.example/", ""},
		{map[string]string{"HTTP_PROXY": "http://p:1"}, "http://a.example/", "http://p:1"},
		{map[string]string{"HTTP_PROXY": "http://p:1"}, "https://a.example/", ""},
		{map[string]string{"https_proxy": "p:1"}, "https://a.example/", "http://p:1"},
		{map[string]string{"ALL_PROXY": "socks5://p:1"}, "https://a.example/", "socks5://p:1"},
		{map[string]string{"ALL_PROXY": "socks5://p:1", "HTTP_PROXY": "http://q:1"}, "http://a.example/", "http://q:1"},
		{map[string]string{"ALL_PROXY": "socks5://p:1", "NO_PROXY": ".example"}, "https://a.example/", ""},
		{map[string]string{"ALL_PROXY": "socks5://p:1"}, "http://127.0.0.1:8080/", ""},
		{map[string]string{"ALL_PROXY": "socks5://p:1"}, "http://[::1]/", ""},
		{map[string]string{"ALL_PROXY": "socks5://p:1"}, "http://localhost/", ""},
	}
	for _, tt := range tests {
		for _, k := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
			"all_proxy", "no_proxy", "REQUEST_METHOD"} {
			t.Setenv(k, tt.env[k])
		}
		u, _ := url.Parse(tt.url)
		got := ""
		if p := ProxyFromEnvironment(); p != nil {
			if v, err := p(u); err != nil {
				t.Error(err)
			} else if v != nil {
				got = v.String()
			}
		}
		if got != tt.want {
			t.Errorf("%v, %s: got %q, want %q", tt.env, tt.url, got, tt.want)
		}
	}
}

func TestBadProxyURLs(t *testing.T) {
	for _, raw := range []string{"", "proxy", "ftp://p", "http://", "http://u:secret@[", "://x",
		"http://u:secret@p:port"} {
		if _, err := ProxyURL(raw); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestHTTPSProxy(t *testing.T) {
	s, roots := secureServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RequestURI) }, nil)
	x := do(t, proxied(t, s.URL, Options{RootCAs: roots}), "http://site.example/a")
	if r, n := x.Payload(); x.Err != nil || all(t, r, n) != "http://site.example/a" {
		t.Error(x.Err)
	}
}
