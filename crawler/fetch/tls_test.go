package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// secureServer is an httptest TLS server that does not log failed handshakes.
func secureServer(t *testing.T, h http.HandlerFunc, conf *tls.Config) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = discard
	s.TLS = conf
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, roots
}

func TestTLS(t *testing.T) {
	s, roots := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto+" "+r.TLS.NegotiatedProtocol+" "+r.TLS.ServerName)
	}, nil)
	c := local(t, Options{RootCAs: roots})
	for range 2 {
		x := do(t, c, s.URL+"/")
		if x.Err != nil {
			t.Fatal(x.Err)
		}
		r, n := x.Payload()
		if got := all(t, r, n); got != "HTTP/1.1 http/1.1 " || x.TLSVersion != "tls/1.3" ||
			!strings.HasPrefix(x.CipherSuite, "TLS_") {
			t.Errorf("%q, %q, %q", got, x.TLSVersion, x.CipherSuite)
		}
	}
}

// A handshake that is not answered in time is a TLS error, not an unreachable server.
func TestTLSHandshakeThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := local(t, Options{Timeouts: Timeouts{ConnectTimeout: 20 * time.Millisecond}})
	if x := do(t, c, "https://"+l.Addr().String()+"/"); KindOf(x.Err) != KindTLS ||
		Cause(x.Err).Error() != "the TLS handshake was not answered in time" {
		t.Errorf("got %v", x.Err)
	}
}

func TestTLSConnectionsAreKept(t *testing.T) {
	t.Parallel()
	s, roots := secureServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RemoteAddr) }, nil)
	c := local(t, Options{RootCAs: roots})
	conns := map[string]bool{}
	for range 5 {
		x := do(t, c, s.URL+"/")
		if x.Err != nil {
			t.Fatal(x.Err)
		}
		r, n := x.Payload()
		conns[all(t, r, n)] = true
	}
	if len(conns) != 1 {
		t.Errorf("%d connections", len(conns))
	}
}

// Octets that a server sends after its response over TLS are not taken as the next response, even if
// they were decrypted along with it.
func TestUnaskedAnswersOverTLS(t *testing.T) {
	s, roots := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, _ := w.(http.Hijacker).Hijack()
		go func() {
			defer c.Close()
			io.WriteString(c, page)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad")
			time.Sleep(100 * time.Millisecond)
		}()
	}, nil)
	c := local(t, Options{RootCAs: roots})
	for range 3 {
		x := do(t, c, s.URL+"/")
		if r, n := x.Wire(); x.Err != nil || all(t, r, n) != "hello" {
			t.Fatal(x.Err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestUntrusted(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	s, roots := secureServer(t, func(http.ResponseWriter, *http.Request) {}, nil)
	old, oldRoots := secureServer(t, func(http.ResponseWriter, *http.Request) {},
		&tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	tests := []struct {
		name, url, host string
		roots           *x509.CertPool
	}{
		{"an unknown authority", s.URL, "127.0.0.1", nil},
		{"another name's certificate", "https://localhost:" + port, "localhost", roots},
		{"a plain server", strings.Replace(plain.URL, "http:", "https:", 1), "127.0.0.1", nil},
		{"TLS 1.1", old.URL, "127.0.0.1", oldRoots},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := New(Options{AllowHost: tt.host, RootCAs: tt.roots})
			defer c.Close()
			if x := do(t, c, tt.url); kindOf(x.Err) != KindTLS {
				t.Error(x.Err)
			}
		})
	}
}

// A login's client certificate is presented to its origin only.
func TestCertificateOfALogin(t *testing.T) {
	shown := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%d %s", len(r.TLS.PeerCertificates), r.Header.Get("Authorization"))
	}
	ask := func() *tls.Config { return &tls.Config{ClientAuth: tls.RequestClientCert} }
	site, roots := secureServer(t, shown, ask())
	other, _ := secureServer(t, shown, ask())
	c := local(t, Options{RootCAs: roots, Login: &Login{Origin: site.URL, Certificates: site.TLS.Certificates,
		Authorization: "Bearer x"}})
	for url, want := range map[string]string{site.URL: "1 Bearer x", other.URL: "0 "} {
		x := do(t, c, url+"/")
		if x.Err != nil {
			t.Fatal(x.Err)
		}
		r, n := x.Payload()
		if got := string(all(t, r, n)); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
		if strings.Contains(string(x.RequestBytes), "Bearer") {
			t.Errorf("kept: %q", x.RequestBytes)
		}
	}
}

func TestWithoutCookies(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nset-cookie: a=b; Path=/\r\n folded\r\nX: Set-Cookie: c\r\nSet-Cookie:d=e\r\n\r\n"
	const want = "HTTP/1.1 200 OK\r\nset-cookie: (withheld)\r\nX: Set-Cookie: c\r\nSet-Cookie: (withheld)\r\n\r\n"
	if got := string(withoutCookies([]byte(head))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
