package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"curtsy/internal/weburl"
)

// connect opens a connection to u's origin within ConnectTimeout: proxy or name lookup, address
// guard, TCP and TLS.
func (c *Client) connect(ctx context.Context, u weburl.URL, end time.Time) (*conn, error) {
	if at := time.Now().Add(c.o.ConnectTimeout); at.Before(end) {
		end = at
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	proxy, err := c.proxyFor(u)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		return c.connectProxy(ctx, u, proxy)
	}
	nc, ip, err := c.dialHost(ctx, u.Hostname(), u.Port())
	if err != nil {
		return nil, err
	}
	k, err := c.secure(ctx, nc, nc, u)
	if err != nil {
		return nil, err
	}
	k.ip = ip
	return k, nil
}

// secure makes a conn of nc, with TLS if u is https. On failure it closes nc.
func (c *Client) secure(ctx context.Context, nc, below net.Conn, u weburl.URL) (*conn, error) {
	if u.Scheme() != "https" {
		return newConn(nc, below, u.Origin()), nil
	}
	t, err := handshake(ctx, nc, c.tlsFor(u), bare(u.Hostname()))
	if err != nil {
		return nil, err
	}
	k := newConn(t, below, u.Origin())
	s := t.ConnectionState()
	k.tls = strings.ToLower(strings.Replace(tls.VersionName(s.Version), " ", "/", 1))
	k.cipher = tls.CipherSuiteName(s.CipherSuite)
	return k, nil
}

// tlsFor returns the TLS configuration for u's origin. Only the login's own origin is shown its
// client certificates.
func (c *Client) tlsFor(u weburl.URL) *tls.Config {
	l := c.o.Login
	if l == nil || len(l.Certificates) == 0 || u.Origin() != l.Origin {
		return c.tls
	}
	conf := c.tls.Clone()
	conf.Certificates, conf.ClientSessionCache = l.Certificates, nil
	return conf
}

// handshake does the TLS handshake as a client of host. On failure it closes nc.
func handshake(ctx context.Context, nc net.Conn, base *tls.Config, host string) (*tls.Conn, error) {
	conf := base.Clone()
	conf.ServerName = strings.TrimSuffix(host, ".")
	t := tls.Client(nc, conf)
	if err := t.HandshakeContext(ctx); err != nil {
		nc.Close()
		switch kind, _ := classify(err); kind {
		case KindCanceled, KindTLS:
			return nil, err
		case KindTimeout: // no TLS yet: most likely the port speaks something else
			return nil, bad(KindTLS, "the TLS handshake was not answered in time")
		}
		return nil, &fault{KindTLS, err}
	}
	return t, nil
}

// dialHost connects to one of the host's addresses that the guard admits.
func (c *Client) dialHost(ctx context.Context, host, port string) (net.Conn, netip.Addr, error) {
	addrs, err := c.addresses(ctx, bare(host))
	if err != nil {
		return nil, netip.Addr{}, err
	}
	if c.guard.waits(host) {
		if seed, err := c.addresses(ctx, bare(c.guard.host)); err == nil {
			_, _ = c.guard.admit(c.guard.host, seed)
		}
	}
	addrs, err = c.guard.admit(host, addrs)
	if err != nil {
		return nil, netip.Addr{}, err
	}
	if len(addrs) == 0 {
		return nil, netip.Addr{}, &fault{KindDNS, ErrNoHost}
	}
	return c.race(ctx, addrs, port)
}

// addresses resolves a literal address or a name; IPv4-mapped addresses are unmapped.
func (c *Client) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	addrs, err := c.o.Lookup(ctx, host)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, nil
}

// race dials the addresses in order, starting the next when the last has failed or is slow, and
// takes the first connection (RFC 8305 §5). All its goroutines have ended when it returns.
func (c *Client) race(ctx context.Context, addrs []netip.Addr, port string) (net.Conn, netip.Addr, error) {
	if len(addrs) == 1 {
		nc, err := c.o.Dial(ctx, "tcp", net.JoinHostPort(addrs[0].String(), port))
		return nc, addrs[0], err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		nc  net.Conn
		ip  netip.Addr
		err error
	}
	done := make(chan result)
	dial := func(ip netip.Addr) {
		nc, err := c.o.Dial(ctx, "tcp", net.JoinHostPort(ip.String(), port))
		done <- result{nc, ip, err}
	}
	var won result
	next, flying := 0, 0
	turn := time.NewTimer(0)
	defer turn.Stop()
	for next < len(addrs) || flying > 0 {
		select {
		case <-turn.C:
			if ctx.Err() != nil {
				next, won.err = len(addrs), ctx.Err()
			}
			if next < len(addrs) {
				go dial(addrs[next])
				next++
				flying++
				turn.Reset(headStart)
			}
		case r := <-done:
			flying--
			switch {
			case won.nc != nil && r.nc != nil:
				r.nc.Close()
			case r.nc != nil:
				won, next = r, len(addrs)
				cancel() // the others give up
			case won.nc == nil:
				won.err = r.err
				turn.Reset(0)
			}
		}
	}
	return won.nc, won.ip, won.err
}

// proxyFor returns the proxy for u; nil for none.
func (c *Client) proxyFor(u weburl.URL) (*url.URL, error) {
	if c.o.Proxy == nil {
		return nil, nil
	}
	target, err := url.Parse(u.Origin() + "/")
	if err != nil {
		return nil, &fault{KindProxy, errors.New("the host name cannot be passed to a proxy")}
	}
	proxy, err := c.o.Proxy(target)
	if err != nil {
		return nil, &fault{KindProxy, err}
	}
	return proxy, nil
}
