package rules

import "cmp"

// Verdict is the decision on one URL, and the line behind it.
type Verdict struct {
	Allow bool
	Line  int    // of the deciding rule; 0: no rule decided
	Rule  string // the line as written; "" if no rule decided
	Group string // user-agent value that selected the group; "" if none
	// Differs describes the first difference between pattern.matches and temoto/robotstxt; "" if
	// there is none.
	Differs string
}

// rule is a rule that applies to the agents.
type rule struct {
	pattern pattern
	needs   [2]uint16 // grams
	allow   bool
	line    int
	text    string
	group   string
}

// byPrecedence sorts rules by falling length, Allow before Disallow (RFC 9309 §2.2.2). That is equivalent to
// Yandex's order, reversed.
func byPrecedence(a, b rule) int {
	if c := cmp.Compare(b.pattern.octets, a.pattern.octets); c != 0 || a.allow == b.allow {
		return c
	}
	if a.allow {
		return -1
	}
	return 1
}

// Verdict decides whether target, path and query as sent, may be fetched. The first matching rule in order
// of precedence decides; patterns may be matched with two matchers (temoto.go).
func (r *Robots) Verdict(target string) Verdict {
	path := pathOf(target, r.options.Dialect)
	switch {
	case path == Location:
		return Verdict{Allow: true, Group: r.chosen}
	case r.all != 0:
		return Verdict{Allow: r.all == allAllowed, Rule: r.why}
	}
	var have *grams
	if len(r.rules) >= manyRules {
		have = new(grams) // stays on the stack
		have.fill(path)
	}
	difference := ""
	for i := range r.rules {
		rule := &r.rules[i]
		if have != nil && have.lack(rule.needs) {
			continue
		}
		holds, differs := r.second.holds(rule, path)
		if differs && difference == "" {
			difference = rule.differs(path)
		}
		if holds {
			return Verdict{Allow: rule.allow, Line: rule.line, Rule: rule.text, Group: rule.group, Differs: difference}
		}
	}
	return Verdict{Allow: true, Group: r.chosen, Differs: difference}
}
