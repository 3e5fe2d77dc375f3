package usage

import (
	"net/http"
	"strings"
)

// contentSignal reads Content-Signal (contentsignals.org).
var contentSignal = &Reader{
	Name: "Content-Signal", Field: "content-signal", Rule: contentSignalRule,
	Headers: []string{"Content-Signal"}, Header: contentSignalHeader,
}

// signals maps its names to categories.
var signals = map[string]Category{"search": Search, "ai-input": AIInput, "ai-train": TrainAI}

func contentSignalRule(value string) (r Rule) {
	var unread []string
	if r.Says, unread = readSignals(value); len(unread) > 0 {
		r.Doubt = "counts nothing: " + strings.Join(unread, ", ")
	}
	if len(r.Says) == 0 { // so that the line is listed
		r.Says = []Statement{{}}
	}
	return r
}

func contentSignalHeader(h http.Header) []Statement {
	value := strings.Join(h["Content-Signal"], ", ")
	said, _ := readSignals(value[:min(len(value), maxHeader)])
	if len(said) == 0 {
		said = []Statement{{}}
	}
	for i := range said {
		said[i].Text = "Content-Signal: " + value
	}
	return said
}

// readSignals parses "search=yes, ai-train=no". If a category is repeated, any no takes
// precedence, as in Combine.
func readSignals(value string) (said []Statement, unread []string) {
	for pair := range strings.SplitSeq(value, ",") {
		name, answer, _ := strings.Cut(strings.ToLower(pair), "=")
		s := Statement{Category: signals[strings.TrimSpace(name)]}
		switch strings.TrimSpace(answer) {
		case "yes":
			s.Value = Yes
		case "no":
			s.Value = No
		}
		if s.Category != "" && s.Value != Unknown && len(said) < maxStatements {
			said = append(said, s)
		} else if pair = strings.TrimSpace(pair); pair != "" && len(unread) < 5 {
			unread = append(unread, bounded(pair))
		}
	}
	return said, unread
}
