package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A query is words, all of which a page must have, in any order:
//
//	word          any form of it
//	"some words"  these words, one after the other, in any of their forms
//	begin*        a word that begins so
//	-word         not this (also before a phrase, and before title: and url:)
//	title:word    in the title
//	url:word      in the URL
//	site:host/dir pages whose URL begins so
//
// A word that holds signs, as java.util.List does, is a phrase of its parts.
type query struct {
	units []unit
	sites []string
	any   bool // a page needs not have all of the bare words
}

// unit is one condition on the words of a page.
type unit struct {
	words  []token
	prefix bool   // the last word is only how a word begins
	not    bool   // it must not be there
	column string // "title", "url", or "" for anywhere
}

// maxQuery and maxUnits bound what one query costs.
const (
	maxQuery = 2000
	maxUnits = 32
)

// parse reads a query. Every text is one; what has no meaning is left out.
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

// startsUnit says whether a minus before it takes a condition away: not where
// it stands alone, nor before another.
func startsUnit(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && !unicode.IsSpace(r) && r != '-'
}

// field takes the name of a field off. It gives what is left of the word, and
// what follows it; of site:, nothing is left.
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

// phrase takes the words between quotation marks, if they begin with one.
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

// withoutLast drops the letter alone that ends a run of pairs: in a text the run
// may go on. Where it is all there is, any pair that begins with it is meant.
func withoutLast(words []token) []token {
	if n := len(words); n > 1 && words[n-1].last {
		return words[:n-1]
	}
	return words
}

// IsEmpty says whether a query names nothing that a page must have: it finds nothing.
func IsEmpty(text string) bool {
	q := parse(text)
	return q.empty()
}

// empty says whether a query asks for nothing.
func (q *query) empty() bool {
	for _, u := range q.units {
		if !u.not {
			return false
		}
	}
	return len(q.sites) == 0
}
