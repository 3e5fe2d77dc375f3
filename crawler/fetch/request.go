package fetch

import (
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"curtsy/internal/weburl"

	"golang.org/x/net/http/httpguts"
)

// Request is what to fetch.
type Request struct {
	URL weburl.URL
	// Header is for this request only; its fields replace ours and those of Options. The
	// caller must pass credentials only if the URL has the origin they are for.
	Header http.Header
	// HeadOnly asks for the head alone (HEAD, RFC 9110 §9.3.2).
	HeadOnly bool
	// MaxBody replaces Options.MaxBody where it is not 0.
	MaxBody int64
	// Wanted, if not nil, is called with the head of the final response. If it returns false,
	// the body is not read and the connection is closed.
	Wanted func(status int, h http.Header) bool
	// Hold, if not nil, says how the body is to be held. It is called before any of the body is
	// read and after each Options.SpillAt bytes in memory. nil is InFile from there on.
	Hold func(x *Exchange) Holding
	// Step, if not nil, is called with each of the steps below as the exchange reaches it, except
	// StepConnect, with which every exchange begins.
	Step func(string)
}

// Holding says how a body is held.
type Holding int

// The ways to hold a body.
const (
	InMemory  Holding = iota // continue reading into memory
	InFile                   // move it to a file
	NotNeeded                // read no more
)

// The steps of an exchange.
const (
	StepConnect = "connecting"
	StepWait    = "waiting for an answer"
	StepRead    = "reading"
)

// at reports that the exchange has reached a step.
func (r *Request) at(step string) {
	if r.Step != nil {
		r.Step(step)
	}
}

// field is one header line to send.
type field struct {
	name string // in canonical form
	line string // one "Name: value\r\n" per value
}

// ours returns the fields of every request.
func ours(o Options) []field {
	l := []field{
		{"User-Agent", "User-Agent: " + o.UserAgent + "\r\n"},
		{"Accept", "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"},
		// no zstd: archive players (replayweb.page 2.5, pywb) do not decode it
		{"Accept-Encoding", "Accept-Encoding: gzip, br\r\n"},
	}
	if !httpguts.ValidHeaderFieldValue(o.UserAgent) || o.UserAgent == "" {
		l = l[1:]
	}
	h := o.Header.Clone()
	for name := range h {
		if Secret(name) {
			delete(h, name)
		}
	}
	return replace(l, fields(h))
}

// fields returns the lines of h, sorted by name, without framing fields and invalid names or values.
func fields(h http.Header) []field {
	var l []field
	for _, name := range slices.Sorted(maps.Keys(h)) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		if !httpguts.ValidHeaderFieldName(name) || framing[key] {
			continue
		}
		f := field{name: key}
		for _, v := range h[name] {
			if httpguts.ValidHeaderFieldValue(v) {
				f.line += key + ": " + strings.Trim(v, " \t") + "\r\n"
			}
		}
		l = append(l, f)
	}
	return l
}

// framing names the fields by which a message is framed and routed.
var framing = map[string]bool{
	"Host": true, "Connection": true, "Content-Length": true, "Transfer-Encoding": true, "Te": true,
	"Trailer": true, "Upgrade": true, "Expect": true, "Keep-Alive": true, "Proxy-Connection": true,
}

// replace returns l with the fields of m replacing those of the same name.
func replace(l, m []field) []field {
	if len(m) == 0 {
		return l
	}
	l = slices.Clone(l)
	for _, f := range m {
		l = slices.DeleteFunc(l, func(g field) bool { return g.name == f.name })
	}
	return append(l, m...)
}

// render starts the recording with the request as it will be sent (RFC 9112 §3), except for
// Proxy-Authorization, which is not recorded, and the values of a login.
func (c *Client) render(rec *recording, r Request, k *conn) error {
	target := r.URL.Target()
	if strings.ContainsFunc(target, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return bad(KindProtocol, "the URL cannot be used in a request line")
	}
	method := "GET "
	if r.HeadOnly {
		method = "HEAD "
	}
	b := append(rec.buf[:0], method...)
	if k.forward != nil {
		b = append(b, r.URL.Origin()...)
	}
	b = append(b, target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, r.URL.Host()...)
	b = append(b, "\r\n"...)
	l := c.fields
	if len(r.Header) > 0 {
		l = replace(l, fields(r.Header))
	}
	if c.o.Sign != nil {
		l = replace(l, fields(c.o.Sign(r.URL.Host(), c.o.Now())))
	}
	for _, f := range l {
		b = append(b, f.line...)
	}
	rec.open, rec.secret = len(b), nil
	if c.o.Login.goesTo(r.URL, k) {
		b, rec.secret = c.o.Login.appendLogin(b, r)
	} else {
		b = c.appendCookies(b, r)
	}
	rec.buf = append(b, "\r\n"...)
	rec.request = len(rec.buf)
	return nil
}

// appendCookies appends the jar's cookies for the URL (RFC 6265 §5.4).
func (c *Client) appendCookies(b []byte, r Request) []byte {
	if c.o.Cookies == nil || r.Header.Get("Cookie") != "" {
		return b
	}
	u := standard(r.URL)
	if u == nil {
		return b
	}
	req := http.Request{Header: http.Header{}}
	for _, k := range c.o.Cookies.Cookies(u) {
		req.AddCookie(k)
	}
	if line := req.Header.Get("Cookie"); line != "" && httpguts.ValidHeaderFieldValue(line) {
		b = append(b, "Cookie: "+line+"\r\n"...)
	}
	return b
}

// MaxCookies is how many cookies of one response are kept: the number per domain that RFC 6265 §6.1
// requires at least.
const MaxCookies = 50

// keepCookies gives the response's cookies to the jar.
func (c *Client) keepCookies(x *Exchange) {
	if c.o.Cookies == nil || len(x.Header["Set-Cookie"]) == 0 {
		return
	}
	l := (&http.Response{Header: x.Header}).Cookies()
	if u := standard(x.URL); u != nil {
		c.o.Cookies.SetCookies(u, l[:min(len(l), MaxCookies)])
	}
}

// standard converts u to a net/url URL; nil if net/url cannot parse it.
func standard(u weburl.URL) *url.URL {
	s, err := url.Parse(u.String())
	if err != nil {
		return nil
	}
	return s
}
