// Package explain says why a URL was or was not fetched and kept: it lists the rules in the
// order in which they were applied.
package explain

import (
	"fmt"
	"slices"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/robotstxt"
	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Explanation is everything that an archive knows of one URL.
type Explanation struct {
	URL       string       `json:"url"`
	Known     bool         `json:"known"` // discovered by the crawl
	State     string       `json:"state"` // "unknown" if Known is false
	Reason    judge.Reason `json:"reason,omitzero"`
	Orphan    bool         `json:"orphan,omitempty"` // known from a sitemap only: no link led to it
	Finds     []Find       `json:"finds,omitempty"`
	Path      []Step       `json:"path,omitempty"` // from the seed
	Decisions []Decision   `json:"decisions"`
	// StandsFor is the URL that Clean-param reduces this one to.
	StandsFor string            `json:"stands_for,omitempty"`
	Visits    []*crawllog.Visit `json:"visits,omitempty"`
	Lookup    crawllog.Lookup   `json:"-"`             // finds the visits of redirect targets
	Due       *Due              `json:"due,omitempty"` // nil: never visited
	// Session is the result of the session cookie check, if it was made with this page; else nil.
	Session *status.Session `json:"session,omitempty"`
}

// Due is when update --auto visits a URL again.
type Due struct {
	At  time.Time `json:"at,omitzero"` // zero: in the next round
	Why string    `json:"why"`
}

// Find is one discovery of a URL.
type Find struct {
	Via    string       `json:"via,omitempty"`
	How    string       `json:"how"`
	Depth  int          `json:"depth"`
	State  string       `json:"state"`
	Reason judge.Reason `json:"reason,omitzero"`
}

// Step is one link of the path from the seed.
type Step struct {
	URL string `json:"url"`
	How string `json:"how"`
}

// Decision is the verdict of one rule of the chain.
type Decision struct {
	Rule   string       `json:"rule"`
	Params judge.Params `json:"params,omitzero"` // set where the rule excludes the URL
	Allow  bool         `json:"allow"`
	Text   string       `json:"text,omitempty"`
	// Decided marks the rule that excludes the URL; later rules were not applied.
	Decided bool `json:"decided,omitempty"`
	// Now is true if the verdict was computed from the present rules, false if it was made
	// during the crawl.
	Now bool `json:"now,omitempty"`
	// Fetched is when the robots.txt behind the decision was fetched.
	Fetched time.Time `json:"fetched,omitzero"`
}

// URL explains why u was or was not fetched and kept. o are the options of the last run.
func URL(dir string, u weburl.URL, o crawler.Options) (x *Explanation, err error) {
	defer storage.Guard(&err)()
	a, f, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	e := &explainer{a: a, f: f, o: o, x: &Explanation{URL: u.String(), State: "unknown"}}
	if _, err := a.Crawl(&e.st); err != nil {
		return nil, err
	}
	if err := e.explain(u); err != nil {
		return nil, err
	}
	return e.x, nil
}

// open opens an archive and its frontier for reading. Closing the archive closes both.
func open(dir string) (a *storage.Archive, f *frontier.Frontier, err error) {
	if a, err = storage.OpenRead(dir); err != nil {
		return nil, nil, err
	}
	if f, err = a.Frontier(); err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, f, nil
}

type explainer struct {
	a  *storage.Archive
	f  *frontier.Frontier
	o  crawler.Options
	st status.State
	x  *Explanation
}

func (e *explainer) explain(u weburl.URL) error {
	found, err := e.f.Find(u)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return e.foresee(u)
	}
	last := found[len(found)-1]
	if s := e.st.Session; s != nil && s.Page == u.String() {
		e.x.Session = s
	}
	e.x.Orphan = e.f.Orphan(u)
	e.x.Known, e.x.State, e.x.Reason = true, last.State.String(), last.Reason
	for _, f := range found {
		via, _ := e.f.Get(f.Via)
		e.x.Finds = append(e.x.Finds, Find{Via: via.URL.String(), How: string(f.How), Depth: f.Depth,
			State: f.State.String(), Reason: f.Reason})
	}
	for _, f := range e.f.Path(last.ID) {
		e.x.Path = append(e.x.Path, Step{f.URL.String(), string(f.How)})
	}
	if e.x.Visits, err = e.a.VisitsOf(last.ID); err != nil {
		return err
	}
	e.x.Lookup = crawllog.Remember(e.a.VisitsAt)
	for _, v := range e.x.Visits {
		crawllog.StandingOf(v, e.x.Lookup) // caches the lookups: Lookup is used again after the archive is closed
	}
	if err := e.due(u, last); err != nil {
		return err
	}
	return e.decided(u, last)
}

// decided lists the verdicts of the chain for a URL that the crawl knows.
func (e *explainer) decided(u weburl.URL, last frontier.Found) error {
	why := judge.Reason{}
	if last.State == frontier.StateDisregarded {
		why = last.Reason
	}
	for _, rule := range judge.Rules() {
		switch {
		case rule == why.Rule:
			e.excluded(why, false)
			if rule != judge.CleanParam {
				return nil
			}
			_, err := e.standsFor(u)
			return err
		case rule == judge.Robots:
			if err := e.asked(u, last); err != nil || len(e.x.Visits) == 0 {
				return err
			}
		default:
			e.passed(rule, u, last.Depth, false)
		}
	}
	return nil
}

// asked adds the robots.txt verdict for a URL that no other rule excluded.
func (e *explainer) asked(u weburl.URL, last frontier.Found) error {
	if last.Class == frontier.Prerequisite {
		e.add(judge.Robots, "/robots.txt itself is always allowed (RFC 9309 §2.2.2)", false)
		return nil
	}
	if len(e.x.Visits) == 0 {
		return e.robots(u)
	}
	if v := e.x.Visits[len(e.x.Visits)-1]; v.Robots != nil {
		e.x.Decisions = append(e.x.Decisions, Decision{Rule: judge.Robots, Allow: true,
			Text: robotstxt.Words(*v.Robots), Fetched: v.Robots.Fetched})
	}
	return nil
}

// passed adds a rule that admits the URL.
func (e *explainer) passed(rule string, u weburl.URL, depth int, now bool) {
	text := ""
	if rule == judge.Host {
		text = e.scopeText(u, depth)
	}
	e.add(rule, text, now)
}

func (e *explainer) add(rule, text string, now bool) {
	e.x.Decisions = append(e.x.Decisions, Decision{Rule: rule, Allow: true, Text: text, Now: now})
}

func (e *explainer) excluded(why judge.Reason, now bool) {
	e.x.Decisions = append(e.x.Decisions, Decision{Rule: why.Rule, Params: why.Params, Text: judge.Detail(why),
		Decided: true, Now: now})
}

func (e *explainer) scopeText(u weburl.URL, depth int) string {
	if !slices.Contains(e.st.Origins, u.Origin()) {
		return "a requisite of a kept page, from another host as the settings allow"
	}
	text := "same scheme, host and port as the seed"
	switch depth {
	case 0:
		return text
	case 1:
		return text + ", 1 link from the seed"
	}
	return fmt.Sprintf("%s, %d links from the seed", text, depth)
}

// foresee applies the chain to a URL that the crawl has not discovered, as far as the URL alone
// decides.
func (e *explainer) foresee(u weburl.URL) error {
	r, from, err := e.inForce(u)
	if err != nil {
		return err
	}
	settings := &judge.Settings{Scope: e.o.Scope, Traps: e.o.Traps}
	settings.Origins = e.st.Origins
	f := &judge.Facts{Settings: settings, Now: time.Now(), Rules: r}
	if r != nil {
		v := r.Verdict(u.Target())
		f.Decision, f.Version = &v, from.Short()
	}
	for _, s := range judge.Walk(&frontier.Link{URL: u, Class: frontier.Page, Depth: 1}, f) {
		switch {
		case s.Rule == judge.Robots:
			return e.robots(u)
		case s.Excludes():
			e.excluded(s.Reason, true)
			if !s.Instead.IsZero() {
				e.x.StandsFor = s.Instead.String()
			}
		default:
			e.passed(s.Rule, u, 1, true)
		}
	}
	return nil
}

// inForce returns the rules last fetched for u's origin; nil if there are none.
func (e *explainer) inForce(u weburl.URL) (*rules.Robots, crawllog.RobotsVersion, error) {
	return robotstxt.InForce(e.a, u.Origin(), e.o.Rules)
}

// standsFor records the URL that Clean-param reduces u to, and returns the directive that did it.
func (e *explainer) standsFor(u weburl.URL) (by *rules.CleanParam, err error) {
	r, _, err := e.inForce(u)
	if err != nil || r == nil {
		return nil, err
	}
	folded, by := r.Fold(u)
	if by != nil {
		e.x.StandsFor = folded.String()
	}
	return by, nil
}

// robots adds the verdict of the rules last fetched.
func (e *explainer) robots(u weburl.URL) error {
	r, from, err := e.inForce(u)
	if err != nil {
		return err
	}
	if r == nil {
		e.add(judge.Robots, "not fetched yet; it will be fetched before this URL", true)
		return nil
	}
	v := robotstxt.Decide(r, &from, u)
	d := Decision{Rule: judge.Robots, Allow: v.Allow, Text: robotstxt.Words(v), Decided: !v.Allow, Now: true,
		Fetched: v.Fetched}
	if !v.Allow {
		d.Params = robotstxt.Denial(v).Params
	}
	e.x.Decisions = append(e.x.Decisions, d)
	return nil
}
