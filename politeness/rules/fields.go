package rules

import (
	"strings"

	"curtsy/usage"
)

// field is what a line is about.
type field int

const (
	fieldNone field = iota // nothing that could be a line
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
	fieldUsage // of a reader in package usage
)

// robotsFields are the names of fields; the first of each is as it should be written.
// Those of RFC 9309 and sitemap are read as Google reads them: the common misspellings
// too, and whatever begins like them.
var robotsFields = []struct {
	name string
	is   field
	more bool // what begins with the name counts too
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

// entry is one line of a robots.txt, taken apart.
type entry struct {
	line  int
	is    field
	name  string // the field as written
	value string
	text  string // the line as written, without comment and outer blanks
	exact bool   // the field is written as it should be
}

// splitLine finds field and value. A colon may be missing where the line has
// exactly two words (as Google reads it); the colon of an URL is not the one.
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

// readLine takes one line apart, in the manner of dialect d.
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
