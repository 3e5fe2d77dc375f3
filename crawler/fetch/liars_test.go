package fetch

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// authority signs certificates, valid and invalid ones.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	a.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert = a.sign(a.cert, a.cert, a.key)
	return a
}

func (a *authority) sign(c, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.t.Helper()
	b, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(b)
	if err != nil {
		a.t.Fatal(err)
	}
	return signed
}

// server starts a TLS server whose certificate for 127.0.0.1 was altered by change.
func (a *authority) server(change func(*x509.Certificate), self bool) string {
	a.t.Helper()
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	change(c)
	signed := a
	if self {
		signed = &authority{t: a.t, key: a.key}
		c.Issuer = c.Subject
	}
	parent := a.cert
	if self {
		parent = c
	}
	der := signed.sign(c, parent, a.key)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der.Raw}, PrivateKey: a.key}}})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { l.Close() })
	go answerAll(l)
	return "https://" + l.Addr().String() + "/"
}

func answerAll(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			if _, err := readRequest(bufio.NewReader(c)); err == nil {
				io.WriteString(c, page)
			}
		}()
	}
}

// A certificate is accepted only for its names, within its validity, and signed by a known authority.
func TestCertificates(t *testing.T) {
	a := newAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	for _, tt := range []struct {
		name, want string
		self       bool
		change     func(*x509.Certificate)
	}{
		{"a good one", "", false, func(*x509.Certificate) {}},
		{"expired", "expired", false, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }},
		{"not yet valid", "not valid before", false, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }},
		{"of another address", "127.0.0.1", false, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(10, 0, 0, 1)} }},
		{"of a name, and no address", "127.0.0.1", false, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"site.example", "127.0.0.1", "*"} }},
		{"with a common name only", "127.0.0.1", false, func(c *x509.Certificate) { c.IPAddresses = nil }},
		{"for clients only", "certificate", false, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }},
		{"signed by itself", "an unknown authority", true, func(c *x509.Certificate) { c.Subject.CommonName = "myself" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := do(t, local(t, Options{RootCAs: roots}), a.server(tt.change, tt.self))
			if tt.want == "" {
				if x.Err != nil {
					t.Error(x.Err)
				}
				return
			}
			if kindOf(x.Err) != KindTLS || !strings.Contains(x.Err.Error(), tt.want) || len(x.RequestBytes) > 0 && x.Status != 0 {
				t.Errorf("%v, want %q", x.Err, tt.want)
			}
		})
	}
}

// record makes a TLS record; kind 21 is an alert, 22 a handshake message.
func record(kind byte, body []byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{kind, 3, 3}, uint16(len(body)))
	return append(b, body...)
}

// forever writes a piece again and again until the peer closes.
func forever(c net.Conn, piece []byte, pause time.Duration) {
	for {
		if _, err := c.Write(piece); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// Whatever a server sends instead of a handshake, there is an error in bounded time.
func TestBrokenHandshakes(t *testing.T) {
	hello := append([]byte{2, 0xff, 0xff, 0xff}, make([]byte, 8000)...) // a ServerHello of 16 MB
	for name, speak := range map[string]func(c net.Conn){
		"it closes":                    func(net.Conn) {},
		"it says nothing":              func(net.Conn) { time.Sleep(time.Second) },
		"another protocol":             func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") },
		"plain HTTP":                   func(c net.Conn) { io.WriteString(c, page) },
		"an alert":                     func(c net.Conn) { c.Write(record(21, []byte{2, 40})) },
		"warnings without end":         func(c net.Conn) { forever(c, record(21, []byte{1, 90}), 0) },
		"empty records without end":    func(c net.Conn) { forever(c, record(22, nil), 0) },
		"a hello without end":          func(c net.Conn) { c.Write(record(22, hello)); forever(c, record(22, make([]byte, 16000)), 0) },
		"one octet at a time":          func(c net.Conn) { c.Write([]byte{22, 3, 3, 0x3f, 0xff}); forever(c, []byte{2}, 5*time.Millisecond) },
		"a record of a length too big": func(c net.Conn) { c.Write([]byte{22, 3, 3, 0xff, 0xff}); forever(c, make([]byte, 60000), 0) },
		"zeros without end":            func(c net.Conn) { forever(c, make([]byte, 1<<16), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				_, _ = c.Read(make([]byte, 1<<14)) // the client's hello
				speak(c)
			}()
			x := do(t, local(t, Options{Timeouts: Timeouts{ConnectTimeout: 300 * time.Millisecond}}), "https://"+l.Addr().String()+"/")
			if k := kindOf(x.Err); k != KindTLS && k != KindTimeout {
				t.Errorf("%v", x.Err)
			}
			if x.Total > 20*time.Second {
				t.Errorf("it took %v", x.Total)
			}
		})
	}
}

// A SOCKS proxy that misbehaves gives a proxy error in bounded time. What it sends after its reply is
// taken for the site's, as all data through the tunnel is.
func TestLyingSOCKS(t *testing.T) {
	granted := "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	for _, tt := range []struct {
		name, greeting, reply string
		drip                  bool
		want                  Kind
	}{
		{"honest", "\x05\x00", granted, false, ""},
		{"of version 4", "\x04\x00", granted, false, KindProxy},
		{"that takes no method", "\x05\xff", granted, false, KindProxy},
		{"that takes a method nobody offered", "\x05\x02", granted, false, KindProxy},
		{"that is a web server", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "", false, KindProxy},
		{"that closes", "", "", false, KindProxy},
		{"with half a greeting", "\x05", "", true, KindProxy},
		{"that refuses", "\x05\x00", "\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00", false, KindProxy},
		{"with an unknown error", "\x05\x00", "\x05\xfe\x00\x01\x00\x00\x00\x00\x00\x00", false, KindProxy},
		{"with an address of no kind", "\x05\x00", "\x05\x00\x00\x09\x00\x00\x00\x00\x00\x00", false, KindProxy},
		{"with a name longer than what comes", "\x05\x00", "\x05\x00\x00\x03\xffx", true, KindProxy},
		{"with a reply of another version", "\x05\x00", "\x04\x00\x00\x01\x00\x00\x00\x00\x00\x00", false, KindProxy},
		{"whose reply comes in drips", "\x05\x00", "\x05", true, KindProxy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				b := make([]byte, 300)
				c.Read(b)
				io.WriteString(c, tt.greeting)
				c.Read(b)
				io.WriteString(c, tt.reply)
				if tt.drip {
					time.Sleep(time.Second)
					return
				}
				if _, err := readRequest(bufio.NewReader(c)); err == nil {
					io.WriteString(c, page)
				}
			}()
			x := do(t, proxied(t, "socks5://u:pass-word@"+l.Addr().String(), Options{Timeouts: Timeouts{ConnectTimeout: 200 * time.Millisecond}}), "http://site.example/a")
			if k := kindOf(x.Err); k != tt.want && (k != KindTimeout || !tt.drip) {
				t.Errorf("%v, want %q", x.Err, tt.want)
			}
			if x.Err != nil && strings.Contains(x.Err.Error(), "pass-word") {
				t.Errorf("it names the password: %v", x.Err)
			}
		})
	}
}

// What a proxy sends instead of opening a tunnel never becomes the page of an https site.
func TestLyingTunnels(t *testing.T) {
	a := newAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	other, _ := strings.CutPrefix(strings.TrimSuffix(a.server(func(*x509.Certificate) {}, false), "/"), "https://")
	const opened = "HTTP/1.1 200 OK\r\n"
	for _, tt := range []struct {
		name, answer string
		late         string // sent a moment after that
		to           string // where the tunnel leads
		kinds        []Kind
	}{
		{"the page itself, and no tunnel", opened + "Content-Length: 5\r\n\r\nhello", "", "", []Kind{KindProxy, KindTLS}},
		{"the page itself, a moment late", opened + "Content-Length: 5\r\n\r\n", "hello", "", []Kind{KindTLS, KindTimeout}},
		{"a response behind it", opened + "\r\n", page, "", []Kind{KindProxy, KindTLS}},
		{"a tunnel to another host", opened + "\r\n", "", other, []Kind{KindTLS}},
		{"a tunnel to another host, with a length that means nothing", opened + "Content-Length: 100\r\n\r\n", "", other, []Kind{KindTLS}},
		{"interim answers without end", strings.Repeat("HTTP/1.1 100 Go on\r\n\r\n", 1000), "", "", []Kind{KindProxy}},
		{"a redirect", "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\r\n", "", "", []Kind{KindProxy}},
		{"a wish for a password", "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\x1b[2J\r\n\r\n", "", "", []Kind{KindProxy}},
		{"two lengths", opened + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "", "", []Kind{KindProxy, KindTLS, KindTimeout}},
		{"half a head", "HTTP/1.1 200 OK\r\nA: ", "", "", []Kind{KindProxy}},
		{"a status of 999999", "HTTP/1.1 999999 OK\r\n\r\n", "", "", []Kind{KindProxy}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, func(c net.Conn, _ string) bool {
				io.WriteString(c, tt.answer)
				if tt.late != "" {
					time.Sleep(20 * time.Millisecond)
					io.WriteString(c, tt.late)
				}
				if tt.to == "" {
					return false
				}
				o, err := net.Dial("tcp", tt.to)
				if err != nil {
					return false
				}
				defer o.Close()
				go io.Copy(o, c)
				io.Copy(c, o)
				return false
			})
			x := do(t, proxied(t, "http://u:pass-word@"+p.l.Addr().String(), Options{RootCAs: roots, Timeouts: Timeouts{ConnectTimeout: 2 * time.Second}}), "https://site.example/")
			is := kindOf(x.Err)
			for _, k := range tt.kinds {
				if is == k {
					return
				}
			}
			t.Errorf("%v, want %q", x.Err, tt.kinds)
		})
	}
}
