package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
)

// candidate is a page that matches a query.
type candidate struct {
	id      int64
	n       int
	url     string
	lang    string
	raws    []string // words of the title, unstemmed
	stems   []string // words of the title, stemmed
	last    []string // words of the last path segment, stemmed
	inlinks int
	bm25    float64 // positive, higher is better
	score   float64
}

// Weights of the score, tuned with the query sets of .ci/e2e/94-search.sh.
const (
	weightText     = 3.0  // bm25, relative to the best candidate
	weightTitle    = 6.0  // overlap of title and query
	weightSegment  = 2.0  // overlap of last path segment and query
	weightLinks    = 0.25 // per factor e of pages that link here
	weightAsTyped  = 1.0  // overlap of title and query, unstemmed
	columnWeights  = `4.0, 2.0, 1.0, 1.0`
	mostCandidates = 200
	// mostWeighed is the least limit on the pages scored by bm25; the limit grows to a
	// fifteenth of all pages. The first discovered are scored, which are near the seed. Only
	// words without significance are on more pages.
	mostWeighed = 800
	// fewestFound is how many pages with all words of a question suffice.
	fewestFound = 30
)

// rank sorts candidates, best first.
func (s *Searcher) rank(ctx context.Context, list []candidate, terms []term) error {
	best := 0.0
	for i := range list {
		best = max(best, list[i].bm25)
	}
	idf := &idfs{s: s, ctx: ctx}
	for i := range list {
		c := &list[i]
		if best > 0 {
			c.score = weightText * c.bm25 / best
		}
		c.score += weightTitle*cover(c.stems, c.stems, terms, matchStem, idf) +
			weightSegment*cover(c.last, c.last, terms, matchStem, idf) +
			weightAsTyped*cover(c.raws, c.stems, terms, matchRaw, idf) +
			weightLinks*math.Log1p(float64(c.inlinks))
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.url), len(b.url)), cmp.Compare(a.url, b.url))
	})
	return idf.err
}

func matchStem(t *term, word string) bool { return t.stems[word] || t.begins(word) }

func matchRaw(t *term, word string) bool { return t.raw == word || t.begins(word) }

func (t *term) begins(word string) bool { return t.begin != "" && strings.HasPrefix(word, t.begin) }

// cover measures the overlap of words and query: the weight of what is in both, divided by the
// weight of what is in either. weigh are the stems that give the words their weight.
func cover(words, weigh []string, terms []term, match func(*term, string) bool, idf *idfs) float64 {
	if len(words) == 0 || len(words) != len(weigh) || len(terms) == 0 {
		return 0
	}
	both, either := 0.0, 0.0
	found := make([]bool, len(terms))
	for i, w := range words {
		if slices.Contains(words[:i], w) {
			continue
		}
		weight, hit := idf.of(weigh[i]), false
		for j := range terms {
			if match(&terms[j], w) {
				hit, found[j] = true, true
			}
		}
		either += weight
		if hit {
			both += weight
		}
	}
	for j := range terms {
		if !found[j] {
			either += idf.of(slices.Collect(maps.Keys(terms[j].stems))...)
		}
	}
	if either == 0 {
		return 0
	}
	return both / either
}

// idfs are the inverse document frequencies of words in titles.
type idfs struct {
	s   *Searcher
	ctx context.Context
	err error
}

// of returns the weight of a word by the number of titles that have one of its stems.
func (f *idfs) of(stems ...string) float64 {
	n := 0.0
	for _, stem := range stems {
		n += f.count(stem)
	}
	return math.Log(1 + (float64(f.s.docs)+1)/(n+1))
}

// maxTitles is the most counts cached.
const maxTitles = 100_000

func (f *idfs) count(stem string) float64 {
	if n, ok := f.s.titles[stem]; ok {
		return n
	}
	var n float64
	err := f.s.titleCount.QueryRowContext(f.ctx, stem).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		f.err = cmp.Or(f.err, err)
		return 0
	}
	if len(f.s.titles) > maxTitles {
		clear(f.s.titles)
	}
	f.s.titles[stem] = n
	return n
}
