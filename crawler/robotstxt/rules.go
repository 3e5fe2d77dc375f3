package robotstxt

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// InForce returns the rules of an origin's robots.txt as last archived; nil if there are none.
func InForce(a *storage.Archive, origin string, o rules.Options) (r *rules.Robots, from crawllog.RobotsVersion,
	err error) {
	v, err := a.RobotsInForce(origin, time.Time{})
	if v == nil || err != nil {
		return nil, from, err
	}
	body, err := a.RobotsBody(v)
	if err != nil {
		return nil, *v, err
	}
	return Rules(*v, body, o), *v, nil
}

// Rules parses an archived version.
func Rules(v crawllog.RobotsVersion, body []byte, o rules.Options) *rules.Robots {
	if v.Error != "" {
		return rules.AllowAll(v.Error)
	}
	switch rules.ResponseAccess(v.Status, v.Type, o) {
	case rules.Parsed:
		return rules.Parse(body, o)
	case rules.Absent:
		return rules.AllowAll(fmt.Sprintf("robots.txt answered %d", v.Status))
	}
	return rules.DenyAll(fmt.Sprintf("robots.txt answered %d", v.Status))
}

// MaxAge returns max-age of Cache-Control; no-cache and no-store are 0. ok is false without either.
func MaxAge(h http.Header) (time.Duration, bool) {
	for _, line := range h.Values("Cache-Control") {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
			switch name {
			case "no-cache", "no-store":
				return 0, true
			case "max-age":
				n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
				if err == nil {
					return time.Duration(n) * time.Second, true
				}
			}
		}
	}
	return 0, false
}

// Words describes a decision, with line, rule, group and version.
func Words(d crawllog.Decision) string {
	text := "no rule matches"
	if d.Line > 0 {
		text = fmt.Sprintf("line %d: %s", d.Line, d.Rule)
	} else if d.Rule != "" {
		text = d.Rule
	}
	if d.Group != "" {
		text += fmt.Sprintf(" (group %q)", d.Group)
	}
	if d.Differs != "" {
		text += " (" + d.Differs + ")"
	}
	if d.Version != "" {
		text += ", version " + d.Version
	}
	return text
}

// Decide applies the rules to u. from is the version that they are from.
func Decide(r *rules.Robots, from *crawllog.RobotsVersion, u weburl.URL) crawllog.Decision {
	v := r.Verdict(u.Target())
	return crawllog.Decision{Allow: v.Allow, Line: v.Line, Rule: v.Rule, Group: v.Group, Differs: v.Differs,
		Version: from.Short(), Fetched: from.At}
}

// Summary describes in one line the response and what the robots.txt asks for.
func (a *Answer) Summary() string {
	v, r := &a.Version, a.Rules
	if r == nil {
		return a.Failed
	}
	chosen := r.Verdict("/").Group
	switch {
	case v.Error != "":
		return v.Error + ": everything is allowed"
	case v.Digest == "" && v.Status > 299:
		return fmt.Sprintf("answered %d: everything is allowed", v.Status)
	case len(r.Groups()) == 0 && bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<")):
		return fmt.Sprintf("answered %d with a page (%s), not a robots.txt: everything is allowed", v.Status,
			cmp.Or(v.Type, "no type"))
	case chosen == "":
		return strings.Join(append([]string{fmt.Sprintf("answered %d: no group for us, everything is allowed",
			v.Status)}, asks(r)...), "; ")
	}
	n := 0
	for _, g := range r.Groups() {
		if slices.ContainsFunc(g.Agents, func(s string) bool { return strings.EqualFold(s, chosen) }) {
			n += len(g.Rules)
		}
	}
	noun := "rules"
	if n == 1 {
		noun = "rule"
	}
	return strings.Join(append([]string{fmt.Sprintf("answered %d: %d %s for %q", v.Status, n, noun, chosen)},
		asks(r)...), "; ")
}

// asks lists what a robots.txt asks for besides its rules.
func asks(r *rules.Robots) (list []string) {
	if d, _, ok := r.CrawlDelay(); ok {
		list = append(list, fmt.Sprintf("Crawl-delay %v", d))
	}
	if p := r.Pace(); p.RateLine != 0 {
		list = append(list, fmt.Sprintf("Request-rate %d in %v", p.Requests, p.Per))
	}
	if t, ok := r.VisitTime(); ok {
		list = append(list, fmt.Sprintf("Visit-time %02d:%02d to %02d:%02d UTC", t.Start/60, t.Start%60,
			t.End/60, t.End%60))
	}
	for _, s := range r.Usage("/") {
		if s.Category != "" {
			list = append(list, fmt.Sprintf("%s=%s (line %d)", s.Category, s.Value, s.Line))
		}
	}
	return list
}

// Denial returns the reason for a URL that robots.txt denies.
func Denial(d crawllog.Decision) judge.Reason {
	return judge.Reason{Rule: judge.Robots, Params: judge.Params{Line: d.Line, Text: d.Rule}}
}
