package judge

import (
	"regexp"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// Settings are what the rules were set to. They are a value: to widen the
// scope, make others.
type Settings struct {
	Scope
	Traps
}

// Scope says which URLs belong to the crawl.
type Scope struct {
	Origins        []string         // "scheme://host[:port]" of the seed and its aliases
	Primary        string           // of Origins, that under which pages are asked for; "" until it is known
	Include        []*regexp.Regexp // a page must match one, if there are any; requisites need not
	Exclude        []*regexp.Regexp // nothing that matches one is fetched
	MaxDepth       int              // links from the seed; 0 is no limit
	AnyRequisites  bool             // requisites of kept pages may come from other hosts
	Domain         string           // with all hosts below it; "" is none
	Port           string           // of the hosts below Domain: the seed's, as ":8080"; "" is the scheme's
	Prefix         string           // what the URLs of pages begin with; "" is any
	SkipAlternates bool             // links to other forms of a page, and for programs, are not followed
	SkipTypes      []string         // answers of these types are not read: "video/*"
	SkipLarger     int64            // nor those that say they have more octets; 0 is no limit
}

// Traps bounds what a site can make a crawl fetch without end. Each rule has
// a name and a budget; 0 turns a rule off. What a rule holds back is
// disregarded with its name, and goes through when the budget is raised.
type Traps struct {
	PathDepth     int  // segments of a path
	Repeats       int  // times that one run of segments follows itself
	Length        int  // octets of a URL
	Ahead         int  // months that a date in a URL lies in the future
	QueryVariants int  // queries with the same parameters on one path; half of it for each parameter beyond the first
	Facets        int  // queries of two parameters and more on one path, once there are over 32 combinations of names
	Versions      int  // queries with a hash on ever other paths below the same two segments: old states of files
	Archives      int  // archives of the whole tree, by version, of one shape
	Products      int  // further views of versions that have many, over the whole site
	Discovered    int  // URLs in all
	Calendar      int  // URLs with a date that differ in digits only; an eighth of it where dates are months
	Pattern       int  // URLs that differ in digits only
	Twins         bool // sessions and orders of parameters that make no new page
	SameBody      int  // pages with one and the same body whose links are followed
	SoftNotFound  int  // pages that look alike before the site is asked for a name that does not exist
}

// DefaultTraps are budgets that real sites stay below.
func DefaultTraps() Traps {
	return Traps{PathDepth: 60, Repeats: 5, Length: 2000, Ahead: 18, QueryVariants: 20_000, Facets: 1000,
		Versions: 1000, Archives: 2, Products: 5000, Discovered: 3_000_000,
		Calendar: 10_000, Pattern: 1_000_000, Twins: true, SameBody: 20, SoftNotFound: 20}
}

// Holds says whether the URL is of one of the scope's hosts.
func (s *Scope) Holds(u weburl.URL) bool { return s.Main(u) || s.below(u) }

// Main says whether the URL is of the seed's origin or an alias of it, without
// which there is no crawl.
func (s *Scope) Main(u weburl.URL) bool { return slices.Contains(s.Origins, u.Origin()) }

// below says whether the URL is of a host of the scope's domain.
func (s *Scope) below(u weburl.URL) bool {
	host := u.Hostname()
	if s.Domain == "" || host != s.Domain && !strings.HasSuffix(host, "."+s.Domain) {
		return false
	}
	port := strings.TrimPrefix(u.Host(), host)
	return port == "" || port == s.Port
}

// Names is what a visit tells of the names of the site, each "" where it tells nothing.
type Names struct {
	Alias   string // an origin that is another name of the site
	Primary string // the origin that answers for it
	Apart   string // an origin that might have been a name, and answers for itself
}

// With are the settings with what was learned of the site's names.
func (s *Settings) With(n Names) *Settings {
	if n.Alias == "" && n.Primary == "" {
		return s
	}
	wider := *s
	for _, origin := range []string{n.Alias, n.Primary} {
		if origin != "" && !slices.Contains(wider.Origins, origin) {
			wider.Origins = append(slices.Clone(wider.Origins), origin)
		}
	}
	if n.Primary != "" {
		wider.Primary = n.Primary
	}
	return &wider
}
