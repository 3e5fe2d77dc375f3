package rules

import (
	"slices"
	"strings"
)

// Only in the standard of 1994: a blank line ends a record, a line may have several values, and names
// match partially.

// dropEmpty drops a record of the 1994 standard without a Disallow, which it must have.
func (p *parser) dropEmpty() {
	g := p.group()
	if p.d != Classic1994 || g == nil || len(g.Rules) > 0 || len(g.limits) > 0 || len(g.Usage) > 0 {
		return
	}
	p.r.warn(g.Line, "a record without Disallow: not a record in the 1994 standard")
	p.r.groups = p.r.groups[:len(p.r.groups)-1]
	p.open = false
}

// addClassic adds a Disallow line of the 1994 standard, which may contain several paths.
func addClassic(g *Group, e entry) {
	paths := strings.Fields(e.value)
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		g.Rules = append(g.Rules, Rule{Line: e.line, Path: path, Text: e.text})
	}
}

// names1994 is the liberal match of the 1994 standard: a case-insensitive substring match without version
// information. Either name may be part of the other.
func names1994(value, token string) bool {
	if token == "*" {
		return slices.Contains(strings.Fields(value), "*")
	}
	token, _, _ = strings.Cut(strings.ToLower(token), "/")
	value = strings.ToLower(value)
	if len(token) >= minPartial && strings.Contains(value, token) {
		return true
	}
	return slices.ContainsFunc(strings.Fields(value), func(word string) bool {
		word, _, _ = strings.Cut(word, "/")
		return word != "" && word == token || len(word) >= minPartial && strings.Contains(token, word)
	})
}

// minPartial is the least length of a partial name: one or two letters occur in every name.
const minPartial = 3
