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

// Fixed bounds on what a server may make the client read, hold or wait for. Those that depend on
// the crawl are in Options.
const (
	maxInterim   = 8  // interim (1xx) responses before the final one
	maxAddresses = 16 // addresses tried for one host
	maxIdle      = 64 // connections kept between requests, all hosts together
	idleFor      = 90 * time.Second
	headStart    = 300 * time.Millisecond // before the next address is dialled too (RFC 8305 §5)
)

// Timeouts bound the phases of an exchange.
type Timeouts struct {
	ConnectTimeout time.Duration // name lookup, connection and TLS together; 0 is 20 s
	HeadTimeout    time.Duration // from the request to the end of the head; 0 is 60 s
	IdleTimeout    time.Duration // between two reads of a body; 0 is 30 s
	TotalTimeout   time.Duration // the whole exchange; 0 is 20 min
}

// Options are the settings of a Client. The zero value fetches from public addresses without a
// proxy, with the default bounds given below.
type Options struct {
	// UserAgent is sent unchanged; empty sends no User-Agent.
	UserAgent string
	// Header is sent with every request, after our own fields, sorted by name. Fields that hold
	// credentials (Secret) or frame the message (Unsettable) are left out.
	Header http.Header

	Timeouts

	MaxHead int64 // bytes of all heads of an exchange, interim ones too; 0 is 1 MiB
	MaxBody int64 // bytes of the body as transferred; 0 is 1 GiB
	SpillAt int64 // bytes of a body held in memory before Request.Hold is asked again; 0 is 4 MiB
	// Spill creates the file for a body that is not held in memory. If it is nil, a body is
	// truncated instead.
	Spill func() (File, error)

	// Proxy returns the proxy for a URL, nil for none; see ProxyURL and ProxyFromEnvironment. A
	// proxy is dialled without the address guard, as the user named it. It resolves names for
	// us: literal addresses are checked by the guard first, the addresses of names are not.
	Proxy func(*url.URL) (*url.URL, error)
	// RootCAs verify servers; nil is the system's. Certificates are always verified.
	RootCAs *x509.CertPool
	// AllowHost is the seed's host, as URL.Hostname returns it. Only this host, and those of
	// Client.Allow, may have a private address, and only if it had one when first resolved.
	AllowHost string
	// Cookies is the cookie jar; nil neither keeps nor sends cookies.
	Cookies http.CookieJar
	// Login holds the credentials for one origin; nil is none.
	Login *Login
	// Sign returns the header fields that sign a request to an authority; nil signs nothing.
	Sign func(authority string, now time.Time) http.Header
	// Ceiling bounds the bytes per second received over all connections together: heads, bodies
	// and TLS; nil is no bound. Its burst is the most that one read returns.
	Ceiling *rate.Limiter
	// Gate is called just before each request is written, repeated ones included. host is as
	// URL.Host returns it; addr is the address dialled, invalid behind a proxy. Gate may block
	// until ctx is done. If it returns an error, nothing is sent and the exchange fails with
	// KindLocal.
	Gate func(ctx context.Context, host string, addr netip.Addr) error
	// Logger gets debug messages; nil discards them.
	Logger *slog.Logger

	// Now dates exchanges; nil is time.Now. Timeouts always use the system clock.
	Now func() time.Time
	// Lookup and Dial replace the system's resolver and dialler in tests. Dial gets literal
	// addresses that the guard has admitted.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// withDefaults replaces zero values by the defaults.
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
