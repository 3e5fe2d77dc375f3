package cli

import (
	"fmt"
	"strings"

	"curtsy/internal/legible"
	"curtsy/politeness/rules"
	"curtsy/usage"
)

// robotsFacts is the JSON output for a robots.txt.
type robotsFacts struct {
	CrawlDelay  *float64     `json:"crawl_delay"`
	Sitemaps    []string     `json:"sitemaps"`
	Host        string       `json:"host"` // "" if there is none
	CleanParams []string     `json:"clean_params"`
	RequestRate *requestRate `json:"request_rate"`
	VisitTime   *visitTime   `json:"visit_time"`

	Agent    string          `json:"agent"` // the group that applies; "" if none does
	Groups   []robotsGroup   `json:"groups"`
	Warnings []rules.Warning `json:"warnings"`
	Licenses []string        `json:"licenses"`
}

// robotsGroup is a group as written.
type robotsGroup struct {
	Line       int          `json:"line"`
	Agents     []string     `json:"agents"`
	CrawlDelay *float64     `json:"crawl_delay"` // seconds
	Rules      []rules.Rule `json:"rules"`
	// Usage are its usage lines, Content-Usage and Content-Signal.
	Usage []robotsRemark `json:"usage,omitempty"`
}

// robotsRemark is a line that is not a rule.
type robotsRemark struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

type requestRate struct {
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
}

type visitTime struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

func robotsSummary(r *rules.Robots) robotsFacts {
	f := robotsFacts{Sitemaps: []string{}, CleanParams: []string{}, Agent: r.Verdict("/").Group,
		Groups:   []robotsGroup{},
		Warnings: orEmpty(r.Warnings()), Licenses: usage.Licenses(r.Usage(rules.Location))}
	for _, g := range r.Groups() {
		f.Groups = append(f.Groups, groupFacts(g))
	}
	if d, _, ok := r.CrawlDelay(); ok {
		s := d.Seconds()
		f.CrawlDelay = &s
	}
	for _, s := range r.Sitemaps() {
		f.Sitemaps = append(f.Sitemaps, s.URL)
	}
	f.Host, _, _ = r.Host()
	for _, p := range r.CleanParams() {
		f.CleanParams = append(f.CleanParams, paramText(p))
	}
	if p := r.Pace(); p.RateLine != 0 {
		f.RequestRate = &requestRate{p.Requests, p.Per.Seconds()}
	}
	if v, ok := r.VisitTime(); ok {
		f.VisitTime = &visitTime{clock(v.Start), clock(v.End)}
	}
	return f
}

func groupFacts(g rules.Group) robotsGroup {
	f := robotsGroup{Line: g.Line, Agents: orEmpty(g.Agents), Rules: orEmpty(g.Rules)}
	if d, _, ok := g.CrawlDelay(); ok {
		s := d.Seconds()
		f.CrawlDelay = &s
	}
	for _, r := range g.Usage {
		f.Usage = append(f.Usage, robotsRemark{r.Line, r.Text})
	}
	return f
}

func paramText(p rules.CleanParam) string {
	return strings.TrimSpace(strings.Join(p.Names, "&") + " " + p.Path)
}

// clock formats minutes since midnight like Visit-time.
func clock(minutes int) string { return fmt.Sprintf("%02d%02d", minutes/60, minutes%60) }

// robotsReport prints what the file says, then warnings.
func (u *ui) robotsReport(r *rules.Robots, text robotsText) {
	u.print("%s: %s, %s", text.from, legible.Bytes(int64(len(text.body))), legible.Count(len(r.Groups()), "group"))
	for _, g := range r.Groups() {
		u.robotsGroup(g)
	}
	u.robotsForAgent(r)
	warnings := r.Warnings()
	if len(warnings) == 0 {
		u.print("no warnings")
		return
	}
	u.print("warnings (%d):", len(warnings))
	for _, w := range warnings {
		if w.Line == 0 {
			u.print("  the file: %s", w.Text)
			continue
		}
		u.print("  line %d: %s", w.Line, w.Text)
	}
}

// most is the most items of a list printed for people.
const most = 50

func (u *ui) robotsGroup(g rules.Group) {
	agents := g.Agents
	if len(agents) > most {
		agents = append(append([]string{}, agents[:most]...), fmt.Sprintf("and %d more", len(g.Agents)-most))
	}
	u.print("line %d: group of %s", g.Line, strings.Join(agents, ", "))
	if d, line, ok := g.CrawlDelay(); ok {
		u.print("  line %d: a pause of %v between requests", line, d)
	}
	for _, r := range g.Usage[:min(len(g.Usage), most)] {
		u.print("  line %d: %s", r.Line, r.Text)
	}
	if len(g.Rules) == 0 {
		u.print("  no rules: everything is allowed")
	}
	for i, rule := range g.Rules {
		if i == most {
			u.print("  and %s more", legible.Count(len(g.Rules)-most, "rule"))
			return
		}
		u.print("  line %d: %s", rule.Line, rule.Text)
	}
}

// robotsForAgent prints what applies to the agents, and to the site.
func (u *ui) robotsForAgent(r *rules.Robots) {
	switch v := r.Verdict("/"); {
	case v.Group != "":
		u.print("the group of %s applies to this agent", v.Group)
	case v.Rule != "":
		u.print("%s", v.Rule)
	default:
		u.print("no group names this agent: everything is allowed")
	}
	if d, line, ok := r.CrawlDelay(); ok {
		u.print("pause between requests: %v (line %d)", d, line)
	}
	if p := r.Pace(); p.RateLine != 0 {
		u.print("no more than %s in %v (line %d)", legible.Count(p.Requests, "request"), p.Per, p.RateLine)
	}
	if v, ok := r.VisitTime(); ok {
		u.print("visits from %s to %s UTC only (line %d)", clock(v.Start), clock(v.End), v.Line)
	}
	if h, line, ok := r.Host(); ok {
		u.print("main mirror: %s (line %d)", h, line)
	}
	for _, s := range r.Sitemaps() {
		u.print("sitemap: %s (line %d)", s.URL, s.Line)
	}
	for _, url := range usage.Licenses(r.Usage(rules.Location)) {
		u.print("license: %s", url)
	}
	for _, p := range r.CleanParams() {
		u.print("insignificant parameters: %s (line %d)", paramText(p), p.Line)
	}
}
