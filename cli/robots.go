package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/usage"
)

// robotsFlags are the flags of `curtsy robots`.
type robotsFlags struct {
	file, url, contact  string
	agents              []string
	dialect             string
	json, check, strict bool
}

// robotsText is a robots.txt and its source.
type robotsText struct {
	body   []byte
	status int    // of the HTTP response; 0 for a file
	ctype  string // of the HTTP response
	from   string
}

// robotsCmd reports what a robots.txt says about URLs, or in general.
func robotsCmd(u *ui) *cobra.Command {
	f := robotsFlags{agents: []string{"curtsy"}, dialect: "rfc9309"}
	list := vars{"file": &f.file, "url": &f.url, "contact": &f.contact, "agent": &f.agents,
		"dialect": &f.dialect, "json": &f.json, "check": &f.check, "strict": &f.strict}
	c := newCommand("robots FILE|URL [URL...]", list, func(c *cobra.Command, urls []string) error {
		return u.robots(c, f, urls)
	})
	c.Args = cobra.ArbitraryArgs
	return c
}

func (u *ui) robots(c *cobra.Command, f robotsFlags, urls []string) error {
	dialect, err := rules.ParseDialect(f.dialect)
	if err != nil {
		return usagef("curtsy robots --help", "%v", err)
	}
	if err := checkAgents(f.agents); err != nil {
		return err
	}
	urls = f.first(urls)
	for _, url := range urls {
		if err := sameHost(f.url, url); err != nil {
			return err
		}
	}
	text, err := u.robotsText(c, f)
	if err != nil {
		return err
	}
	q := robotsQuestions{u: u, rules: readRobots(text, rules.Options{Agents: f.agents, Dialect: dialect}), flags: f}
	if q.rules.Cut() && len(urls) > 0 {
		u.say("the robots.txt is over 500 KiB: the rules behind that are not read")
	}
	for _, url := range urls {
		q.ask(url)
	}
	if len(urls) == 0 && f.file != "-" {
		if err := q.askStdin(); err != nil {
			return err
		}
	}
	switch {
	case q.denied > 0 && f.check:
		return exitWith(exitFailed, fmt.Errorf("%s of %d disallowed", legible.Count(q.denied, "URL"), q.asked), "")
	case q.asked > 0:
	case f.json:
		u.json(robotsSummary(q.rules))
	default:
		u.robotsReport(q.rules, text)
	}
	return strictly(f.strict, len(q.rules.Warnings()))
}

// first uses the first argument as --url or --file if neither is given. A URL with a path is
// also one of the URLs to be tested.
func (f *robotsFlags) first(args []string) (urls []string) {
	if f.file != "" || f.url != "" || len(args) == 0 {
		return args
	}
	if isURL(args[0]) {
		f.url = args[0]
		if path := rawTarget(args[0]); path != "/" && path != rules.Location {
			return args
		}
		return args[1:]
	}
	if _, err := os.Stat(args[0]); err == nil || args[0] == "-" || !strings.HasPrefix(args[0], "/") {
		f.file = args[0]
		return args[1:]
	}
	return args
}

// robotsQuestions answers questions about URLs.
type robotsQuestions struct {
	u             *ui
	rules         *rules.Robots
	flags         robotsFlags
	asked, denied int
}

// robotsText reads the robots.txt that the flags name.
func (u *ui) robotsText(c *cobra.Command, f robotsFlags) (robotsText, error) {
	switch {
	case (f.file == "") == (f.url == ""):
		return robotsText{}, usagef("curtsy robots robots.txt /path, or curtsy robots https://example.org/page",
			"expected --file, --url, or a file or URL as the first argument")
	case f.url != "":
		return fetchRobots(c.Context(), u, f.url, f.contact)
	}
	file, err := u.open(f.file)
	if err != nil {
		return robotsText{}, err
	}
	defer file.Close()
	from := f.file
	if from == "-" {
		from = "stdin"
	}
	// A little more than the 500 KiB that are parsed, to detect that it is longer.
	body, err := io.ReadAll(io.LimitReader(file, 1<<20))
	return robotsText{body: body, from: from}, err
}

// readRobots parses a robots.txt, or applies the rules for its HTTP status.
func readRobots(text robotsText, o rules.Options) *rules.Robots {
	if text.status == 0 {
		return rules.Parse(text.body, o)
	}
	switch rules.ResponseAccess(text.status, text.ctype, o) {
	case rules.Absent:
		return rules.AllowAll(fmt.Sprintf("%s: status %d, so no rules apply", text.from, text.status))
	case rules.Refused:
		return rules.DenyAll(fmt.Sprintf("%s: status %d, so nothing may be fetched for now", text.from, text.status))
	}
	return rules.Parse(text.body, o)
}

// sameHost rejects a URL of another host, about which the robots.txt says nothing (RFC 9309
// §2.3). Relative URLs belong to its host.
func sameHost(of, url string) error {
	if of == "" || !isURL(url) {
		return nil
	}
	base, err1 := weburl.Parse(of)
	u, err2 := weburl.Parse(url)
	if err1 != nil || err2 != nil || u.Origin() == base.Origin() {
		return nil
	}
	return usagef("curtsy robots --url "+u.Origin()+"/ "+quoted(url), "%s: the robots.txt of %s does not apply to it",
		url, base.Origin())
}

// askStdin answers for the URLs on stdin, one per line, unless it is a terminal.
func (q *robotsQuestions) askStdin() error {
	if in, ok := q.u.in.(*os.File); q.u.in == nil || ok && isTerminal(in) {
		return nil
	}
	lines := bufio.NewReaderSize(q.u.in, 64<<10)
	for {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read stdin: %w", err)
		}
		if url := strings.TrimRight(line, "\r\n"); url != "" {
			if err := sameHost(q.flags.url, url); err != nil {
				return err
			}
			q.ask(url)
		}
		if err == io.EOF {
			return nil
		}
	}
}

// robotsAnswer is the JSON output for a URL.
type robotsAnswer struct {
	URL   string `json:"url"`
	Allow bool   `json:"allow"`
	Line  int    `json:"line"`
	Rule  string `json:"rule"`
	Group string `json:"group"`
	// Differs says how two readings of a rule differ; the stricter one applies.
	Differs string `json:"differs,omitempty"`
	usage.Summary
}

// ask answers for a URL.
func (q *robotsQuestions) ask(url string) {
	v := q.rules.Verdict(rawTarget(url))
	q.asked++
	if !v.Allow {
		q.denied++
	}
	said := usage.Summarize(q.rules.Usage(rawTarget(url)))
	if q.flags.json {
		q.u.json(robotsAnswer{url, v.Allow, v.Line, v.Rule, v.Group, v.Differs, said})
		return
	}
	word := "allowed "
	if !v.Allow {
		word = "disallowed"
	}
	q.u.print("%-10s  %s  (%s)", word, url, verdictText(v))
	q.u.printUsage("  use: ", said)
}

// printUsage prints the usage statements, one per line.
func (u *ui) printUsage(label string, said usage.Summary) {
	for _, s := range said.By {
		text := fmt.Sprintf("%s=%s", s.Category, s.Value)
		if s.For != "" {
			text += " for " + s.For
		}
		if s.Superseded {
			text += ", superseded"
		}
		if s.Line > 0 {
			s.Source += fmt.Sprintf(", line %d", s.Line)
		}
		u.print("%s%s  (%s: %s)", label, text, s.Source, s.Text)
	}
	for _, url := range said.Licenses {
		u.print("%slicense %s", label, url)
	}
	for _, url := range said.Policies {
		u.print("%spolicy %s", label, url)
	}
}

// verdictText says which rule decided.
func verdictText(v rules.Verdict) string {
	var text string
	switch {
	case v.Line > 0:
		text = fmt.Sprintf("line %d: %s; group %s", v.Line, v.Rule, v.Group)
	case v.Rule != "":
		text = v.Rule
	case v.Group != "":
		text = fmt.Sprintf("no rule of group %s matches", v.Group)
	default:
		text = "no group names this agent"
	}
	if v.Differs != "" {
		text += "; two readings differ, the stricter applies: " + v.Differs
	}
	return text
}

// rawTarget returns path and query of a URL verbatim, without decoding or normalizing, since
// rules.Verdict normalizes both sides itself.
func rawTarget(url string) string {
	if strings.HasPrefix(url, "/") || strings.HasPrefix(url, "?") {
		return url
	}
	rest := url
	if i := strings.Index(url, "://"); i >= 0 && !strings.ContainsAny(url[:i], "/?#;") {
		rest = url[i+len("://"):]
	}
	i := strings.IndexAny(rest, "/?#;")
	switch {
	case i < 0 || rest[i] == '#':
		return "/"
	case rest[i] == ';':
		return "/" + rest[i:]
	}
	return rest[i:]
}
