package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
)

// candidate is a page that has what was asked for.
type candidate struct {
	id      int64
	n       int
	url     string
	title   string
	lang    string
	raws    []string // words of the title
	stems   []string // the same, stemmed
	last    []string // words of the path's last segment, stemmed
	inlinks int
	bm25    float64 // positive, more is better
	score   float64
}

// Weights of the score. They were set by the query sets of .ci/e2e/94-search.sh.
const (
	weightText     = 3.0  // bm25, as part of the best one's
	weightTitle    = 6.0  // how much of title and query are the same
	weightSegment  = 2.0  // how much of the path's last segment and query are
	weightLinks    = 0.25 // per e-fold of pages that link here
	weightAsTyped  = 1.0  // title and query, without stems
	columnWeights  = `4.0, 2.0, 1.0, 1.0`
	mostCandidates = 200
	// mostWeighed is how many pages bm25 is asked of, or a fifteenth of all: the
	// first that were discovered, which are near to the seed. More than that have a
	// word only if it tells nothing.
	mostWeighed = 800
	// fewestFound is how many pages that have all words of a question are enough.
	fewestFound = 30
)

// rank orders candidates, the best first.
func (s *Searcher) rank(ctx context.Context, list []candidate, terms []term) error {
	best := 0.0
	for i := range list {
		best = max(best, list[i].bm25)
	}
	idf := s.idf(ctx)
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

// cover is how much words and query are the same: the weight of what is in
// both, as part of the weight of what is in either. weigh are the stems by which
// the words weigh.
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
			either += idf.ofTerm(&terms[j])
		}
	}
	if either == 0 {
		return 0
	}
	return both / either
}

// idfs are how telling words of titles are: rare ones tell more.
type idfs struct {
	s    *Searcher
	ctx  context.Context
	err  error
	docs float64
}

func (s *Searcher) idf(ctx context.Context) *idfs {
	return &idfs{s: s, ctx: ctx, docs: float64(s.docs)}
}

func (f *idfs) of(stem string) float64 { return math.Log(1 + (f.docs+1)/(f.count(stem)+1)) }

// ofTerm is that of a word of the query: all its stems together.
func (f *idfs) ofTerm(t *term) float64 {
	n := 0.0
	for stem := range t.stems {
		n += f.count(stem)
	}
	return math.Log(1 + (f.docs+1)/(n+1))
}

// maxTitles bounds how many counts are remembered.
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
