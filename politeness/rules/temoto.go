package rules

import (
	"strings"
	"sync"

	"github.com/temoto/robotstxt"
)

// Bounds for temoto/robotstxt, whose regular expressions take time proportional to stars times octets.
// Beyond them pattern.matches, which is linear, decides alone.
const (
	maxStars     = 16
	maxAskedPath = 2048
	maxCompiled  = 128 // compiled groups kept per robots.txt
)

// sentinel anchors a pattern at the beginning of a path: temoto's regular expressions are not anchored, and
// no normalized path contains a '|' (it is %7C).
const sentinel = "/|"

// secondReader matches patterns with temoto/robotstxt, besides pattern.matches. Patterns are compiled when
// first used.
type secondReader struct {
	mu     sync.Mutex
	groups map[string]*robotstxt.Group
	// match replaces temoto in a test; nil is temoto.
	match func(p *pattern, path string) bool
}

// differs says how the two matchers differ on a rule for a path.
func (r *rule) differs(path string) string {
	if r.pattern.matches(path) {
		return "temoto/robotstxt does not match " + r.text
	}
	return "only temoto/robotstxt matches " + r.text
}

// holds reports whether a rule applies to a path: a Disallow if either matcher matches, an Allow only if
// both do, so that a difference never allows a URL.
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

// wantsSecond reports whether temoto may differ. It cannot for a plain prefix, nor for a path that lacks a
// piece of the pattern.
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

// matches reports whether temoto matches the pattern.
func (s *secondReader) matches(p *pattern, path string) bool {
	g := s.group(p)
	if g == nil {
		return p.matches(path)
	}
	return !g.Test(sentinel + path)
}

// group returns a compiled robots.txt with one Disallow rule.
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
