package changes

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Passage is a place where a text changed, compared word by word.
type Passage struct {
	Was   string `json:"was"` // "" if all of it was added
	Now   string `json:"now"` // "" if all of it was removed
	Words []Word `json:"words"`
}

// Word is a run of words that stayed, were added or were removed.
type Word struct {
	Op   string `json:"op"` // "=", "+" or "-"
	Text string `json:"text"`
}

// passage has the blocks removed from and added to a text at one place.
type passage struct{ was, now []string }

// compareBlocks compares two lists of blocks. Blocks contain no line ends.
func compareBlocks(was, now []string) (list []passage) {
	before, after := lines(was), lines(now)
	for _, e := range udiff.Lines(before, after) {
		list = append(list, passage{split(before[e.Start:e.End]), split(e.New)})
	}
	return list
}

func lines(blocks []string) string {
	if len(blocks) == 0 {
		return ""
	}
	return strings.Join(blocks, "\n") + "\n"
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// maxWords is the most words of a passage that is compared word by word.
const maxWords = 5000

// passageOf compares the removed with the added blocks, word by word.
func passageOf(was, now []string) Passage {
	p := Passage{Was: strings.Join(was, "\n"), Now: strings.Join(now, "\n")}
	before, after := strings.Fields(p.Was), strings.Fields(p.Now)
	if len(before) == 0 || len(after) == 0 || len(before)+len(after) > maxWords {
		p.add("-", before)
		p.add("+", after)
		return p
	}
	text := lines(before)
	at := 0
	for _, e := range udiff.Lines(text, lines(after)) {
		p.add("=", split(text[at:e.Start]))
		p.add("-", split(text[e.Start:e.End]))
		p.add("+", split(e.New))
		at = e.End
	}
	p.add("=", split(text[at:]))
	return p
}

func (p *Passage) add(op string, words []string) {
	if len(words) > 0 {
		p.Words = append(p.Words, Word{op, strings.Join(words, " ")})
	}
}
