package weburl

import (
	"slices"
	"strings"
)

// SURT is the key of a URL in CDXJ indexes, "com,example)/path?query", as made by warcio.js 2.4
// and pywb: without scheme and "www.", "www2." and so on, with the host's labels reversed (also
// those of an IPv4 address) and the query's arguments sorted, without an empty query, in lower
// case. Several URLs may have the same key, so lookups must compare URLs too.
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

// withoutWWW removes "www.", "www2." and so on from a host.
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
