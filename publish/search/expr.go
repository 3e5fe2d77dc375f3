package search

import (
	"context"
	"strings"
)

// term is a word of a query with all its stems.
type term struct {
	stems map[string]bool
	raw   string // folded, not stemmed
	word  string
	begin string // prefix of the words, if it is a prefix query
}

// Limits of the expansion of a prefix.
const (
	maxExpansion = 100
	maxSameRaw   = 20
)

// compile makes the FTS5 expression of a query, and the terms for ranking hits and marking
// snippets.
func (s *Searcher) compile(ctx context.Context, q query, langs []string) (expr string, terms []term, err error) {
	var with, without, some []string
	var single *unit // the previous unit, if it is one bare word
	for i := range q.units {
		u := &q.units[i]
		text, found, err := s.unit(ctx, u, langs)
		if err != nil {
			return "", nil, err
		}
		if u.column != "" {
			text = u.column + " : (" + text + ")"
		}
		if u.not {
			without = append(without, "("+text+")")
			continue
		}
		if q.any && u.bare() {
			some, terms = append(some, text), append(terms, found...)
			continue
		}
		with, terms = append(with, "("+text+")"), append(terms, found...)
		joined := s.joined(ctx, single, u, langs)
		if single = nil; joined != "" {
			n, m := len(with), len(terms)
			with = append(with[:n-2], "(("+with[n-2]+" AND "+with[n-1]+`) OR "`+joined+`")`)
			terms[m-1].stems[joined], terms[m-2].stems[joined] = true, true
		} else if u.bare() {
			single = u
		}
	}
	if len(some) > 0 {
		with = append(with, "("+strings.Join(some, " OR ")+")")
	}
	expr = strings.Join(with, " AND ")
	if expr != "" && len(without) > 0 {
		expr = "(" + expr + ") NOT (" + strings.Join(without, " OR ") + ")"
	}
	return expr, terms, nil
}

// bare reports whether a condition is a single word, anywhere.
func (u *unit) bare() bool {
	return len(u.words) == 1 && !u.words[0].pair && !u.prefix && !u.not && u.column == ""
}

// joined joins two words of a query if some title has them as one word, so that hash map finds
// HashMap; "" otherwise.
func (s *Searcher) joined(ctx context.Context, before, u *unit, langs []string) string {
	if before == nil || !u.bare() {
		return ""
	}
	f := idfs{s: s, ctx: ctx}
	for _, lang := range langs {
		if word := stem(before.words[0].word+u.words[0].word, lang); f.count(word) > 0 {
			return word
		}
	}
	return ""
}

// unit makes the expression of a condition: an OR of its forms in the languages of the archive.
func (s *Searcher) unit(ctx context.Context, u *unit, langs []string) (string, []term, error) {
	n := len(u.words)
	if w := u.words[n-1]; w.last && n == 1 {
		return `"` + w.word + `" *`, []term{{begin: w.word, word: w.word, raw: w.word}}, nil
	}
	terms := make([]term, n)
	for i, w := range u.words {
		terms[i] = term{stems: map[string]bool{}, word: w.word, raw: cutWord(fold(w.word))}
	}
	var phrases []string
	for _, lang := range langs {
		stems := make([]string, n)
		for i, w := range u.words {
			if stems[i] = w.word; !w.pair {
				stems[i] = stem(w.word, lang)
			}
			terms[i].stems[stems[i]] = true
		}
		phrases = append(phrases, strings.Join(stems, " "))
	}
	last := &terms[n-1]
	var more []string
	var err error
	switch {
	case u.words[n-1].pair:
	case u.prefix:
		last.begin = last.raw
		more, err = column[string](ctx, s.db, `SELECT DISTINCT stem FROM words WHERE raw >= ? AND raw < ? LIMIT ?`,
			last.raw, last.raw+"\U0010FFFF", maxExpansion)
	case n == 1:
		more, err = column[string](ctx, s.db, `SELECT stem FROM words WHERE raw = ? LIMIT ?`, last.raw, maxSameRaw)
	}
	if err != nil {
		return "", nil, err
	}
	for _, stem := range more {
		last.stems[stem] = true
		phrases = append(phrases, phraseEnding(phrases[0], stem))
	}
	return `"` + strings.Join(distinct(phrases), `" OR "`) + `"`, terms, nil
}

// phraseEnding replaces the last word of a phrase.
func phraseEnding(phrase, stem string) string {
	return phrase[:strings.LastIndexByte(phrase, ' ')+1] + stem
}
