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

// Point is a point in the life of a link at which rules are applied.
type Point uint8

// Points; a rule may combine several.
const (
	Found Point = 1 << iota
	Compared
	Offered
	Added
	Taken
	Asked // like Taken, for URLs that the crawl itself asks for, which are in scope
	Answered
)

// kind says on whose behalf a rule decides.
type kind uint8

// Kinds of rules.
const (
	ofSite  kind = iota // the site's wishes
	ofScope             // the settings of the crawl
	ofTrap              // a bound on what a site can make a crawl fetch
)

// rule is one reason to exclude a link.
type rule struct {
	Name string
	Kind kind
	At   Point
	// Judge decides; the zero Verdict admits the link.
	Judge func(l *Link, f *Facts) Verdict
	// Budget replaces Judge for a rule that admits a number of URLs per shape.
	Budget func(l *Link, f *Facts) Budget
	// Still reports whether the present settings still exclude a URL that the rule excluded
	// before. It is set for rules that cannot judge the link alone.
	Still func(r Reason, s *Settings) bool
}

// Verdict is the decision of a rule on a link.
type Verdict struct {
	Reason Reason
	// Late admits the link, but after all that is not late.
	Late bool
	// Soft excludes this link only, not its URL: another link may lead there.
	Soft bool
	// Instead is the URL to fetch in place of the link's.
	Instead weburl.URL
}

// Excludes reports whether the link must not be fetched.
func (v Verdict) Excludes() bool { return !v.Reason.IsZero() }

// Budget is how many URLs of a shape are admitted. The zero Budget has no limit.
type Budget struct {
	Shape string // what the URLs that share the budget have in common
	Limit int
	Late  bool // all URLs that count against it are late
}

// Facts are what rules know besides the link.
type Facts struct {
	*Settings
	Now      time.Time
	Page     PageFacts
	Rules    *rules.Robots  // rules of the link's origin, for Clean-param; nil if unknown
	Decision *rules.Verdict // decision of the robots.txt in force; nil if it was not consulted
	Version  string         // version of that robots.txt
	Memory   Memory         // the frontier's counts; nil if nothing is counted
	// Guessed returns how many URLs guessed from script literals of a shape were requested, and
	// how many of them existed; nil if that is not known.
	Guessed func(shape string) (asked, there int)
	Answer  Answer // from the response head; zero before
}

// Answer is what a response head says about the body.
type Answer struct {
	Type   string // Content-Type
	Length int64  // Content-Length; negative if absent
}

// PageFacts concern the page with the link.
type PageFacts struct {
	NoFollow     bool // the page asks that its links not be followed
	RelNoFollow  bool // the link itself has rel=nofollow
	SameBody     bool // too many pages had the same body
	SoftNotFound bool // it looks like the site's "not found" page
}

// Memory is what rules may know of earlier URLs.
type Memory interface {
	// Count adds one URL of a shape and returns their number.
	Count(shape string) int
	// Counted returns the number of URLs of a shape so far.
	Counted(shape string) int
	// Shortest reports whether length is less than all lengths passed for the name before, and
	// remembers it.
	Shortest(name string, length int) bool
	// Discovered returns the number of URLs.
	Discovered() int
	// Twin reports whether the URL of this form is known, or another URL of it was admitted.
	Twin(l *Link, form string) bool
}

// Rules returns the names of the rules, in the order in which they are applied.
func Rules() (names []string) {
	for i := range chain {
		names = append(names, chain[i].Name)
	}
	return names
}

// Decide applies the rules of a point in order; the first that excludes the link decides. A rule that
// panics excludes the link with Internal: the calling goroutines serve all links, and the panic would
// recur in the next run.
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

// Step is the verdict of one rule.
type Step struct {
	Rule string
	Verdict
}

// Walk applies every rule, whatever its point, until one excludes the link.
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

// broken is deferred while a rule is applied: it turns a panic into a verdict.
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

// excludes returns a verdict that excludes a URL.
func excludes(rule string, p Params) Verdict { return Verdict{Reason: Reason{rule, p}} }

// excludesIf returns such a verdict if holds is true, else the zero Verdict.
func excludesIf(holds bool, rule string, p Params) Verdict {
	if !holds {
		return Verdict{}
	}
	return excludes(rule, p)
}

// softIf makes a verdict that excludes a soft one, if soft is true.
func (v Verdict) softIf(soft bool) Verdict {
	v.Soft = soft && v.Excludes()
	return v
}

// Again reports whether a link that a rule excluded in an earlier run may pass with the present
// settings, as far as the link alone tells.
func Again(l *Link, f *Facts) bool {
	r := ruleOf(l.Reason.Rule)
	if r == nil || r.Kind == ofSite || r.Still != nil && r.Still(l.Reason, f.Settings) {
		return false
	}
	return !Decide(Found, l, f).Excludes()
}

// BudgetOf returns the budget of the named rule against which a URL counts.
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
