package rules

import (
	"strings"
	"sync"

	"github.com/temoto/robotstxt"
)

// Bounds of what temoto/robotstxt is asked: its regexps take time in stars
// times octets. Beyond them pattern.matches, which is linear, decides alone.
const (
	maxStars     = 16
	maxAskedPath = 2048
	maxCompiled  = 128 // groups kept compiled for one robots.txt
)

// sentinel anchors a pattern at the first octet of a path: temoto's regexps
// are not anchored, and no path in the common form holds a '|' (it is %7C).
const sentinel = "/|"

// asker has temoto/robotstxt match one pattern at a time. A pattern is
// compiled when it is first asked about.
type asker struct {
	mu     sync.Mutex
	groups map[string]*robotstxt.Group
}

// confirms asks temoto whether the pattern holds for a path.
func (a *asker) confirms(p *pattern, path string) bool {
	if len(path) > maxAskedPath || strings.Count(p.text, "*") > maxStars {
		return true
	}
	g := a.group(p)
	return g == nil || !g.Test(sentinel+path)
}

// group is a robots.txt of one Disallow rule, as temoto reads it.
func (a *asker) group(p *pattern) *robotstxt.Group {
	rule := sentinel + p.text
	if p.end {
		rule += "$"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if g, ok := a.groups[rule]; ok {
		return g
	}
	data, err := robotstxt.FromString("User-agent: *\nDisallow: " + rule + "\n")
	if err != nil {
		return nil
	}
	if a.groups == nil || len(a.groups) >= maxCompiled {
		a.groups = make(map[string]*robotstxt.Group)
	}
	g := data.FindGroup("*")
	a.groups[rule] = g
	return g
}
