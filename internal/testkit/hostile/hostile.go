// Package hostile has fixtures of what a site can do to a crawler. Each fixture is one attack:
// what the server does, and what the crawler must report. Tests run Curtsy against each fixture
// and against all at once; they also write docs/hostile.md.
//
// Faults of this machine (a full disk, a damaged file) are in the tests of storage and crawler,
// since no server can cause them.
package hostile

import (
	"slices"
	"strings"
	"sync"
)

// Fixture is one attack. On a server it has its own directory, named after it; its first page
// is that directory's "".
type Fixture struct {
	Line   int    // in the list of attacks: 2 URLs … 12 traps, 13 challenges
	Name   string // lower case, words joined by hyphens
	Attack string // description for people
	// Pages are the answers by request target below the directory, including the query. A name
	// that ends in "*" answers all targets with that prefix and without an answer of their own.
	Pages map[string]Answer
	// Want is what the archive must say of URLs, by target below the directory: the state, then
	// the beginning of the reason. "unknown" means that the URL was never discovered.
	Want map[string]string
	// Counts maps reasons, by their beginning, to the least number that status must count.
	Counts map[string]int
	// Most is the most requests that a crawl may make; 0: 100.
	Most int
	// Heavy marks fixtures that take a second or a hundred megabytes to serve.
	Heavy bool
	// Slow marks fixtures that make the crawl wait until its timeouts.
	Slow bool

	// Robots answers requests for the server's robots.txt; such a fixture cannot share a server
	// with others.
	Robots Answer
	// Sitemaps are targets below the directory that robots.txt lists.
	Sitemaps []string
	// Exit is the exit code of a crawl of this fixture alone: 0 done, 3 stopped, 4 refused.
	Exit int

	// Options of the crawl that differ from the default.
	Cookies    bool // store cookies
	Requisites bool // fetch requisites of other hosts
}

// Answer answers one request.
type Answer func(c *Conn)

// Dir is the fixture's directory on a server.
func (f *Fixture) Dir() string { return "/" + f.Name + "/" }

// Lines are the names of the lines in the list of attacks.
var Lines = map[int]string{
	2: "URLs", 3: "Addresses", 4: "Redirects", 5: "Responses", 6: "Bombs", 7: "HTML and CSS",
	8: "robots.txt", 9: "Cookies", 10: "Output", 12: "Traps", 13: "Challenges",
}

// List returns all fixtures in order.
func List() []*Fixture { return slices.Clone(list()) }

var list = sync.OnceValue(func() []*Fixture {
	return slices.Concat(urls(), addresses(), redirects(), responses(), bombs(), documents(), robots(), cookies(),
		output(), traps(), challenges())
})

// Shared returns the fixtures that one server can serve together.
func Shared() []*Fixture {
	return slices.DeleteFunc(List(), func(f *Fixture) bool { return f.Robots != nil })
}

// Find returns the fixture with a name; nil if there is none.
func Find(name string) *Fixture {
	for _, f := range List() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// slowly sets Slow.
func slowly(f *Fixture) *Fixture {
	f.Slow = true
	return f
}

func rep(s string, n int) string { return strings.Repeat(s, n) }
