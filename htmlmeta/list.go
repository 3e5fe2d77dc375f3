package htmlmeta

import (
	"strings"
	"time"

	"curtsy/internal/dates"
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
	listener
	doubt  bool     // the piece may name an agent, or may be one that nobody knows
	before listener // in doubt: who was named before it
}

// listener is who is named, and whether it is one of the agents read for.
type listener struct {
	agent string // "" is everybody
	ours  bool   // what is read now is for one of the agents
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
		l.settle()
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
			return l.date(value, rest, more)
		}
		l.valued(name, value)
		return "", rest, more
	}
	l.words(before)
	if name != "" && strings.Trim(name, "0123456789") == "" {
		return value, rest, more // "15:00", of a date that is broken
	}
	if !l.agents {
		return "", rest, more
	}
	if !l.doubt && !surelyAgent(before) {
		l.doubt, l.before = true, l.listener
	}
	l.listener = listener{name, everybody(name) || l.opts.names(name)}
	if everybody(name) {
		l.agent = ""
	}
	return value, rest, more
}

// surelyAgent says whether what has a colon behind it can only be a product
// token: words before it are directives whose comma was forgotten. In "noodp
// curtsy: noindex" and "unavailable after: 25 Jun" there is one that nobody
// knows.
func surelyAgent(before string) bool {
	for w := range strings.FieldsSeq(before) {
		var scratch Directives
		if w = strings.ToLower(w); !scratch.apply(w) && !permits(w) {
			return false
		}
	}
	return true
}

// settle ends a piece. What stands behind one that named an agent in doubt is
// in force if it is so with that agent, or without: the stricter takes
// precedence. None of this looks at the agents read for, so that naming one
// permits nothing more.
func (l *list) settle() {
	if l.doubt && !l.ours {
		l.listener = l.before
	}
	l.doubt = false
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
// the next, then the next two. Of what is no date, all but the first word is
// left to read: "unavailable_after: none" means no "none".
func (l *list) date(value, rest string, more bool) (string, string, bool) {
	text, behind, left := value, rest, more
	for i := range 3 {
		date, words := splitTrailingDirectives(text)
		if t, ok := dates.Parse(date); ok {
			if l.ours {
				l.to.EndAt(t.Truncate(time.Second))
				l.note("unavailable_after:" + strings.Trim(date, asciiBlank))
			}
			if i > 0 {
				l.settle() // the piece has ended within the date
			}
			return words, behind, left
		}
		if !left {
			break
		}
		var next string
		next, behind, left = cutPiece(behind)
		text += "," + next
		if len(text) > dates.MaxLength {
			break
		}
	}
	value = strings.TrimLeft(value, asciiBlank)
	if i := strings.IndexAny(value, asciiBlank); i >= 0 {
		return value[i:], rest, more
	}
	return "", rest, more
}

// splitTrailingDirectives cuts directives whose comma was forgotten off the
// end of a date, and whatever stands where no date reaches.
func splitTrailingDirectives(s string) (date, words string) {
	end := len(s)
	if end > dates.MaxLength {
		end = max(0, strings.LastIndexAny(s[:dates.MaxLength], asciiBlank))
	}
	for {
		before, w := lastWord(s[:end])
		var scratch Directives
		if low := strings.ToLower(w); before == "" || !scratch.apply(low) && !permits(low) {
			return s[:end], s[end:]
		}
		end = len(strings.TrimRight(s[:end], asciiBlank)) - len(w)
	}
}

func (l *list) note(directive string) {
	l.to.note(Source{Directive: directive, From: l.from, Agent: l.agent, Text: l.text})
}
