package rules

import (
	"strings"

	"curtsy/usage"
)

// UsageRule is a line of a group that says what may be done with what was fetched.
type UsageRule struct {
	Line int
	Text string // the line without comment

	path     string // "" is every path
	by       *usage.Reader
	says     []usage.Statement
	from, to int // which of its group's agents it belongs to
}

// usageRule is one that holds for the agents.
type usageRule struct {
	*UsageRule
	pattern pattern
}

// usage takes a line of a reader in package usage. It is a rule of the agents right
// before it, and ends no list of them: other lines than Allow and Disallow must not
// interfere with those (RFC 9309 §2.2.4).
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
	u := UsageRule{Line: e.line, Text: e.text, path: rule.Path, by: by, says: rule.Says}
	u.from, u.to = p.addressed(g)
	g.Usage = append(g.Usage, u)
}

// addUsage adds the rules that belong to token. No path counts no octets.
func (r *Robots) addUsage(g *Group, token string) {
	for i := range g.Usage {
		u := &g.Usage[i]
		if r.addresses(g.Agents[u.from:u.to], token) {
			r.usage = append(r.usage, usageRule{u, newPattern(u.path, r.options.Dialect)})
		}
	}
}

// Usage is what the file says about the use of target, path and query as they are
// sent. Of each reader only the rules of the longest path that matches apply; a URL
// that may not be fetched has no preferences (draft-ietf-aipref-attach §5).
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

// Matches compares a pattern as those of rules are, with * and a $ at its end, with
// path and query of a URL.
func Matches(path, target string) bool {
	p := newPattern(path, RFC9309)
	return p.text != "" && strings.IndexByte("/*", p.text[0]) >= 0 && p.matches(pathOf(target, RFC9309))
}
