package search

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"curtsy/htmlmeta"
	"curtsy/storage/crawllog"
)

// snippetLength is the maximum length of a snippet in characters.
const snippetLength = 220

// Snippet is a part of a page's text with words of the query.
type Snippet struct {
	Text  string
	Marks [][2]int // octet ranges in Text that match the query
}

// shown is a page whose snippet has to be read.
type shown struct {
	body *crawllog.Visit
	most int // characters
}

// snippets reads the snippets of hits from the archive, several concurrently.
func (s *Searcher) snippets(ctx context.Context, hits []Hit, list []shown, terms []term) error {
	var wg sync.WaitGroup
	errs := make([]error, len(hits))
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range hits {
		if list[i].most == 0 {
			continue
		}
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			hits[i].Snippet, errs[i] = s.snippet(ctx, list[i], terms, hits[i].Lang)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s *Searcher) snippet(ctx context.Context, p shown, terms []term, lang string) (Snippet, error) {
	t, err := readText(ctx, s.a, p.body, s.o.PDF, false)
	if err != nil {
		return Snippet{}, err
	}
	m := marker{terms: terms, lang: lang, most: p.most}
	m.tokens.turkish = lang == "tr"
	return m.best(t.title, t.blocks), nil
}

// marker finds the part of a text with most words of the query.
type marker struct {
	terms  []term
	lang   string
	most   int
	tokens tokenizer
}

// mark is a match of a query word.
type mark struct {
	from, to int
	term     int
}

// best returns the best snippet of a text, the first among equals; the beginning of the text if
// nothing matches. Blocks that repeat the title are ignored.
func (m *marker) best(title string, blocks []htmlmeta.Block) Snippet {
	var first, best Snippet
	most := 0
	for i := range blocks {
		text, marks := m.visible(&blocks[i])
		if text == "" || text == title {
			continue
		}
		if first.Text == "" || len(first.Text) < 40 && len(text) > 40 {
			first = m.cut(text, nil, 0)
		}
		for j := range marks {
			if n := m.worth(&blocks[i], text, marks, j); n > most {
				most, best = n, m.cut(text, marks, j)
			}
		}
		if most >= 2*len(m.terms) {
			break // all words near each other: nothing can be better
		}
	}
	if most == 0 {
		return first
	}
	return best
}

// visible returns the displayable text of a block, and the matches in it.
func (m *marker) visible(b *htmlmeta.Block) (text string, marks []mark) {
	if text = b.Text; len(b.Hidden) > 0 {
		text = strings.Trim(strings.Join(strings.Fields(b.Shown(" … ")), " "), "… ")
	}
	m.tokens.each(text, func(k token) {
		for i := range m.terms {
			if m.matches(&m.terms[i], k) {
				marks = append(marks, mark{k.from, k.to, i})
				return
			}
		}
	})
	return text, marks
}

func (m *marker) matches(t *term, k token) bool {
	if k.pair {
		return t.stems[k.word] || t.begins(k.word)
	}
	if t.word == k.word {
		return true
	}
	return t.stems[k.in(m.lang)] || t.begin != "" && t.begins(fold(k.word))
}

// worth is twice the number of different words within a snippet's length after a mark, less one
// for headings and short texts.
func (m *marker) worth(b *htmlmeta.Block, text string, marks []mark, from int) int {
	seen := map[int]bool{}
	end := marks[from].from + m.most
	for _, k := range marks[from:] {
		if k.to > end {
			break
		}
		seen[k.term] = true
	}
	n := 2 * len(seen)
	if len(text) < 60 || b.Head {
		n-- // the text below a heading says more
	}
	return n
}

// cut returns the part of a text around a mark, at word boundaries if possible.
func (m *marker) cut(text string, marks []mark, at int) Snippet {
	from := 0
	if utf8.RuneCountInString(text) > m.most && at < len(marks) {
		from = m.start(text, marks, at)
	}
	to, n := len(text), 0
	for i := range text[from:] {
		if n == m.most {
			to = from + i
			break
		}
		n++
	}
	if space := strings.LastIndexByte(text[from:to], ' '); to < len(text) && space > (to-from)*3/4 {
		to = from + space
	}
	s := Snippet{Text: text[from:to]}
	for _, k := range marks {
		if k.from >= from && k.to <= to && (len(s.Marks) == 0 || s.Marks[len(s.Marks)-1][1] <= k.from-from) {
			s.Marks = append(s.Marks, [2]int{k.from - from, k.to - from})
		}
	}
	return s
}

// start returns where the snippet begins: some words before the mark.
func (m *marker) start(text string, marks []mark, at int) int {
	before := min(marks[at].from, m.most/4)
	from := marks[at].from - before
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	if from == 0 {
		return 0
	}
	if i := strings.IndexByte(text[from:marks[at].from], ' '); i >= 0 {
		from += i + 1
	}
	return from
}
