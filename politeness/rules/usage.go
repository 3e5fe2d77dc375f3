package rules

import (
	"strings"

	"curtsy/usage"
)

// UsageRule is a line of a group about the use of fetched content.
type UsageRule struct {
	Line int
	Text string // the line without comment

	pattern  pattern // of no octets: every path
	by       *usage.Reader
	says     []usage.Statement
	from, to int // indices of the group's agents that it belongs to
}

// usage processes a line for a reader in package usage. It belongs to the agents just before it and does not
// end their list: lines other than Allow and Disallow must not interfere with groups (RFC 9309 §2.2.4).
func (p *parser) usage(e entry) {
	by := usage.OfField(e.name)
	rule := by.Line(e.value, e.text, e.line)
	if rule.Doubt != "" {
		p.r.warn(e.line, "%s %s: %s", by.Name, quote(e.value), rule.Doubt)
	}
	if rule.Alone {
		p.r.stated = append(p.r.stated, rule.Says...)
		return
	}
	g := p.group()
	if g == nil {
		p.r.warn(e.line, "%s before any user-agent line: ignored", by.Name)
		return
	}
	if strings.Count(rule.Path, "*") > maxStars {
		p.r.warn(e.line, "%s has more than %d stars in its path: ignored", by.Name, maxStars)
		return
	}
	u := UsageRule{Line: e.line, Text: e.text, pattern: newPattern(rule.Path, p.d), by: by, says: rule.Says}
	u.from, u.to = p.addressed(g)
	g.Usage = append(g.Usage, u)
}

// addUsage adds the rules for token.
func (r *Robots) addUsage(g *Group, token string) {
	for _, u := range g.Usage {
		if r.addresses(g.Agents[u.from:u.to], token) {
			r.usage = append(r.usage, u)
		}
	}
}

// Usage returns the statements on the use of target, path and query as sent. Of each reader only the rules
// with the longest matching path apply. A URL that may not be fetched has no preferences
// (draft-ietf-aipref-attach §5).
func (r *Robots) Usage(target string) (list []usage.Statement) {
	if len(r.usage) > 0 && r.Verdict(target).Allow {
		longest := map[*usage.Reader]int{}
		path := pathOf(target, r.options.Dialect)
		for i := range r.usage {
			u := &r.usage[i]
			octets, known := longest[u.by]
			if known && octets > u.pattern.octets || !u.pattern.matches(path) {
				continue
			}
			longest[u.by] = u.pattern.octets
			list = append(list, u.says...)
		}
	}
	return usage.Bound(append(list, r.stated...))
}

// Matches reports whether a pattern as in rules, with * and a final $, matches path and query of a URL.
func Matches(path, target string) bool {
	p := newPattern(path, RFC9309)
	return p.text != "" && strings.IndexByte("/*", p.text[0]) >= 0 && p.matches(pathOf(target, RFC9309))
}
