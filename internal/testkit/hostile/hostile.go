// Package hostile answers: what can a site do to a crawler? It holds every
// attack that a server can make as one fixture: what it does, and what a
// crawler must say of it. Tests run Curtsy against each of them and against
// all at once; docs/hostile.md is written by those tests.
//
// Faults of this machine (a full disk, a damaged file) are in storage's and
// crawler's tests, since no server can cause them.
package hostile

import (
	"slices"
	"strings"
	"sync"
)

// Fixture is one attack. On a server it has a directory of its own, named
// after it, and the page it begins with is that directory's "".
type Fixture struct {
	Line   int    // of the list of attacks: 2 URLs … 12 traps, 13 challenges
	Name   string // lower case, words joined by hyphens
	Attack string // what it does, for people
	// Pages are the answers below its directory, by what follows it in the
	// request target, query included. A name that ends in "*" answers all
	// targets that begin so and have no answer of their own.
	Pages map[string]Answer
	// Want is what an archive must say of URLs, by target below the
	// directory: the state, then the beginning of the reason. "unknown" is a
	// URL that was never discovered.
	Want map[string]string
	// Counts are reasons, by their beginning, that status must count at
	// least so often.
	Counts map[string]int
	// Most is the most requests that a crawl may make of it; 0 is 100.
	Most int
	// Heavy is for what takes a second or a hundred megabytes to serve.
	Heavy bool
	// Slow is for what keeps a crawl waiting: its limits of time decide.
	Slow bool

	// Robots answers for the whole server's robots.txt, so that the fixture
	// cannot share a server with others.
	Robots Answer
	// Sitemaps are targets below the directory that robots.txt names.
	Sitemaps []string
	// Exit is how a crawl of this fixture alone ends, as the command line's
	// exit codes: 0 done, 3 stopped, 4 refused.
	Exit int

	// What the crawl is run with, where it is not the default.
	Cookies    bool // cookies are kept
	Requisites bool // requisites of other hosts are fetched
}

// Answer is what a server does with one request.
type Answer func(c *Conn)

// Dir is the fixture's directory on a server.
func (f *Fixture) Dir() string { return "/" + f.Name + "/" }

// Lines are the names of the list's lines.
var Lines = map[int]string{
	2: "URLs", 3: "Addresses", 4: "Redirects", 5: "Responses", 6: "Bombs", 7: "HTML and CSS",
	8: "robots.txt", 9: "Cookies", 10: "Output", 12: "Traps", 13: "Challenges",
}

// List is every fixture, in the order of the list.
func List() []*Fixture { return slices.Clone(list()) }

var list = sync.OnceValue(func() []*Fixture {
	return slices.Concat(urls(), addresses(), redirects(), responses(), bombs(), documents(), robots(), cookies(),
		output(), traps(), challenges())
})

// Shared are those that one server can serve together.
func Shared() []*Fixture {
	return slices.DeleteFunc(List(), func(f *Fixture) bool { return f.Robots != nil })
}

// Find is the fixture of a name, nil if there is none.
func Find(name string) *Fixture {
	for _, f := range List() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// slowly marks a fixture as slow.
func slowly(f *Fixture) *Fixture {
	f.Slow = true
	return f
}

func rep(s string, n int) string { return strings.Repeat(s, n) }
