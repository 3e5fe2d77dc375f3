package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// query is a parsed query: words that a page must all have, in any order.
//
//	word          any form of it
//	"some words"  these words in sequence, in any of their forms
//	begin*        a word with this prefix
//	-word         not this (also before a phrase, and before title: and url:)
//	title:word    in the title
//	url:word      in the URL
//	site:host/dir pages whose URL begins so
//
// A word with punctuation, such as java.util.List, is a phrase of its parts.
type query struct {
	units []unit
	sites []string
	any   bool // a page need not have all of the bare words
}

// unit is a condition on the words of a page.
type unit struct {
	words  []token
	prefix bool   // the last word is a prefix
	not    bool   // it must not occur
	column string // "title", "url", or "" for anywhere
}

// maxQuery (octets) and maxUnits limit the cost of a query.
const (
	maxQuery = 2000
	maxUnits = 32
)

// parse parses a query. There are no invalid queries; parts without meaning are ignored.
func parse(text string) (q query) {
	text = strings.ToValidUTF8(text[:min(len(text), maxQuery)], " ")
	for text = strings.TrimSpace(text); text != "" && len(q.units) < maxUnits; text = strings.TrimSpace(text) {
		var u unit
		if rest, ok := strings.CutPrefix(text, "-"); ok && startsUnit(rest) {
			u.not, text = true, rest
		}
		var part string
		part, text = q.field(&u, text)
		if part == "" {
			continue
		}
		var quoted bool
		if part, text, quoted = phrase(part, text); !quoted && strings.HasSuffix(part, "*") {
			u.prefix, part = true, strings.TrimRight(part, "*")
		}
		new(tokenizer).each(part, func(t token) { u.words = append(u.words, t) })
		if u.words = withoutLast(u.words); len(u.words) > 0 {
			q.units = append(q.units, u)
		}
	}
	return q
}

// startsUnit reports whether a minus before s negates a condition: not if it stands alone or
// precedes another minus.
func startsUnit(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && !unicode.IsSpace(r) && r != '-'
}

// field parses the field name of a word. It returns what is left of the word, which is nothing
// for site:, and the text after it.
func (q *query) field(u *unit, text string) (part, rest string) {
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	name, value, ok := strings.Cut(text[:end], ":")
	switch {
	case !ok:
	case strings.EqualFold(name, "site"):
		if value = strings.TrimPrefix(strings.TrimPrefix(value, "http://"), "https://"); value != "" && !u.not {
			q.sites = append(q.sites, value)
		}
		return "", text[end:]
	case strings.EqualFold(name, "title"), strings.EqualFold(name, "url"):
		u.column = strings.ToLower(name)
		skip := len(name) + 1
		return text[skip:end], text[end:]
	}
	return text[:end], text[end:]
}

// phrase parses a quoted phrase.
func phrase(part, rest string) (words, after string, quoted bool) {
	r, n := utf8.DecodeRuneInString(part)
	closing, ok := map[rune]string{'"': `"`, '“': "”", '„': "“”", '«': "»", '”': "”"}[r]
	if !ok {
		return part, rest, false
	}
	all := part[n:] + rest
	end := strings.IndexAny(all, closing+`"`)
	if end < 0 {
		return all, "", true
	}
	_, n = utf8.DecodeRuneInString(all[end:])
	return all[:end], all[end+n:], true
}

// withoutLast drops the single last letter of a run of letter pairs, since the run may continue
// in a text. A query that is a single letter matches every pair that begins with it.
func withoutLast(words []token) []token {
	if n := len(words); n > 1 && words[n-1].last {
		return words[:n-1]
	}
	return words
}

// IsEmpty reports whether a query has nothing that a page must have. Such a query finds
// nothing.
func IsEmpty(text string) bool {
	q := parse(text)
	return q.empty()
}

// empty reports whether a query requires nothing.
func (q *query) empty() bool {
	for _, u := range q.units {
		if !u.not {
			return false
		}
	}
	return len(q.sites) == 0
}
