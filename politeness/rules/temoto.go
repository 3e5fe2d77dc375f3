package rules

import (
	"strings"
	"sync"

	"github.com/temoto/robotstxt"
)

// Bounds of what temoto/robotstxt is asked: its regular expressions take time
// in stars times octets. Beyond them pattern.matches, which is linear, decides
// alone.
const (
	maxStars     = 16
	maxAskedPath = 2048
	maxCompiled  = 128 // groups kept compiled for one robots.txt
)

// sentinel anchors a pattern at the first octet of a path: temoto's regular
// expressions are not anchored, and no path in the common form holds a '|' (it
// is %7C).
const sentinel = "/|"

// secondReader has temoto/robotstxt match one pattern at a time, beside
// pattern.matches. A pattern is compiled when it is first asked about.
type secondReader struct {
	mu     sync.Mutex
	groups map[string]*robotstxt.Group
	// match is temoto's answer; a test puts another in its place.
	match func(p *pattern, path string) bool
}

// differs says how the two matchers read a rule for a path.
func (r *rule) differs(path string) string {
	if r.pattern.matches(path) {
		return "temoto/robotstxt does not match " + r.text
	}
	return "only temoto/robotstxt matches " + r.text
}

// holds says whether a rule holds for a path: a Disallow where either matcher
// matches, an Allow only where both do. What the two differ in is no licence.
func (s *secondReader) holds(r *rule, path string) (holds, differs bool) {
	ours := r.pattern.matches(path)
	if !r.pattern.wantsSecond(path) {
		return ours, false
	}
	match := s.match
	if match == nil {
		match = s.matches
	}
	theirs := match(&r.pattern, path)
	if r.allow {
		return ours && theirs, ours != theirs
	}
	return ours || theirs, ours != theirs
}

// confirms says whether temoto matches too, where it is asked.
func (s *secondReader) confirms(p *pattern, path string) bool {
	return !p.wantsSecond(path) || s.matches(p, path)
}

// wantsSecond says whether a second reading can differ. A mere prefix is the
// same to both, and no reading matches a path that lacks a piece of the pattern.
func (p *pattern) wantsSecond(path string) bool {
	if p.literal() || !strings.HasPrefix(path, p.text[:p.star]) || len(path) > maxAskedPath || p.stars > maxStars {
		return false
	}
	for piece := range strings.SplitSeq(p.text, "*") {
		if !strings.Contains(path, piece) {
			return false
		}
	}
	return true
}

// matches asks temoto whether the pattern matches a path.
func (s *secondReader) matches(p *pattern, path string) bool {
	g := s.group(p)
	if g == nil {
		return p.matches(path)
	}
	return !g.Test(sentinel + path)
}

// group is a robots.txt of one Disallow rule, as temoto reads it.
func (s *secondReader) group(p *pattern) *robotstxt.Group {
	rule := sentinel + p.text
	if p.end {
		rule += "$"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, ok := s.groups[rule]; ok {
		return g
	}
	data, err := robotstxt.FromString("User-agent: *\nDisallow: " + rule + "\n")
	if err != nil {
		return nil
	}
	if s.groups == nil || len(s.groups) >= maxCompiled {
		s.groups = make(map[string]*robotstxt.Group)
	}
	g := data.FindGroup("*")
	s.groups[rule] = g
	return g
}
