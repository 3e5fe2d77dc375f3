package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// guard refuses addresses that are not on the public internet (server-side request forgery). It
// checks the address that is actually dialled, each time, so that redirects, names that change
// their address and answers that mix addresses do not get round it.
type guard struct {
	host string // the seed's host, which may have a private address

	mu    sync.Mutex
	also  map[string]bool // hosts that may have the same kinds of private address as the seed
	known bool            // the seed's addresses have been resolved
	kinds map[string]bool // the kinds of private address that the seed's host had when first resolved
}

// admit returns those of a host's addresses that may be dialled, or an error if there are none.
// The first answer for the seed's host decides whether the host counts as private: if it was
// public, private addresses are refused later.
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

// allow grants hosts the private address kinds of the seed.
func (g *guard) allow(hosts ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, host := range hosts {
		g.also[strings.ToLower(bare(host))] = true
	}
}

// excused returns the kinds of private address that host may have: the seed's, for the seed's host
// and those passed to allow. It also learns the seed's kinds.
func (g *guard) excused(host string, kinds []string) map[string]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.isSeed(host):
		g.learn(kinds)
	case !g.also[strings.ToLower(bare(host))]:
		return nil
	}
	return g.kinds // the map is never modified after learn has made it
}

// waits reports whether host is judged by the seed's addresses and these are not known yet.
func (g *guard) waits(host string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.host != "" && !g.isSeed(host) && g.also[strings.ToLower(bare(host))] && !g.known
}

// learn records, once, the kinds of private address of the seed's host. A host that also has a
// public address gets none. g.mu is held.
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

// named checks a host that a proxy will resolve: it refuses literal private addresses and
// localhost names (RFC 6761 §6.3).
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

// bare removes the brackets of an IPv6 literal.
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

// specials are the IANA special-purpose address registries (RFC 6890). Of IPv6, blocks outside
// 2000::/3 are listed only for a better description: addressKind refuses all of them.
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
	{netip.MustParsePrefix("2001::/23"), "reserved"}, // includes Teredo and ORCHID
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
}

var (
	global6 = netip.MustParsePrefix("2000::/3")     // RFC 4291 §2.4
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052 §2.1
	compat4 = netip.MustParsePrefix("::/96")        // RFC 4291 §2.5.5.1
	sixTo4  = netip.MustParsePrefix("2002::/16")    // RFC 3056 §2
)

// addressKind returns "" for a public address, else its kind. An IPv6 address that embeds an IPv4
// address has the kind of that one.
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
