package htmlmeta

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"curtsy/internal/near"
)

// robotsWords are the known directives without a value, robotsValues those with one.
var (
	robotsWords = []string{"noindex", "nofollow", "none", "noarchive", "nocache", "nosnippet", "noimageindex",
		"notranslate", "indexifembedded",
		"index", "follow", "all", "archive", "noodp", "noydir", "noyaca", "noai", "noimageai", "nositelinkssearchbox",
		"nopagereadaloud"}
	robotsValues = []string{"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"}
)

// Misspelt lists the misspelt directives and invalid values of a meta robots tag or
// X-Robots-Tag.
func Misspelt(content string) (list []string) {
	for piece := range strings.FieldsFuncSeq(strings.ToLower(content),
		func(r rune) bool { return r == ',' || r == ';' }) {
		name, value, hasValue := strings.Cut(strings.TrimSpace(piece), ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == "unavailable_after" {
			return list // a date may contain what looks like another directive
		}
		if hasValue && isValued(name) {
			if why := badValue(name, value); why != "" {
				list = append(list, name+":"+value+": "+why)
			}
			continue
		}
		if hasValue { // preceded by an agent
			name = value
		}
		for word := range strings.FieldsSeq(name) {
			if slices.Contains(robotsWords, word) {
				continue
			}
			if meant := near.Name(word, slices.Concat(robotsWords, robotsValues)); meant != "" {
				list = append(list, fmt.Sprintf("%s: no directive; %s is", word, meant))
			}
		}
	}
	return list
}

// badValue says what is wrong with the value of a directive; "" if nothing is.
func badValue(name, value string) string {
	switch name {
	case "max-image-preview":
		if value != "none" && value != "standard" && value != "large" {
			return "want none, standard or large"
		}
	default:
		if n, err := strconv.Atoi(value); err != nil || n < -1 {
			return "want a number, or -1"
		}
	}
	return ""
}
