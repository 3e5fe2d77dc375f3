package htmlmeta

import (
	"strconv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"curtsy/internal/dates"
)

// maxTag is the most octets read of all Robots-Tag lines together; members beyond it are
// dropped (draft-illyes-repext-03 §2.2 requires at least 8 KiB).
const maxTag = 64 << 10

// maxCuts is the most commas tried to truncate a list, since a comma may be within a string.
const maxCuts = 16

// readTag reads Robots-Tag: a List (RFC 9651 §3.1) of product tokens, with the rules for each
// as parameters. Several lines are one field. A field that does not parse is ignored (§4.2).
func (d *Directives) readTag(lines []string, o Options) {
	text := strings.Join(lines, ", ")
	for _, m := range members(text) {
		item, isItem := m.(httpsfv.Item)
		agent, isToken := item.Value.(httpsfv.Token)
		if !isItem || !isToken || agent != "*" && !o.names(string(agent)) {
			continue
		}
		s := Source{From: FromTag, Agent: strings.TrimPrefix(string(agent), "*"), Text: text}
		for _, name := range item.Params.Names() {
			value, _ := item.Params.Get(name)
			d.readRule(name, value, s)
		}
	}
}

// members parses a List. If the text is too long, it parses what precedes the last comma
// between members.
func members(text string) httpsfv.List {
	cut := len(text) > maxTag
	text = text[:min(len(text), maxTag)]
	for range maxCuts {
		if cut {
			text = text[:max(0, strings.LastIndexByte(text, ','))]
		}
		list, err := httpsfv.UnmarshalList([]string{text})
		if err == nil {
			return list
		}
		if !cut {
			return nil
		}
	}
	return nil
}

// readRule reads a parameter: a directive, possibly with a value.
func (d *Directives) readRule(name string, value any, s Source) {
	s.Directive = name
	switch v := value.(type) {
	case bool:
		if v && d.apply(name) {
			d.note(s)
		}
	case int64:
		if number := strconv.FormatInt(v, 10); name == "max-snippet" && d.limitSnippet(number) {
			s.Directive += ":" + number
			d.note(s)
		}
	case time.Time:
		d.readEnd(name, v, true, s)
	case httpsfv.Token:
		d.readText(name, string(v), s)
	case string:
		d.readText(name, v, s)
	}
}

// readText reads a string value: a number or a date as in X-Robots-Tag.
func (d *Directives) readText(name, value string, s Source) {
	if name == "max-snippet" && d.limitSnippet(value) {
		s.Directive += ":" + value
		d.note(s)
		return
	}
	at, ok := dates.Parse(value)
	d.readEnd(name, at.Truncate(time.Second), ok, s)
}

func (d *Directives) readEnd(name string, at time.Time, known bool, s Source) {
	if name == "unavailable_after" && known {
		d.EndAt(at.UTC())
		s.Directive += ":" + at.UTC().Format(time.RFC3339)
		d.note(s)
	}
}
