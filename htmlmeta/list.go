package htmlmeta

import (
	"strings"
)

const asciiBlank = " \t\n\f\r"

// list reads the comma list of one header line or one content attribute.
//
// A piece "name:" names an agent, unless the name is a directive that has a
// value; the agent holds to the next one in the line. Only headers name
// agents so: a meta tag is for whom its name says.
type list struct {
	to     *Directives
	opts   Options
	from   string
	text   string // the whole, verbatim
	agents bool   // agents may be named
	agent  string // who is named now; "" is everybody
	ours   bool   // what is read now is for us
}

func (l *list) read(s string) {
	for more := true; more; {
		var piece string
		piece, s, more = cutPiece(s)
		for piece != "" {
			head, value, colon := strings.Cut(piece, ":")
			if !colon {
				l.words(piece)
				break
			}
			piece, s, more = l.named(head, value, s, more)
		}
	}
}

// cutPiece cuts the next piece off a list: commas separate, and semicolons
// are read as commas.
func cutPiece(s string) (piece, rest string, more bool) {
	if i := strings.IndexAny(s, ",;"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// named reads a piece with a colon: an agent, or a directive with its value.
// It returns what of the piece is left to read, and the list behind it.
func (l *list) named(head, value, rest string, more bool) (string, string, bool) {
	before, name := lastWord(head)
	if isValued(name) {
		l.words(before)
		if name == "unavailable_after" {
			rest, more = l.date(value, rest, more)
			return "", rest, more
		}
		l.valued(name, value)
		return "", rest, more
	}
	if !l.agents || !l.isAgent(before, name) {
		return "", rest, more
	}
	l.words(before)
	l.agent, l.ours = name, true
	if everybody(name) {
		l.agent = ""
	} else if !l.opts.names(name) {
		l.ours = false
	}
	return value, rest, more
}

// isAgent says whether name may be a product token. Words before it may only
// be directives whose comma was forgotten; a number belongs to a broken date.
func (l *list) isAgent(before, name string) bool {
	for w := range strings.FieldsSeq(before) {
		var scratch Directives
		if w = strings.ToLower(w); !scratch.apply(w) && !permits(w) {
			return false
		}
	}
	return name == "" || strings.Trim(name, "0123456789") != ""
}

// permits names the directives that only say what is so anyway.
func permits(word string) bool {
	switch word {
	case "all", "index", "follow", "archive", "indexifembedded":
		return true
	}
	return false
}

func isValued(name string) bool {
	switch name {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return false
}

// lastWord splits "noindex max-snippet" before its last word, which it folds
// if it is a directive.
func lastWord(s string) (before, word string) {
	s = strings.Trim(s, asciiBlank)
	i := strings.LastIndexAny(s, asciiBlank)
	before, word = s[:i+1], s[i+1:]
	if low := strings.ToLower(word); isValued(low) {
		word = low
	}
	return before, word
}

// words reads directives without values; blanks separate them where the
// comma was forgotten.
func (l *list) words(s string) {
	for w := range strings.FieldsSeq(s) {
		w = strings.ToLower(w)
		if l.ours && l.to.apply(w) {
			l.note(w)
		}
	}
}

// valued reads "max-snippet:20", and directives behind the value.
func (l *list) valued(name, value string) {
	value = strings.Trim(value, asciiBlank)
	number, rest := value, ""
	if i := strings.IndexAny(value, asciiBlank); i >= 0 {
		number, rest = value[:i], value[i:]
	}
	if name == "max-snippet" && l.ours && l.to.limitSnippet(number) {
		l.note(name + ":" + number)
	}
	l.words(rest)
}

// date reads the value of unavailable_after. A date may hold commas itself
// ("Friday, 25-Jun-10 15:00:00 PST"): the piece is tried, then the piece and
// the next, then the next two.
func (l *list) date(value, rest string, more bool) (string, bool) {
	text, behind, left := value, rest, more
	for range 3 {
		date, words := splitTrailingDirectives(text)
		if t, ok := parseDate(date); ok {
			if l.ours {
				l.to.endAt(t)
				l.note("unavailable_after:" + strings.Trim(date, asciiBlank))
			}
			l.words(words)
			return behind, left
		}
		if !left {
			break
		}
		var next string
		next, behind, left = cutPiece(behind)
		text += "," + next
		if len(text) > maxDate {
			break
		}
	}
	return rest, more
}

// splitTrailingDirectives cuts directives whose comma was forgotten off the
// end of a date.
func splitTrailingDirectives(s string) (date, words string) {
	date = s
	for {
		before, w := lastWord(date)
		var scratch Directives
		if low := strings.ToLower(w); before == "" || !scratch.apply(low) && !permits(low) {
			return date, words
		}
		date, words = before, words+" "+w
	}
}

func (l *list) note(directive string) {
	l.to.note(Source{Directive: directive, From: l.from, Agent: l.agent, Text: l.text})
}
