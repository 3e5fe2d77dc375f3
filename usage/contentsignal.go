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

// signals are its names for categories.
var signals = map[string]Category{"search": Search, "ai-input": AIInput, "ai-train": TrainAI}

func contentSignalRule(value string) (r Rule) {
	var unread []string
	if r.Says, unread = readSignals(value); len(unread) > 0 {
		r.Doubt = "counts nothing: " + strings.Join(unread, ", ")
	}
	if len(r.Says) == 0 { // it is shown all the same
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

// readSignals reads "search=yes, ai-train=no"; of several for one category any no
// takes precedence, as everywhere.
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
