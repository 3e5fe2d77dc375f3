package engine

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// authority issues the certificates of a fleet.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{t: t, key: key, pool: x509.NewCertPool()}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

// conf returns the TLS configuration with a certificate for these organizational units.
func (a *authority) conf(units ...string) *tls.Config {
	a.t.Helper()
	of := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour),
		Subject:     pkix.Name{CommonName: "x", OrganizationalUnit: units},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth,
			x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, of, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: a.key, Leaf: leaf}},
		RootCAs: a.pool, ClientCAs: a.pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Each role tries what it may not do, through a client without checks of its own.
func TestRoles(t *testing.T) {
	a, address := newAuthority(t), freePort(t)
	s, err := Start(Options{Dir: t.TempDir(), Name: "n1", Listen: address, TLS: a.conf("serve")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	board := opened(t, t.Context(), s, BoardOptions{})
	if _, err := board.Swap(t.Context(), Entry{Key: "site.x"}, []byte("v")); err != nil {
		t.Fatal(err)
	}
	inside, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(inside.Close)
	for _, subject := range []string{AskRead, AskAdd, AskPeers + "w1"} {
		if _, err := inside.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte("done")) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := inside.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct {
		role                             Role
		read, add, peers, board, destroy bool
	}{
		{role: RoleRead, read: true},
		{role: RoleAdd, read: true, add: true},
		{role: RoleWork, read: true, add: true, peers: true, board: true},
	} {
		t.Run(string(each.role), func(t *testing.T) {
			t.Parallel() // what is refused is waited for
			c, err := Dial("nats://"+address, a.conf(string(each.role)))
			if err != nil {
				t.Fatalf("%s: %v", each.role, err)
			}
			js, err := jetstream.New(c, jetstream.WithDefaultTimeout(300*time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			ask := func(subject string) bool {
				m, err := c.Request(subject, nil, 300*time.Millisecond)
				return err == nil && string(m.Data) == "done"
			}
			_, putErr := js.Publish(t.Context(), "$KV.curtsy.site.x", []byte("stolen"))
			got := []bool{ask(AskRead), ask(AskAdd), ask(AskPeers + "w1"), putErr == nil,
				js.DeleteStream(t.Context(), "KV_curtsy") == nil}
			want := []bool{each.read, each.add, each.peers, each.board, each.destroy}
			for i, what := range []string{"read", "add", "ask workers", "write to the board", "delete the board"} {
				if got[i] != want[i] {
					t.Errorf("%s may %s: %v, want %v", each.role, what, got[i], want[i])
				}
			}
			sub, err := c.SubscribeSync(">") // including the answers to others
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(c.Flush(), inside.Publish(AskRead, nil)); err != nil {
				t.Fatal(err)
			}
			if m, err := sub.NextMsg(100 * time.Millisecond); err == nil {
				t.Errorf("%s listens to everything: %s", each.role, m.Subject)
			}
			c.Close()
		})
	}
	for what, conf := range map[string]*tls.Config{"no role": a.conf(), "an unknown role": a.conf("root"),
		"another authority": newAuthority(t).conf("work"), "no certificate": nil} {
		if c, err := Dial("nats://"+address, conf); err == nil {
			c.Close()
			t.Errorf("connected with %s", what)
		}
	}
	if c, err := nats.Connect("nats://" + address); err == nil {
		c.Close()
		t.Error("connected without TLS")
	}
}

// No port is opened without TLS and a server certificate, and a client certificate of the same
// authority is not accepted as a server certificate.
func TestPortsNeedAServersCertificate(t *testing.T) {
	a := newAuthority(t)
	for what, o := range map[string]Options{
		"without TLS on loopback": {Listen: freePort(t)},
		"a worker's certificate":  {Listen: freePort(t), TLS: a.conf("work")},
		"a cluster without TLS":   {Peers: map[string]string{"n1": freePort(t)}},
	} {
		o.Dir, o.Name = t.TempDir(), "n1"
		if s, err := Start(o); err == nil {
			s.Close()
			t.Errorf("%s: it listens", what)
		}
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", a.conf("read"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_ = c.(*tls.Conn).Handshake() // the other end refuses
			c.Close()
		}
	}()
	_, err = tls.Dial("tcp", l.Addr().String(), amongServers(a.conf("serve")))
	if err == nil || !strings.Contains(err.Error(), "not that of a server") {
		t.Errorf("got %v", err)
	}
}
