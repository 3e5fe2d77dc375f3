package judge

import (
	"regexp"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// Settings are the settings of the rules. They are not modified: With returns a widened copy.
type Settings struct {
	Scope
	Traps
}

// Scope says which URLs belong to the crawl.
type Scope struct {
	Origins        []string         // "scheme://host[:port]" of the seed and its aliases
	Primary        string           // the one of Origins under which pages are fetched; "" until it is known
	Include        []*regexp.Regexp // if not empty, a page must match one of them; requisites need not
	Exclude        []*regexp.Regexp // nothing that matches one of them is fetched
	MaxDepth       int              // limit on links from the seed; 0 is none
	AnyRequisites  bool             // requisites of fetched pages may come from other hosts
	Domain         string           // this host and all hosts below it are in scope; "" is none
	Port           string           // port of the hosts of Domain: the seed's, as ":8080"; "" is the default
	Prefix         string           // required prefix of the URLs of pages; "" is none
	SkipAlternates bool             // do not follow links to other forms of a page and to data for programs
	SkipTypes      []string         // response types whose body is not read: "video/*"
	SkipLarger     int64            // do not read bodies with a larger Content-Length; 0 is no limit
}

// Traps limits what a site can make a crawl fetch without end. Each field is the budget of one rule; 0
// turns it off. A URL that a rule excludes is disregarded with the rule's name, and admitted when the
// budget is raised.
type Traps struct {
	PathDepth     int  // segments of a path
	Repeats       int  // times that a run of segments occurs in a row
	Length        int  // octets of a URL
	Ahead         int  // months by which a date in a URL may lie in the future
	QueryVariants int  // queries with the same parameters on one path; halved for each parameter beyond the first
	Facets        int  // queries with two or more parameters on a path that has over 32 combinations of names
	Versions      int  // queries with a hash on different paths below the same two segments: old states of files
	Archives      int  // archives of the whole tree, one per version, of one shape
	Products      int  // further views of versions that have many, over the whole site
	Discovered    int  // URLs in all
	Calendar      int  // URLs that differ only in the digits of a date; an eighth for months, a quarter for dated views
	Pattern       int  // URLs that differ only in digits
	Twins         bool // recognize session ids and parameter orders that make no new page
	SameBody      int  // pages with the same body whose links are followed
	SoftNotFound  int  // similar pages before a made-up name is requested
}

// DefaultTraps returns budgets that real sites stay below.
func DefaultTraps() Traps {
	return Traps{PathDepth: 60, Repeats: 5, Length: 2000, Ahead: 18, QueryVariants: 20_000, Facets: 1000,
		Versions: 1000, Archives: 2, Products: 5000, Discovered: 3_000_000,
		Calendar: 10_000, Pattern: 1_000_000, Twins: true, SameBody: 20, SoftNotFound: 20}
}

// Holds reports whether the URL is in scope by its origin.
func (s *Scope) Holds(u weburl.URL) bool { return s.Main(u) || s.below(u) }

// Main reports whether the URL is at the seed's origin or an alias of it.
func (s *Scope) Main(u weburl.URL) bool { return slices.Contains(s.Origins, u.Origin()) }

// below reports whether the URL's host is Domain or below it.
func (s *Scope) below(u weburl.URL) bool {
	host := u.Hostname()
	if s.Domain == "" || host != s.Domain && !strings.HasSuffix(host, "."+s.Domain) {
		return false
	}
	port := strings.TrimPrefix(u.Host(), host)
	return port == "" || port == s.Port
}

// Names is what a visit reveals about the names of the site; each field may be "".
type Names struct {
	Alias   string // an origin that is another name of the site
	Primary string // the origin that answers for the site
	Apart   string // an origin that might have been a name and is a separate site
}

// With returns the settings extended by what was learned about the site's names.
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
