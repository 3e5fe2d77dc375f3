package rules

import (
	"strings"

	"curtsy/usage"
)

// field is the field of a line.
type field int

const (
	fieldNone field = iota // not a field line
	fieldUnknown
	fieldAgent
	fieldAllow
	fieldDisallow
	fieldDelay
	fieldRate
	fieldVisit
	fieldSitemap
	fieldHost
	fieldCleanParam
	fieldUsage // a field of a reader in package usage
)

// robotsFields are the names of fields; the first of each is the correct one. Those of RFC 9309 and sitemap
// are recognized as by Google: with common misspellings, and also as a prefix.
var robotsFields = []struct {
	name string
	is   field
	more bool // a name that begins with this one counts too
}{
	{"user-agent", fieldAgent, true},
	{"useragent", fieldAgent, true},
	{"user agent", fieldAgent, true},
	{"allow", fieldAllow, true},
	{"disallow", fieldDisallow, true},
	{"dissallow", fieldDisallow, true},
	{"dissalow", fieldDisallow, true},
	{"disalow", fieldDisallow, true},
	{"diasllow", fieldDisallow, true},
	{"disallaw", fieldDisallow, true},
	{"sitemap", fieldSitemap, true},
	{"site-map", fieldSitemap, true},
	{"crawl-delay", fieldDelay, false},
	{"crawldelay", fieldDelay, false},
	{"crawl delay", fieldDelay, false},
	{"request-rate", fieldRate, false},
	{"visit-time", fieldVisit, false},
	{"host", fieldHost, false},
	{"clean-param", fieldCleanParam, false},
}

// entry is one parsed line of a robots.txt.
type entry struct {
	line  int
	is    field
	name  string // the field as written
	value string
	text  string // the line without comment and surrounding blanks
	exact bool   // the field name is spelled correctly
}

// splitLine splits a line into field and value. As in Google's parser, the colon may be missing if the line
// has exactly two words; the colon of a URL does not count.
func splitLine(line string) (name, value string, ok bool) {
	i := strings.IndexByte(line, ':')
	if i >= 0 && !(strings.HasPrefix(line[i:], "://") && strings.ContainsAny(line[:i], " \t")) {
		name, value = trimBlanks(line[:i]), trimBlanks(line[i+1:])
		return name, value, name != ""
	}
	if i = strings.IndexAny(line, " \t"); i < 0 {
		return "", "", false
	}
	name, value = trimBlanks(line[:i]), trimBlanks(line[i:])
	return name, value, !strings.ContainsAny(value, " \t")
}

// readLine parses one line in dialect d.
func readLine(line string, d Dialect) entry {
	e := entry{text: uncomment(line)}
	if e.text == "" {
		return e
	}
	var ok bool
	if e.name, e.value, ok = splitLine(e.text); !ok {
		return e
	}
	e.is, e.exact = fieldOf(e.name, d)
	return e
}

func fieldOf(name string, d Dialect) (is field, exact bool) {
	for _, f := range robotsFields {
		if len(name) < len(f.name) || !strings.EqualFold(name[:len(f.name)], f.name) {
			continue
		}
		if len(name) == len(f.name) {
			return f.is, f.name == f.is.String()
		}
		if f.more && d != Classic1994 {
			return f.is, false
		}
	}
	if usage.OfField(name) != nil {
		return fieldUsage, true
	}
	return fieldUnknown, false
}
