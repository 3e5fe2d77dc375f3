package rules

import (
	"slices"
	"strings"
)

// choose selects the groups for the agents and sorts their rules. All groups for the first token that is
// named are combined; if none is named, all groups of "*" are. The two are never mixed (RFC 9309 §2.2.1).
// In the Yandex dialect, Yandex's robots also obey groups for "Yandex" if they are not named themselves.
func (r *Robots) choose() {
	tokens := slices.DeleteFunc(slices.Clone(r.options.Agents), func(a string) bool { return a == "" || a == "*" })
	isYandex := func(a string) bool { return len(a) >= 6 && strings.EqualFold(a[:6], "yandex") }
	if r.options.Dialect == Yandex && slices.ContainsFunc(tokens, isYandex) {
		tokens = append(tokens, "Yandex")
	}
	for _, token := range append(tokens, "*") {
		if r.take(token) {
			return
		}
	}
}

// take collects the rules for token; false if no group names it.
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
			break // only the first matching record
		}
	}
	if found {
		slices.SortStableFunc(r.rules, byPrecedence)
		slices.SortStableFunc(r.usage, func(a, b UsageRule) int { return b.pattern.octets - a.pattern.octets })
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

// usable reports whether a rule can match: its path begins with a slash or star. An empty path is not a
// rule; a group with nothing else allows everything.
func usable(w *Rule, d Dialect) bool {
	return strings.HasPrefix(w.Path, "/") || d != Classic1994 && strings.HasPrefix(w.Path, "*")
}

// addLimits adds the limits for token.
func (r *Robots) addLimits(g *Group, token string) {
	for _, l := range g.limits {
		if !r.addresses(g.Agents[l.from:l.to], token) {
			continue
		}
		if r.pace.Visit != nil {
			l.Visit = nil // the first one applies
		}
		r.pace = r.pace.And(l.Rules)
	}
}

// addresses reports whether one of the user-agent values means token.
func (r *Robots) addresses(agents []string, token string) bool {
	return slices.ContainsFunc(agents, func(value string) bool { return names(value, token, r.options.Dialect) })
}

// names reports whether a user-agent value means token.
func names(value, token string, d Dialect) bool {
	if d == Classic1994 {
		return names1994(value, token)
	}
	if token == "*" {
		return value == "*" || len(value) > 1 && value[0] == '*' && strings.IndexByte(blanks, value[1]) >= 0
	}
	return strings.EqualFold(productToken(value), token) || beginsWithName(value, token)
}

// beginsWithName reports whether value begins with a token that RFC 9309 does not allow (MJ12bot), alone or
// followed by a version or other text.
func beginsWithName(value, token string) bool {
	if token == "" || strings.ContainsAny(token, blanks) || len(value) < len(token) ||
		!strings.EqualFold(value[:len(token)], token) {
		return false
	}
	rest := value[len(token):]
	return productToken(token) != token && (rest == "" || strings.IndexByte(blanks+"/;,(", rest[0]) >= 0)
}

// productToken returns the significant part of a user-agent value: letters, '-' and '_'. Text after it is
// ignored (RFC 9309 §2.2.1).
func productToken(value string) string {
	for i := 0; i < len(value); i++ {
		c := value[i] | 0x20
		if (c < 'a' || c > 'z') && value[i] != '-' && value[i] != '_' {
			return value[:i]
		}
	}
	return value
}
