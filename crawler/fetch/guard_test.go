package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestAddressKind(t *testing.T) {
	tests := map[string]string{
		"1.1.1.1": "", "93.184.216.34": "", "2606:4700::1111": "", "64:ff9b::101:101": "", "2002:101:101::1": "",
		"::ffff:1.1.1.1": "",
		"172.15.255.255": "", "172.32.0.0": "", "100.63.255.255": "", "100.128.0.0": "", "11.0.0.0": "",
		"223.255.255.255": "",
		"127.0.0.1":       "loopback", "127.255.255.254": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"64:ff9b::7f00:1": "loopback", "2002:7f00:1::": "loopback", "::127.0.0.1": "loopback",
		"10.0.0.1": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private",
		"fc00::1": "private", "fd00:ec2::254": "private", "fec0::1": "private", "::ffff:10.0.0.1": "private",
		"64:ff9b::a00:1": "private", "2002:a00:1::": "private",
		"169.254.169.254": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
		"::ffff:169.254.169.254": "link-local", "64:ff9b::a9fe:a9fe": "link-local",
		"168.63.129.16": "metadata", "100.100.100.200": "shared (carrier NAT)", "192.0.0.192": "reserved",
		"0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "::": "unspecified",
		"224.0.0.1": "multicast", "239.255.255.250": "multicast", "ff02::1": "multicast",
		"255.255.255.255": "reserved", "240.0.0.1": "reserved", "192.0.2.1": "documentation",
		"198.18.0.1": "benchmarking", "198.51.100.1": "documentation", "203.0.113.1": "documentation",
		"2001:db8::1": "documentation", "2001::1": "reserved", "3fff::1": "documentation", "64:ff9b:1::1": "reserved",
		"100::1": "reserved", "5f00::1": "reserved", "4000::1": "reserved",
	}
	for s, want := range tests {
		if got := addressKind(netip.MustParseAddr(s)); got != want {
			t.Errorf("%s is %q, want %q", s, got, want)
		}
	}
	if addressKind(netip.Addr{}) == "" {
		t.Error("no address is let through")
	}
}

// resolver answers lookups with one line of addresses after the other and repeats the last; its dialler
// records the addresses dialled.
type resolver struct {
	answers []string
	dialled []string
	to      string // where every dial really goes
}

func (r *resolver) lookup(context.Context, string) ([]netip.Addr, error) {
	line := r.answers[0]
	if len(r.answers) > 1 {
		r.answers = r.answers[1:]
	}
	if line == "" {
		return nil, &net.DNSError{Err: "no such host", Name: "x", Server: "10.1.2.3", IsNotFound: true}
	}
	var l []netip.Addr
	for f := range strings.FieldsSeq(line) {
		l = append(l, netip.MustParseAddr(f))
	}
	return l, nil
}

func (r *resolver) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	r.dialled = append(r.dialled, addr)
	return new(net.Dialer).DialContext(ctx, network, r.to)
}

// Which addresses are dialled and which are refused, for two requests to one host.
func TestGuard(t *testing.T) {
	tests := []struct {
		name, seed, url string
		answers         []string
		kinds           [2]Kind
		dialled         string
	}{
		{"a public host", "", "http://a.example/", []string{"1.1.1.1"}, [2]Kind{}, "1.1.1.1:80 1.1.1.1:80"},
		{"no such host", "", "http://a.example/", []string{""}, [2]Kind{KindDNS, KindDNS}, ""},
		{"no address at all", "", "http://a.example/", []string{" "}, [2]Kind{KindDNS, KindDNS}, ""},
		{"a name for loopback", "", "http://a.example/", []string{"127.0.0.1"}, [2]Kind{KindBlocked, KindBlocked}, ""},
		{"a mixed answer", "", "http://a.example/", []string{"127.0.0.1 1.1.1.1 10.0.0.1"}, [2]Kind{},
			"1.1.1.1:80 1.1.1.1:80"},
		{"an answer that changes", "", "http://a.example/", []string{"1.1.1.1", "127.0.0.1"}, [2]Kind{"", KindBlocked},
			"1.1.1.1:80"},
		{"a mapped address", "", "http://a.example/", []string{"::ffff:127.0.0.1"}, [2]Kind{KindBlocked, KindBlocked},
			""},
		{"a literal address", "", "http://127.0.0.1/", nil, [2]Kind{KindBlocked, KindBlocked}, ""},
		{"a decimal literal", "", "http://2130706433/", nil, [2]Kind{KindBlocked, KindBlocked}, ""},
		{"an octal literal", "", "http://0177.0.0.1/", nil, [2]Kind{KindBlocked, KindBlocked}, ""},
		{"an IPv6 literal", "", "http://[::ffff:7f00:1]:8080/", nil, [2]Kind{KindBlocked, KindBlocked}, ""},
		{"the metadata service", "", "http://169.254.169.254/latest/", nil, [2]Kind{KindBlocked, KindBlocked}, ""},
		{"a private seed", "in.example", "http://in.example/", []string{"10.0.0.5"}, [2]Kind{},
			"10.0.0.5:80 10.0.0.5:80"},
		{"a private seed that moves on its net", "in.example", "http://in.example/",
			[]string{"10.0.0.5", "192.168.0.5"}, [2]Kind{}, "10.0.0.5:80 192.168.0.5:80"},
		{"a private seed that moves to this machine", "in.example", "http://in.example/",
			[]string{"10.0.0.5", "127.0.0.1"}, [2]Kind{"", KindBlocked}, "10.0.0.5:80"},
		{"another host beside a private seed", "in.example", "http://b.example/", []string{"10.0.0.5"},
			[2]Kind{KindBlocked, KindBlocked}, ""},
		{"a public seed that moves inside", "a.example", "http://a.example/", []string{"1.1.1.1", "10.0.0.5"},
			[2]Kind{"", KindBlocked}, "1.1.1.1:80"},
		{"a public seed with a mixed answer", "a.example", "http://a.example/",
			[]string{"10.0.0.5 1.1.1.1", "10.0.0.5"}, [2]Kind{"", KindBlocked}, "1.1.1.1:80"},
		{"a literal seed", "[::1]", "http://[::1]/", nil, [2]Kind{}, "[::1]:80 [::1]:80"},
		{"a literal seed is no other literal", "127.0.0.1", "http://127.0.0.2/", nil, [2]Kind{KindBlocked, KindBlocked},
			""},
	}
	server := say(t, "HTTP/1.1 200 OK\r\n\r\n")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &resolver{answers: tt.answers, to: server.l.Addr().String()}
			c := New(Options{AllowHost: tt.seed, Lookup: r.lookup, Dial: r.dial})
			defer c.Close()
			for i := range 2 {
				x := do(t, c, tt.url)
				if kindOf(x.Err) != tt.kinds[i] {
					t.Errorf("request %d: got %v, want %q", i, x.Err, tt.kinds[i])
				}
			}
			if got := strings.Join(r.dialled, " "); got != tt.dialled {
				t.Errorf("dialled %q, want %q", got, tt.dialled)
			}
		})
	}
}

func TestErrorsAreShort(t *testing.T) {
	r := &resolver{answers: []string{"", "127.0.0.1"}}
	c := New(Options{Lookup: r.lookup, Dial: r.dial})
	defer c.Close()
	for _, want := range []string{"fetch https://a.example/b: dns: no such host",
		"fetch https://a.example/b: blocked: a.example resolves to 127.0.0.1, a loopback address"} {
		if x := do(t, c, "https://a.example/b"); x.Err.Error() != want {
			t.Errorf("got %q, want %q", x.Err, want)
		}
	}
}

// The first address that connects is used, and the other attempts are dropped.
func TestRace(t *testing.T) {
	t.Parallel()
	server := say(t, "HTTP/1.1 200 OK\r\n\r\nx")
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		switch addr {
		case "[2606:4700::1]:80": // a black hole
			<-ctx.Done()
			return nil, ctx.Err()
		case "1.1.1.1:80":
			return nil, errors.New("unreachable")
		}
		return new(net.Dialer).DialContext(ctx, network, server.l.Addr().String())
	}
	r := &resolver{answers: []string{"1.1.1.1 2606:4700::1 1.0.0.1"}}
	c := New(Options{Lookup: r.lookup, Dial: dial})
	defer c.Close()
	x := do(t, c, "http://a.example/")
	if x.Err != nil || x.IP != netip.MustParseAddr("1.0.0.1") || x.Total < headStart {
		t.Errorf("%v, %v, %v", x.Err, x.IP, x.Total)
	}
	r.answers = []string{"1.1.1.1 1.1.1.1"}
	if x := do(t, c, "http://b.example/"); kindOf(x.Err) != KindConnect {
		t.Error(x.Err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := c.race(ctx, []netip.Addr{netip.MustParseAddr("2606:4700::1"), netip.MustParseAddr("1.0.0.1")},
		"80"); err == nil {
		t.Error("a cancelled race was won")
	}
}

// A server that listens on ::1 only is reached as localhost, in whichever order localhost's addresses
// are listed.
func TestLocalhostAtIPv6Only(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write([]byte("hello"))
	}))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, answer := range []string{"::1", "127.0.0.1 ::1", "::1 127.0.0.1"} {
		c := New(Options{AllowHost: "localhost", Lookup: (&resolver{answers: []string{answer}}).lookup})
		x := do(t, c, "http://localhost:"+port+"/")
		if x.Err != nil || x.Status != 200 {
			t.Errorf("%s: %v, %d", answer, x.Err, x.Status)
		}
		c.Close()
	}
}
