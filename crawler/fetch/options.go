package fetch

import (
	"cmp"
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"golang.org/x/time/rate"
)

// The bounds on what a server may make us read, hold or wait for. Those that
// depend on the crawl are in Options; these hold always.
const (
	maxInterim   = 8  // interim (1xx) responses before the final one
	maxAddresses = 16 // addresses tried for one host
	maxIdle      = 64 // connections kept between requests, all hosts together
	idleFor      = 90 * time.Second
	headStart    = 300 * time.Millisecond // before the next address is tried too (RFC 8305 §5)
)

// Timeouts bound the parts of an exchange.
type Timeouts struct {
	ConnectTimeout time.Duration // name, connection and TLS together; 0 is 20 s
	HeadTimeout    time.Duration // from the request to the end of the head; 0 is 60 s
	IdleTimeout    time.Duration // between two pieces of a body; 0 is 30 s
	TotalTimeout   time.Duration // one exchange in all; 0 is 20 min
}

// Options are the settings of a Client. The zero value is usable: it fetches
// from public addresses, directly, with the bounds named below.
type Options struct {
	// UserAgent is sent as it is; empty sends none.
	UserAgent string
	// Header is sent with every request, after our own fields, in sorted
	// order. Fields that frame the message (Host, Connection,
	// Content-Length, Transfer-Encoding, …) are left out.
	Header http.Header

	Timeouts

	MaxHead int64 // bytes of all heads of an exchange, interim ones too; 0 is 1 MiB
	MaxBody int64 // bytes of the body as transferred; 0 is 1 GiB
	SpillAt int64 // bytes of a body held in memory before Request.Hold is asked again; 0 is 4 MiB
	// Spill makes the file of a body that is not held in memory. Where it is
	// nil there are no files: a body is cut where it would go to one.
	Spill func() (File, error)

	// Proxy says which proxy, nil for none, serves an URL; see ProxyURL and
	// ProxyFromEnvironment. A proxy itself is dialled unguarded, as it was
	// the user who named it, and resolves names for us: literal addresses
	// that the guard refuses are refused before it, names it resolves to
	// such addresses are its business.
	Proxy func(*url.URL) (*url.URL, error)
	// RootCAs verify servers; nil is the system's. They are always verified.
	RootCAs *x509.CertPool
	// AllowHost is the seed's own host, as URL.Hostname gives it: the one host,
	// but for those of Client.Allow, that may be at a private address, if it is
	// there at first sight.
	AllowHost string
	// Cookies keeps cookies; nil, the default, neither keeps nor sends any.
	Cookies http.CookieJar
	// Login is what one origin is shown; nil is nothing.
	Login *Login
	// Sign gives the fields that sign a request to an authority; nil signs none.
	Sign func(authority string, now time.Time) http.Header
	// Ceiling bounds the bytes a second of all connections together, as they
	// come: heads, bodies and TLS; nil is none. Its burst is what is read at once.
	Ceiling *rate.Limiter
	// Gate is asked right before each request is written, one that is sent once
	// more included, with the host as URL.Host gives it and the address that it
	// goes to, which is not valid behind a proxy. It may wait until ctx is done;
	// with an error nothing is sent, and the exchange fails with KindLocal.
	Gate func(ctx context.Context, host string, addr netip.Addr) error
	// Logger gets what is worth knowing at level debug; nil is silence.
	Logger *slog.Logger

	// Now is the clock that exchanges are dated by; nil is time.Now. Timeouts go by
	// the system's own.
	Now func() time.Time
	// Lookup and Dial replace the system's resolver and dialler, in tests.
	// Dial is given literal addresses that the guard has let through.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// withDefaults fills in what was left zero.
func (o Options) withDefaults() Options {
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 20*time.Second)
	o.HeadTimeout = cmp.Or(o.HeadTimeout, 60*time.Second)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 30*time.Second)
	o.TotalTimeout = cmp.Or(o.TotalTimeout, 20*time.Minute)
	o.MaxHead = cmp.Or(o.MaxHead, 1<<20)
	o.MaxBody = cmp.Or(o.MaxBody, 1<<30)
	o.SpillAt = cmp.Or(o.SpillAt, 4<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lookup == nil {
		o.Lookup = lookup
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.Ceiling != nil {
		o.Dial = under(o.Ceiling, o.Dial)
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o
}

// lookup asks the system's resolver.
func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
