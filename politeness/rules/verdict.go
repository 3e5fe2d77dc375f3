package rules

import "cmp"

// Verdict is what the file says of one URL, and which line says it.
type Verdict struct {
	Allow bool
	Line  int    // of the rule that decided; 0: no rule did
	Rule  string // the line as written, "" if no rule decided
	Group string // value of the user-agent line that chose the group, "" if none
	// Differs says how pattern.matches and temoto/robotstxt read the first rule on the
	// way that they read differently; "" if there is none.
	Differs string
}

// rule is a rule of a group that holds for the agents.
type rule struct {
	pattern pattern
	needs   [2]uint16 // grams
	allow   bool
	line    int
	text    string
	group   string
}

// byPrecedence puts the rule with the most octets first and Allow before
// Disallow (RFC 9309 §2.2.2). That is Yandex's order as well, read backwards.
func byPrecedence(a, b rule) int {
	if c := cmp.Compare(b.pattern.octets, a.pattern.octets); c != 0 || a.allow == b.allow {
		return c
	}
	if a.allow {
		return -1
	}
	return 1
}

// Verdict says whether target, path and query as they are sent, may be
// fetched. Of the rules in their order the first that holds decides; each
// pattern that could is put to two matchers (temoto.go).
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
		have = new(grams) // on the stack
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
