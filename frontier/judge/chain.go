package judge

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
)

// Point is a point of a link's way at which rules are asked.
type Point uint8

// Points, which a rule may combine.
const (
	Found Point = 1 << iota
	Compared
	Offered
	Added
	Taken
	Asked // taken, and in scope since the crawl itself asks for it
	Answered
)

// kind says whose will a rule is.
type kind uint8

// Kinds of rules.
const (
	ofSite  kind = iota // what the site asks for
	ofScope             // what the crawl was set to
	ofTrap              // a bound on what a site can make a crawl fetch
)

// rule is one reason to leave a link out.
type rule struct {
	Name string
	Kind kind
	At   Point
	// Judge decides; the zero Verdict has nothing against the link.
	Judge func(l *Link, f *Facts) Verdict
	// Budget stands in the place of Judge where a rule lets so many URLs of a
	// shape through.
	Budget func(l *Link, f *Facts) Budget
	// Still says whether what this rule held back before is held back with
	// the settings of now, for one that needs more than the link to judge it.
	Still func(r Reason, s *Settings) bool
}

// Verdict is what a rule says of a link.
type Verdict struct {
	Reason Reason
	// Late lets the link through when what is not late is done.
	Late bool
	// Soft excludes this link and not its URL: another may lead there.
	Soft bool
	// Instead is the URL that stands for the link's.
	Instead weburl.URL
}

// Excludes says whether the link is not to be fetched.
func (v Verdict) Excludes() bool { return !v.Reason.IsZero() }

// Budget is how many URLs of a shape are let through. The zero Budget is for
// URLs that count against none.
type Budget struct {
	Shape string // what the URLs that share the budget have in common
	Limit int
	Late  bool // all that count against it are late
}

// Facts are what rules know besides the link.
type Facts struct {
	*Settings
	Now      time.Time
	Page     PageFacts
	Rules    *rules.Robots  // of the link's host, for Clean-param; nil where unknown
	Decision *rules.Verdict // of the robots.txt in force; nil where none was asked
	Version  string         // of that robots.txt
	Memory   Memory         // what the frontier counts; nil where nothing is counted
	// Guessed is how many literals in scripts of a shape were asked for, and how many
	// were there; nil where that is not known.
	Guessed func(shape string) (asked, there int)
	Answer  Answer // what its head says; zero before
}

// Answer is what the head of an answer says of its body.
type Answer struct {
	Type   string // Content-Type
	Length int64  // Content-Length; below 0 where it is not told
}

// PageFacts are those of the page on which a link stands.
type PageFacts struct {
	NoFollow     bool // it asks that its links are not followed
	RelNoFollow  bool // the link itself does
	SameBody     bool // too many pages had the same body
	SoftNotFound bool // it looks like the site's "not found"
}

// Memory is what rules may know of the URLs that came before.
type Memory interface {
	// Count is how many URLs there are of a shape, this one among them.
	Count(shape string) int
	// Counted is how many there were before.
	Counted(shape string) int
	// Shortest says whether a length is less than all that were given for
	// the name before.
	Shortest(name string, length int) bool
	// Discovered is how many URLs there are.
	Discovered() int
	// Twin says whether the URL of this form is known, or another of it was let through.
	Twin(l *Link, form string) bool
}

// Rules are the names of the rules, in the order in which they are asked.
func Rules() (names []string) {
	for i := range chain {
		names = append(names, chain[i].Name)
	}
	return names
}

// Decide asks the rules of a point, in order; the first that has something
// against the link decides. A rule that panics over a link excludes it, by Internal:
// the goroutines that ask serve all links, and would meet this one in the next run.
func Decide(at Point, l *Link, f *Facts) (v Verdict) {
	late, rule := false, ""
	defer broken(&rule, &v)
	for i := range chain {
		if chain[i].At&at == 0 {
			continue
		}
		rule = chain[i].Name
		v := chain[i].ask(l, f)
		if v.Excludes() {
			return v
		}
		late = late || v.Late
	}
	return Verdict{Late: late}
}

// Step is what one rule says.
type Step struct {
	Rule string
	Verdict
}

// Walk asks every rule, whatever the point, until one excludes the link.
func Walk(l *Link, f *Facts) (steps []Step) {
	ask := func(r *rule) (v Verdict) {
		defer broken(&r.Name, &v)
		return r.ask(l, f)
	}
	for i := range chain {
		s := Step{chain[i].Name, ask(&chain[i])}
		steps = append(steps, s)
		if s.Excludes() {
			break
		}
	}
	return steps
}

// broken is deferred where a rule is asked: a panic is its verdict.
func broken(rule *string, v *Verdict) {
	cause := recover()
	if cause == nil {
		return
	}
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if more && (!strings.HasPrefix(frame.Function, "curtsy/") || frame.File == "<autogenerated>") {
			continue
		}
		*v = excludes(Internal, Params{Text: fmt.Sprintf("%s: %v (%s:%d)", *rule, cause, filepath.Base(frame.File),
			frame.Line)})
		return
	}
}

func (r *rule) ask(l *Link, f *Facts) Verdict {
	if r.Budget == nil {
		return r.Judge(l, f)
	}
	b := r.Budget(l, f)
	if b.Limit <= 0 || f.Memory == nil || f.Memory.Count(r.Name+" "+b.Shape) <= b.Limit {
		return Verdict{Late: b.Late}
	}
	return excludes(r.Name, Params{Limit: b.Limit})
}

// excludes is the verdict of a rule that has something against a URL.
func excludes(rule string, p Params) Verdict { return Verdict{Reason: Reason{rule, p}} }

// excludesIf is the same where that holds; else the rule has nothing against it.
func excludesIf(holds bool, rule string, p Params) Verdict {
	if !holds {
		return Verdict{}
	}
	return excludes(rule, p)
}

// softIf makes a verdict that excludes one on the link and not on its URL.
func (v Verdict) softIf(soft bool) Verdict {
	v.Soft = soft && v.Excludes()
	return v
}

// Again says whether a link that a rule held back in an earlier run may pass
// with the settings of now, as far as the link alone tells.
func Again(l *Link, f *Facts) bool {
	r := ruleOf(l.Reason.Rule)
	if r == nil || r.Kind == ofSite || r.Still != nil && r.Still(l.Reason, f.Settings) {
		return false
	}
	return !Decide(Found, l, f).Excludes()
}

// BudgetOf is the budget of the named rule that a URL counts against.
func BudgetOf(rule string, l *Link, s *Settings) (b Budget, ok bool) {
	r := ruleOf(rule)
	if r == nil || r.Budget == nil {
		return Budget{}, false
	}
	return r.Budget(l, &Facts{Settings: s}), true
}

func ruleOf(name string) *rule {
	for i := range chain {
		if chain[i].Name == name {
			return &chain[i]
		}
	}
	return nil
}
