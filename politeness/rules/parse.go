package rules

import (
	"curtsy/politeness"
	"curtsy/usage"
)

// Robots is a robots.txt as it is read for the agents asked about. It does not change after Parse
// and may be used from many goroutines.
type Robots struct {
	options  Options
	all      int    // allAllowed or allDenied: no lines to look at
	why      string // the reason for all
	groups   []Group
	chosen   string // value of the agent line that chose the group, "" if none
	rules    []rule // those that hold for the agents, in the order of precedence
	pace     politeness.Rules
	sitemaps []Sitemap
	host     hostLine
	params   cleanParams
	usage    []usageRule       // those that hold for the agents, the longest path first
	stated   []usage.Statement // for no group
	warnings []Warning
	cut      bool // what lies behind maxBytes was not read
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

// Group is a group of the file, be it for the agents asked about or not (RFC 9309 §2.2.1).
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
	Path  string `json:"-"`    // as written; "" is no rule
	Text  string `json:"rule"` // the line without comment
}

// parser makes groups of entries. The zero value of open means that there is
// no group yet: rules outside any group are ignored (RFC 9309 §2.2.1).
type parser struct {
	r      *Robots
	d      Dialect
	open   bool            // a group has begun
	inList bool            // the lines since are user-agent lines, or lines that end no list
	run    int             // index of the agent that the last run of user-agent lines began with
	broken bool            // a limit has ended that run
	seen   map[string]bool // sitemaps, each once
}

// Parse reads a robots.txt. It never fails: what cannot be read is skipped,
// line by line (RFC 9309 §2.2), and Warnings lists it.
func Parse(body []byte, o Options) *Robots {
	r := &Robots{options: o}
	if o.Dialect == Yandex {
		if why := notForYandex(body); why != "" {
			r.all, r.why = allAllowed, why
			r.warn(0, "%s: Yandex reads it as allowing everything", why)
			return r
		}
	}
	p := &parser{r: r, d: o.Dialect}
	p.read(body)
	r.choose()
	return r
}

// notForYandex says why Yandex takes a file as allowing everything.
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

// take acts on one line.
func (p *parser) take(line string, e entry) {
	switch e.is {
	case fieldNone:
		if p.d == Classic1994 && trimBlanks(line) == "" {
			p.endRecord()
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

// agent takes a user-agent line. After a rule it begins a new group; in 1994
// only a blank line ends a record, and this line comes too late.
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

// group is the group that lines belong to now, nil if there is none.
func (p *parser) group() *Group {
	if !p.open {
		return nil
	}
	return &p.r.groups[len(p.r.groups)-1]
}

// rule takes an Allow or Disallow line. It ends the list of user-agent lines,
// also where its path is empty.
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

// limit takes Crawl-delay, Request-rate or Visit-time. Among user-agent lines
// it belongs to those right before it, and ends no list of them (Yandex's
// Crawl-delay does); after a rule it belongs to the whole group.
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

// addressed is which agents of its group a line of an extension belongs to. What
// follows such a line is the rules of all of them (RFC 9309 §2.2.4).
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
	if p.seen == nil {
		p.seen = make(map[string]bool)
	}
	p.seen[e.value] = true
	p.r.sitemaps = append(p.r.sitemaps, Sitemap{URL: e.value, Line: e.line})
}

// Sitemaps are the Sitemap lines, each URL once.
func (r *Robots) Sitemaps() []Sitemap { return r.sitemaps }

// Groups are all groups of the file, in its order.
func (r *Robots) Groups() []Group { return r.groups }
