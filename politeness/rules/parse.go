package rules

import (
	"curtsy/politeness"
	"curtsy/usage"
)

// Robots is a robots.txt interpreted for the agents. It is immutable after Parse and safe for concurrent
// use.
type Robots struct {
	options  Options
	all      int    // allAllowed or allDenied: there are no lines
	why      string // the reason for all
	groups   []Group
	chosen   string // user-agent value that selected the group; "" if none
	rules    []rule // rules for the agents, by precedence
	pace     politeness.Rules
	sitemaps []Sitemap
	host     string // of the first valid Host line
	hostLine int    // 0: there is none
	params   cleanParams
	usage    []UsageRule       // for the agents, longest path first
	stated   []usage.Statement // statements that belong to no group
	warnings []Warning
	cut      bool // the file is longer than maxBytes
	second   secondReader
}

const (
	allAllowed = 1 + iota
	allDenied
)

// Sitemap is a Sitemap line; it belongs to no group.
type Sitemap struct {
	URL  string // as written
	Line int
}

// Group is a group of the file, whether or not it applies to the agents (RFC 9309 §2.2.1).
type Group struct {
	Line   int      // of its first user-agent line
	Agents []string // as written
	Rules  []Rule
	Usage  []UsageRule
	limits []limit
}

// Rule is an Allow or Disallow line.
type Rule struct {
	Line  int    `json:"line"`
	Allow bool   `json:"allow"`
	Path  string `json:"-"`    // as written; "" is not a rule
	Text  string `json:"rule"` // the line without comment
}

// parser builds groups from entries. Rules before the first group are ignored (RFC 9309 §2.2.1).
type parser struct {
	r      *Robots
	d      Dialect
	open   bool            // lines belong to a group
	inList bool            // only user-agent lines, and lines that do not end their list, since the group began
	run    int             // index of the first agent of the last run of user-agent lines
	broken bool            // a limit has ended that run
	seen   map[string]bool // sitemap URLs
}

// Parse parses a robots.txt. It never fails: lines that cannot be parsed are skipped (RFC 9309 §2.2) and
// listed by Warnings.
func Parse(body []byte, o Options) *Robots {
	r := &Robots{options: o, params: cleanParams{by: map[string][]uint16{}}}
	if o.Dialect == Yandex {
		if why := notForYandex(body); why != "" {
			r.all, r.why = allAllowed, why
			r.warn(0, "%s: Yandex reads it as allowing everything", why)
			return r
		}
	}
	p := &parser{r: r, d: o.Dialect, seen: map[string]bool{}}
	p.read(body)
	r.choose()
	return r
}

// notForYandex says why Yandex treats a file as allowing everything; "" if it does not.
func notForYandex(body []byte) string {
	switch {
	case len(body) > maxYandexBytes:
		return "the file is over 32 KiB"
	case binary(body):
		return "the file is not text"
	}
	return ""
}

func (p *parser) read(body []byte) {
	t := newText(body)
	if t.charset != "" {
		p.r.warn(0, "the file is %s; RFC 9309 wants UTF-8", t.charset)
	}
	if p.r.cut = t.cut; t.cut {
		p.r.warn(0, "the file is over 500 KiB (%d bytes): the rest is ignored", len(body))
	}
	for {
		line, long, ok := t.next()
		if !ok {
			break
		}
		if long {
			p.r.warn(t.line, "over %d bytes: the rest of the line is ignored", maxLine)
		}
		e := readLine(line, p.d)
		e.line = t.line
		p.check(line, e)
		p.take(line, e)
	}
	p.dropEmpty()
}

// take processes one line.
func (p *parser) take(line string, e entry) {
	switch e.is {
	case fieldNone:
		if p.d == Classic1994 && trimBlanks(line) == "" { // the end of a record
			p.dropEmpty()
			p.open, p.inList = false, false
		}
	case fieldAgent:
		p.agent(e)
	case fieldAllow, fieldDisallow:
		p.rule(e)
	case fieldDelay, fieldRate, fieldVisit:
		p.limit(e)
	case fieldSitemap:
		p.sitemap(e)
	case fieldHost:
		p.r.addHost(e)
	case fieldCleanParam:
		p.r.addCleanParam(e)
	case fieldUsage:
		p.usage(e)
	}
}

// agent processes a user-agent line. After a rule it begins a new group; in the 1994 standard only a blank
// line ends a record, so there it is ignored.
func (p *parser) agent(e entry) {
	g := p.group()
	if p.d == Classic1994 && g != nil && len(g.Rules) > 0 {
		p.r.warn(e.line, "no blank line before it: not the start of a record in the 1994 standard")
		return
	}
	if !p.open || !p.inList {
		p.dropEmpty()
		p.r.groups = append(p.r.groups, Group{Line: e.line})
		p.open, p.inList, p.run, p.broken = true, true, 0, false
		g = p.group()
	}
	if p.broken {
		p.run, p.broken = len(g.Agents), false
	}
	g.Agents = append(g.Agents, e.value)
}

// group returns the present group; nil if there is none.
func (p *parser) group() *Group {
	if !p.open {
		return nil
	}
	return &p.r.groups[len(p.r.groups)-1]
}

// rule processes an Allow or Disallow line. It ends the list of user-agent lines, even if its path is
// empty.
func (p *parser) rule(e entry) {
	g := p.group()
	if g == nil {
		p.r.warn(e.line, "a rule before any user-agent line: ignored")
		return
	}
	if p.d == Classic1994 {
		if e.is == fieldDisallow {
			addClassic(g, e)
		}
		return
	}
	p.inList = false
	g.Rules = append(g.Rules, Rule{Line: e.line, Allow: e.is == fieldAllow, Path: e.value, Text: e.text})
}

// limit processes Crawl-delay, Request-rate or Visit-time. Among user-agent lines it belongs to those just
// before it and does not end their list (except Yandex's Crawl-delay); after a rule it belongs to the whole
// group.
func (p *parser) limit(e entry) {
	g := p.group()
	if g == nil {
		p.r.warn(e.line, "%s before any user-agent line: ignored", e.name)
		return
	}
	l, bad := readLimit(e)
	if bad != "" {
		p.r.warn(e.line, "%s", bad)
		return
	}
	l.from, l.to = p.addressed(g)
	g.limits = append(g.limits, l)
	if p.d == Yandex && e.is == fieldDelay {
		p.inList = false
	}
}

// addressed returns which agents of its group an extension line belongs to. Rules that follow such a line
// belong to all of them (RFC 9309 §2.2.4).
func (p *parser) addressed(g *Group) (from, to int) {
	if p.inList {
		from = p.run
	}
	p.broken = true
	return from, len(g.Agents)
}

func (p *parser) sitemap(e entry) {
	if e.value == "" || p.seen[e.value] {
		return
	}
	p.seen[e.value] = true
	p.r.sitemaps = append(p.r.sitemaps, Sitemap{URL: e.value, Line: e.line})
}

// Sitemaps returns the Sitemap lines, each URL once.
func (r *Robots) Sitemaps() []Sitemap { return r.sitemaps }

// Groups returns all groups of the file in order.
func (r *Robots) Groups() []Group { return r.groups }
