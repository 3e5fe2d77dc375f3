package fetch

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"curtsy/internal/weburl"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"
)

// ProxyURL returns an Options.Proxy that uses one proxy for every URL, local ones included. raw is
// http, https, socks5 or socks5h://[user:password@]host[:port].
func ProxyURL(raw string) (func(*url.URL) (*url.URL, error), error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("not a proxy URL: use http://host:port or socks5://host:port")
	}
	if proxyPort(u) == "" {
		return nil, fmt.Errorf("unknown proxy scheme %q: use http, https or socks5", u.Scheme)
	}
	return func(*url.URL) (*url.URL, error) { return u, nil }, nil
}

// ProxyFromEnvironment returns an Options.Proxy from the present values of HTTP_PROXY,
// HTTPS_PROXY, ALL_PROXY and NO_PROXY, also in lower case; nil if none is set. Loopback hosts are
// never proxied.
func ProxyFromEnvironment() func(*url.URL) (*url.URL, error) {
	conf := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	conf.HTTPProxy = cmp.Or(conf.HTTPProxy, all)
	conf.HTTPSProxy = cmp.Or(conf.HTTPSProxy, all)
	if conf.HTTPProxy == "" && conf.HTTPSProxy == "" {
		return nil
	}
	find := conf.ProxyFunc()
	return func(u *url.URL) (*url.URL, error) {
		p, err := find(u)
		if err != nil { // err may contain the proxy's password
			return nil, errors.New("unusable proxy in the environment")
		}
		return p, nil
	}
}

// proxyPort returns the port of a proxy; "" if its scheme is unknown.
func proxyPort(u *url.URL) string {
	port := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	if port == "" {
		return ""
	}
	return cmp.Or(u.Port(), port)
}

// connectProxy connects to u through a proxy. An HTTP proxy is sent http requests in absolute form
// and gets a CONNECT tunnel for https; SOCKS carries both.
func (c *Client) connectProxy(ctx context.Context, u weburl.URL, p *url.URL) (*conn, error) {
	if err := c.guard.named(u.Hostname()); err != nil {
		return nil, err
	}
	addr := net.JoinHostPort(p.Hostname(), proxyPort(p))
	target := net.JoinHostPort(bare(u.Hostname()), u.Port())
	var nc, below net.Conn
	var err error
	switch p.Scheme {
	case "socks5", "socks5h":
		nc, err = c.dialSocks(ctx, p, addr, target)
		below = nc
	case "http", "https":
		nc, below, err = c.dialHTTPProxy(ctx, p, addr)
	default:
		err = errors.New("unknown scheme")
	}
	if err != nil {
		return nil, proxyFault(err)
	}
	if u.Scheme() == "http" && (p.Scheme == "http" || p.Scheme == "https") {
		k := newConn(nc, below, u.Origin())
		k.forward = &forward{auth: basic(p)}
		return k, nil
	}
	if p.Scheme == "http" || p.Scheme == "https" {
		if err := tunnel(ctx, nc, target, basic(p)); err != nil {
			nc.Close()
			return nil, proxyFault(err)
		}
	}
	return c.secure(ctx, nc, below, u)
}

// proxyFault makes err a KindProxy fault unless it was cancelled or local.
func proxyFault(err error) error {
	kind, text := classify(err)
	if kind == KindCanceled || kind == KindLocal {
		return err
	}
	return &fault{KindProxy, text}
}

// dialHTTPProxy connects to an HTTP proxy, with TLS if its scheme is https.
func (c *Client) dialHTTPProxy(ctx context.Context, p *url.URL, addr string) (nc, below net.Conn, err error) {
	nc, err = c.o.Dial(ctx, "tcp", addr)
	if err != nil || p.Scheme == "http" {
		return nc, nc, err
	}
	t, err := handshake(ctx, nc, c.tls, p.Hostname())
	if err != nil {
		return nil, nil, err
	}
	return t, nc, nil
}

// dialer adapts Options.Dial to the socks package.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d(context.Background(), network, address)
}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d(ctx, network, address)
}

// dialSocks asks a SOCKS5 proxy for a connection to target. The proxy resolves the name (RFC 1928
// §4).
func (c *Client) dialSocks(ctx context.Context, p *url.URL, addr, target string) (net.Conn, error) {
	var auth *proxy.Auth
	if p.User != nil {
		password, _ := p.User.Password()
		auth = &proxy.Auth{User: p.User.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", addr, auth, dialer(c.o.Dial))
	if err != nil {
		return nil, err
	}
	return d.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
}

// tunnel asks an HTTP proxy for a tunnel to target (CONNECT, RFC 9110 §9.3.6).
func tunnel(ctx context.Context, nc net.Conn, target, auth string) error {
	if end, ok := ctx.Deadline(); ok {
		nc.SetDeadline(end)
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	ask := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if auth != "" {
		ask += "Proxy-Authorization: " + auth + "\r\n"
	}
	if _, err := io.WriteString(nc, ask+"\r\n"); err != nil {
		return err
	}
	r := bufio.NewReader(io.LimitReader(nc, 64<<10))
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errors.New("the answer to CONNECT is not HTTP")
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("it answered CONNECT with status %d", resp.StatusCode)
	case r.Buffered() > 0:
		return errors.New("unexpected data after the answer to CONNECT")
	}
	return nc.SetDeadline(time.Time{})
}

// basic returns the Proxy-Authorization for the URL's user; "" if it has none.
func basic(p *url.URL) string {
	if p.User == nil {
		return ""
	}
	password, _ := p.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(p.User.Username()+":"+password))
}
