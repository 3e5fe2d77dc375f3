package usage

import (
	"slices"
	"strings"
)

// rsl finds licenses in Really Simple Licensing 1.0 (rslstandard.org). It does not interpret
// them.
var rsl = &Reader{Name: "RSL", Field: "license", Rule: rslRule, Link: rslLink}

const rslType = "application/rsl+xml"

func rslRule(value string) Rule {
	r := Rule{Alone: true, Says: []Statement{{License: value}}}
	if lower := strings.ToLower(value); !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") {
		r.Doubt = "a license must be an absolute URL"
	}
	return r
}

func rslLink(rel, mediaType string) bool {
	return mediaType == rslType && slices.Contains(strings.Fields(strings.ToLower(rel)), "license")
}
