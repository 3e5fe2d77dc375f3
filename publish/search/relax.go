package search

import (
	"context"
	"slices"
	"strings"
)

// asking are words of questions that, like common words, say nothing about the subject.
var asking = strings.Fields("how what why which when where who whose do does did can could should must have has " +
	"i my me we our you your they them there so if then while without whenever whether " +
	"wie was warum welche welcher welches welchem wann wo wer wozu kann können darf muss soll " +
	"ich mein meine meinen meinem man wir werden diese dieser dieses eigene eigenes haben hat nach bei aus " +
	"как что почему какой какая какое какие каком какому где когда кто чем зачем " +
	"можно ли нужно мне мой моя мои я мы у о об быть есть как какво защо кой коя кое кои къде кога мога ми аз ли")

// bare counts the single words of a query.
func (q *query) bare() (n int) {
	for i := range q.units {
		if q.units[i].bare() {
			n++
		}
	}
	return n
}

// asks reports whether a query contains a word of asking.
func (q *query) asks() bool {
	return slices.ContainsFunc(q.units, func(u unit) bool {
		return u.bare() &&
			slices.Contains(asking, u.words[0].word)
	})
}

// telling returns a query without common words and words of asking; the query itself if nothing
// would be left.
func (q query) telling() query {
	units := slices.DeleteFunc(slices.Clone(q.units), func(u unit) bool {
		return u.bare() && (common[u.words[0].word] != nil || slices.Contains(asking, u.words[0].word))
	})
	if short := (query{units: units, sites: q.sites}); !short.empty() {
		return short
	}
	return q
}

// relaxed finds pages for a question of which few pages have all words: pages with all
// significant words and, if these are few, pages with some of them.
func (s *Searcher) relaxed(ctx context.Context, asked query, langs []string, w wanted) (list []candidate, terms []term,
	_ wanted, err error) {
	asked = asked.telling()
	for _, asked.any = range []bool{false, true} {
		if w.expr, terms, err = s.compile(ctx, asked, langs); err != nil {
			return nil, nil, w, err
		}
		more, err := s.ask(ctx, w)
		if err != nil {
			return nil, nil, w, err
		}
		if list = union(list, more); len(list) >= fewestFound {
			break
		}
	}
	return list, terms, w, nil
}
