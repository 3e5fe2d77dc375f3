package htmlmeta

import (
	"slices"
	"strings"
	"time"

	"curtsy/internal/dates"
)

const asciiBlank = " \t\n\f\r"

// list parses the comma-separated list of a header line or content attribute.
//
// In a header, a piece "name:" names an agent, unless the name is a directive with a value; it
// applies up to the next agent in the line. In a meta tag, the agent is the name attribute.
type list struct {
	to     *Directives
	opts   Options
	from   string
	text   string // the whole text, verbatim
	agents bool   // agents may be named
	listener
	doubt  bool     // the current piece may name an agent or an unknown directive
	before listener // with doubt: the agent named before it
}

// listener is the agent that a directive is addressed to, and whether it is one of ours.
type listener struct {
	agent string // "": everybody
	ours  bool   // addressed to one of the agents, or to everybody
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

// cutPiece cuts off the next piece of a list. Semicolons are read as commas.
func cutPiece(s string) (piece, rest string, more bool) {
	if i := strings.IndexAny(s, ",;"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// named parses a piece with a colon: an agent, or a directive with its value. It returns what
// is left of the piece, and the list after it.
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
		return value, rest, more // "15:00" of an invalid date
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

// surelyAgent reports whether a name before a colon can only be a product token: all words
// before it are directives, separated by blanks. In "noodp curtsy: noindex" and "unavailable
// after: 25 Jun" a word before it is unknown.
func surelyAgent(before string) bool {
	for w := range strings.FieldsSeq(before) {
		if !isDirective(w) {
			return false
		}
	}
	return true
}

// isDirective reports whether a word is a directive without a value.
func isDirective(word string) bool {
	word = strings.ToLower(word)
	var scratch Directives
	return scratch.apply(word) || slices.Contains(permitting, word)
}

// settle ends a piece. Directives after a doubtful agent name apply if they would with or
// without that agent, so that the stricter reading takes precedence. Reading them does not
// depend on Options.Agents, so that naming one of these agents permits nothing more.
func (l *list) settle() {
	if l.doubt && !l.ours {
		l.listener = l.before
	}
	l.doubt = false
}

// permitting are the directives that state the default.
var permitting = []string{"all", "index", "follow", "archive", "indexifembedded"}

func isValued(name string) bool { return slices.Contains(robotsValues, name) }

// lastWord splits off the last word, as in "noindex max-snippet". It lower-cases the word if
// that is a directive with a value.
func lastWord(s string) (before, word string) {
	s = strings.Trim(s, asciiBlank)
	i := strings.LastIndexAny(s, asciiBlank)
	before, word = s[:i+1], s[i+1:]
	if low := strings.ToLower(word); isValued(low) {
		word = low
	}
	return before, word
}

// words applies directives without values, which may be separated by blanks if a comma was
// forgotten.
func (l *list) words(s string) {
	for w := range strings.FieldsSeq(s) {
		w = strings.ToLower(w)
		if l.ours && l.to.apply(w) {
			l.note(w)
		}
	}
}

// valued applies "max-snippet:20", and directives that follow the value.
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

// date parses the value of unavailable_after. Dates may contain commas ("Friday, 25-Jun-10
// 15:00:00 PST"), so it tries the piece, then the piece with the next, then with the next two.
// If none is a date, it drops only the first word: in "unavailable_after: none" the "none" is
// no directive.
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
				l.settle() // the piece ended within the date
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

// splitTrailingDirectives cuts off directives that follow a date without a comma, and what
// exceeds the length of a date.
func splitTrailingDirectives(s string) (date, words string) {
	end := len(s)
	if end > dates.MaxLength {
		end = max(0, strings.LastIndexAny(s[:dates.MaxLength], asciiBlank))
	}
	for {
		before, w := lastWord(s[:end])
		if before == "" || !isDirective(w) {
			return s[:end], s[end:]
		}
		end = len(strings.TrimRight(s[:end], asciiBlank)) - len(w)
	}
}

func (l *list) note(directive string) {
	l.to.note(Source{Directive: directive, From: l.from, Agent: l.agent, Text: l.text})
}
