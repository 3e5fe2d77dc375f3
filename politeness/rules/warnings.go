package rules

import (
	"fmt"
	"strconv"
	"strings"
)

// Warning describes a doubtful line for the site's owner.
type Warning struct {
	Line int    `json:"line"` // 0: the file as a whole
	Text string `json:"text"`
}

// maxWarnings bounds the warnings about a hostile file.
const maxWarnings = 200

// Warnings returns the warnings in the order of the file, at most 200; the last one then says that there
// are more.
func (r *Robots) Warnings() []Warning { return r.warnings }

// Cut reports that the file is over 500 KiB and was truncated.
func (r *Robots) Cut() bool { return r.cut }

func (r *Robots) warn(line int, format string, args ...any) {
	switch {
	case len(r.warnings) < maxWarnings-1:
		r.warnings = append(r.warnings, Warning{line, fmt.Sprintf(format, args...)})
	case len(r.warnings) == maxWarnings-1:
		r.warnings = append(r.warnings, Warning{line, "more warnings from here on are not shown"})
	}
}

// check warns of common mistakes in a line.
func (p *parser) check(line string, e entry) {
	if strings.Contains(line, "\xef\xbb\xbf") {
		p.r.warn(e.line, "a byte order mark in the middle of the file")
	}
	if strings.IndexByte(line, 0) >= 0 {
		p.r.warn(e.line, "a NUL byte: the rest of the line is ignored")
	}
	switch {
	case e.is == fieldNone && e.text != "":
		p.r.warn(e.line, "not a line of \"field: value\": ignored: %s", quote(e.text))
	case e.is == fieldUnknown:
		p.r.warn(e.line, "an unknown field: %s", quote(e.name))
	case e.is == fieldNone:
	case !e.exact:
		p.r.warn(e.line, "the field %s is read as %s", quote(e.name), e.is)
	case !strings.Contains(e.text, ":"):
		p.r.warn(e.line, "a colon is missing after %s", e.name)
	}
	switch e.is {
	case fieldAgent:
		p.checkAgent(e)
	case fieldAllow, fieldDisallow:
		p.checkPath(e)
	case fieldSitemap:
		p.checkSitemap(e)
	}
}

func (p *parser) checkAgent(e entry) {
	switch token := productToken(e.value); {
	case e.value == "":
		p.r.warn(e.line, "an empty user-agent: it matches nobody")
	case p.d == Classic1994 || e.value == "*" || token == e.value:
	case e.value[0] == '*':
		p.r.warn(e.line, "text after * is ignored; only * alone is a wildcard here: %s", quote(e.value))
	case token == "":
		p.r.warn(e.line, "a user-agent with characters other than letters, - and _: %s", quote(e.value))
	default:
		p.r.warn(e.line, "a user-agent may contain letters, - and _ only: %s is read as %s",
			quote(e.value), quote(token))
	}
}

func (p *parser) checkPath(e entry) {
	path := e.value
	switch {
	case p.d == Classic1994 && e.is == fieldAllow:
		p.r.warn(e.line, "there is no Allow in the 1994 standard: ignored")
	case path == "":
		if e.is == fieldAllow {
			p.r.warn(e.line, "an empty Allow is not a rule")
		}
	case p.d == Classic1994 && strings.ContainsAny(path, "*$"):
		p.r.warn(e.line, "* and $ have no special meaning in the 1994 standard")
	case path[0] != '/' && path[0] != '*':
		p.r.warn(e.line, "a path without a leading slash matches nothing: %s", quote(path))
	case strings.Contains(strings.TrimSuffix(path, "$"), "$"):
		p.r.warn(e.line, "$ is the end of the URL only as the last character; here it is a dollar sign: %s",
			quote(path))
	case strings.Count(path, "*") > maxStars:
		p.r.warn(e.line, "more than %d stars in one path", maxStars)
	}
}

func (p *parser) checkSitemap(e entry) {
	lower := strings.ToLower(e.value)
	if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") {
		p.r.warn(e.line, "a sitemap must be an absolute URL: %s", quote(e.value))
	}
}

// String returns the field's name.
func (f field) String() string {
	for _, known := range robotsFields {
		if known.is == f {
			return known.name
		}
	}
	return "unknown"
}

// quote quotes text of a file, shortened to fit in a line.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}
