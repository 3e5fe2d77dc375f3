package rules

import (
	"slices"
	"strings"
)

// choose finds the groups that hold for the agents and sorts their rules. All
// groups of the first token that any group names add up; where none is named,
// all groups of "*" do. The two never mix (RFC 9309 §2.2.1).
func (r *Robots) choose() {
	for _, token := range append(r.tokens(), "*") {
		if r.take(token) {
			return
		}
	}
}

// tokens are the agents; in the Yandex dialect its robots also answer to
// "Yandex", where they are not named themselves.
func (r *Robots) tokens() []string {
	var out []string
	for _, a := range r.options.Agents {
		if a == "" || a == "*" {
			continue
		}
		out = append(out, a)
	}
	if r.options.Dialect != Yandex {
		return out
	}
	for _, a := range out {
		if len(a) >= 6 && strings.EqualFold(a[:6], "yandex") {
			return append(out, "Yandex")
		}
	}
	return out
}

// take collects what the file says to token; false if it is named nowhere.
func (r *Robots) take(token string) bool {
	found := false
	for i := range r.groups {
		g := &r.groups[i]
		at := slices.IndexFunc(g.Agents, func(value string) bool { return names(value, token, r.options.Dialect) })
		if at < 0 {
			continue
		}
		if !found {
			r.chosen = g.Agents[at]
		}
		found = true
		r.addRules(g, g.Agents[at])
		r.addLimits(g, token)
		r.addUsage(g, token)
		if r.options.Dialect == Classic1994 {
			break // the first matching record alone
		}
	}
	if found {
		slices.SortStableFunc(r.rules, byPrecedence)
		slices.SortStableFunc(r.usage, func(a, b usageRule) int { return b.pattern.octets - a.pattern.octets })
		r.capDelay()
	}
	return found
}

func (r *Robots) addRules(g *Group, agent string) {
	r.rules = slices.Grow(r.rules, len(g.Rules))
	for i := range g.Rules {
		w := &g.Rules[i]
		if usable(w, r.options.Dialect) {
			p := newPattern(w.Path, r.options.Dialect)
			r.rules = append(r.rules, rule{pattern: p, needs: p.needs(), allow: w.Allow, line: w.Line,
				text: w.Text, group: agent})
		}
	}
}

// usable says whether a rule can match at all: a path begins with a slash.
// An empty path is no rule; where it is all that a group has, all is allowed.
func usable(w *Rule, d Dialect) bool {
	return strings.HasPrefix(w.Path, "/") || d != Classic1994 && strings.HasPrefix(w.Path, "*")
}

// addLimits adds the limits that belong to token.
func (r *Robots) addLimits(g *Group, token string) {
	for _, l := range g.limits {
		if !r.addresses(g.Agents[l.from:l.to], token) {
			continue
		}
		if r.pace.Visit != nil {
			l.Visit = nil // the first holds
		}
		r.pace = r.pace.And(l.Rules)
	}
}

// addresses says whether one of the values of user-agent lines means token.
func (r *Robots) addresses(agents []string, token string) bool {
	return slices.ContainsFunc(agents, func(value string) bool { return names(value, token, r.options.Dialect) })
}

// names says whether the value of a user-agent line means token.
func names(value, token string, d Dialect) bool {
	if d == Classic1994 {
		return names1994(value, token)
	}
	if token == "*" {
		return value == "*" || len(value) > 1 && value[0] == '*' && strings.IndexByte(blanks, value[1]) >= 0
	}
	return strings.EqualFold(productToken(value), token) || beginsWithName(value, token)
}

// beginsWithName says whether value is a token that RFC 9309 has no room for
// (MJ12bot), alone or with a version or other text behind it.
func beginsWithName(value, token string) bool {
	if token == "" || strings.ContainsAny(token, blanks) || len(value) < len(token) ||
		!strings.EqualFold(value[:len(token)], token) {
		return false
	}
	rest := value[len(token):]
	return productToken(token) != token && (rest == "" || strings.IndexByte(blanks+"/;,(", rest[0]) >= 0)
}

// productToken is what of a user-agent line counts: letters, '-' and '_';
// text after it is ignored (RFC 9309 §2.2.1).
func productToken(value string) string {
	for i := 0; i < len(value); i++ {
		c := value[i] | 0x20
		if (c < 'a' || c > 'z') && value[i] != '-' && value[i] != '_' {
			return value[:i]
		}
	}
	return value
}
