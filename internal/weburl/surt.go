package weburl

import (
	"slices"
	"strings"
)

// SURT is the key of a URL in CDXJ indexes, "com,example)/path?query", as
// warcio.js 2.4 and pywb make it: without "www.", "www2." and scheme, the host's
// labels reversed (those of an IPv4 address too), the arguments of the query
// sorted, an empty query dropped, all in lower case. Several URLs may share a
// key; whoever looks one up compares the URLs themselves.
func (u URL) SURT() string {
	host := withoutWWW(u.Hostname())
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	var b strings.Builder
	b.Grow(len(u.href))
	b.WriteString(strings.ToLower(strings.Join(labels, ",")))
	b.WriteString(u.Host()[len(u.Hostname()):])
	b.WriteByte(')')
	b.WriteString(strings.ToLower(u.Path()))
	if q := u.Query(); q != "" {
		args := strings.Split(strings.ToLower(q), "&")
		slices.Sort(args)
		b.WriteByte('?')
		b.WriteString(strings.Join(args, "&"))
	}
	return b.String()
}

// withoutWWW cuts "www.", "www2." and the like off a host.
func withoutWWW(host string) string {
	rest, ok := strings.CutPrefix(host, "www")
	if !ok {
		return host
	}
	if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, "0123456789"), "."); !ok || rest == "" {
		return host
	}
	return rest
}
