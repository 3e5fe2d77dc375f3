package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// guard refuses addresses that a public site has no business to send us to
// (server-side request forgery). It looks at the very address to be dialled,
// every time, so that neither a redirect, nor a name that changes its
// address, nor an answer that mixes addresses gets round it.
type guard struct {
	host string // the seed's, which may be at a private address

	mu    sync.Mutex
	also  map[string]bool // hosts that may be at an address of the seed's sorts
	known bool            // the seed's addresses have been seen
	kinds map[string]bool // the sorts of private address it was at, at first sight
}

// admit leaves of a host's addresses those that may be dialled, or says why
// there is none. The first answer for the seed's own host decides whether it
// is a private one: a public seed that later points inside is refused.
func (g *guard) admit(host string, addrs []netip.Addr) ([]netip.Addr, error) {
	kinds := make([]string, len(addrs))
	for i, a := range addrs {
		kinds[i] = addressKind(a)
	}
	excused := g.excused(host, kinds)
	var ok []netip.Addr
	for i, a := range addrs {
		if (kinds[i] == "" || excused[kinds[i]]) && len(ok) < maxAddresses {
			ok = append(ok, a)
		}
	}
	if len(ok) == 0 && len(addrs) > 0 {
		return nil, &fault{KindBlocked, fmt.Errorf("%s resolves to %s, a %s address", bare(host), addrs[0], kinds[0])}
	}
	return ok, nil
}

func (g *guard) isSeed(host string) bool {
	return g.host != "" && strings.EqualFold(bare(host), bare(g.host))
}

// allow lets a host be where the seed may be.
func (g *guard) allow(hosts ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, host := range hosts {
		g.also[strings.ToLower(bare(host))] = true
	}
}

// excused are the sorts of private address that a host may be at: those of the seed,
// for itself and for whom allow has named. It takes in what the seed is at.
func (g *guard) excused(host string, kinds []string) map[string]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.isSeed(host):
		g.learn(kinds)
	case !g.also[strings.ToLower(bare(host))]:
		return nil
	}
	return g.kinds // never changed once it is made
}

// waits says whether a host is judged by the seed's addresses, and these have not
// been seen yet.
func (g *guard) waits(host string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.host != "" && !g.isSeed(host) && g.also[strings.ToLower(bare(host))] && !g.known
}

// learn notes, once, the sorts of private address of the seed's own host,
// if it is at no other. g.mu is held.
func (g *guard) learn(kinds []string) {
	if g.known || len(kinds) == 0 {
		return
	}
	g.known = true
	if slices.Contains(kinds, "") {
		return
	}
	all := map[string]bool{}
	for _, k := range kinds {
		all[k] = true
	}
	g.kinds = all
}

// named refuses, of the hosts a proxy is to resolve for us, literal
// addresses and the names of this machine (RFC 6761 §6.3).
func (g *guard) named(host string) error {
	if g.isSeed(host) {
		return nil
	}
	name := strings.TrimSuffix(strings.ToLower(bare(host)), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return bad(KindBlocked, name+" is a name of this machine")
	}
	if a, err := netip.ParseAddr(name); err == nil {
		_, err := g.admit(host, []netip.Addr{a})
		return err
	}
	return nil
}

// bare is a host without the brackets of an IPv6 address.
func bare(host string) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	return host
}

// special is an address block that is not part of the public internet.
type special struct {
	prefix netip.Prefix
	kind   string
}

// specials are the IANA special-purpose registries (RFC 6890), IPv4 first.
// Of IPv6 only those within 2000::/3 need naming; the rest is refused whole.
var specials = []special{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared (carrier NAT)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("168.63.129.16/32"), "metadata"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "private"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
	{netip.MustParsePrefix("2001::/23"), "reserved"}, // Teredo and ORCHID among them
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
}

var (
	global6 = netip.MustParsePrefix("2000::/3")     // RFC 4291 §2.4
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052 §2.1
	compat4 = netip.MustParsePrefix("::/96")        // RFC 4291 §2.5.5.1
	sixTo4  = netip.MustParsePrefix("2002::/16")    // RFC 3056 §2
)

// addressKind is "" for an address of the public internet, else what it is.
// An IPv6 address that carries an IPv4 address is what that one is.
func addressKind(a netip.Addr) string {
	if !a.IsValid() {
		return "invalid"
	}
	a = a.WithZone("").Unmap()
	for _, s := range specials {
		if s.prefix.Contains(a) {
			return s.kind
		}
	}
	if a.Is4() {
		return ""
	}
	b := a.As16()
	switch {
	case nat64.Contains(a), compat4.Contains(a):
		return addressKind(netip.AddrFrom4([4]byte(b[12:])))
	case sixTo4.Contains(a):
		return addressKind(netip.AddrFrom4([4]byte(b[2:6])))
	case !global6.Contains(a):
		return "reserved"
	}
	return ""
}
