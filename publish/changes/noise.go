package changes

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
)

// noise counts the pages on which a block of text was added or removed, by its text and by its
// shape. A block that changes on many pages at once is noise.
type noise struct {
	seed  maphash.Seed
	pages int // visited in the comparison
	count map[uint64]int
}

func newNoise() *noise { return &noise{seed: maphash.MakeSeed(), count: map[uint64]int{}} }

// A block is noise if it changed on more than a noiseShare-th of the pages compared and on at
// least noiseLeast. With fewer than fewPages pages, changes that only affect the masked words
// of shape are noise too.
const (
	noiseShare = 20 // one page in
	noiseLeast = 5
	fewPages   = 20
)

// add counts the blocks that were added or removed on one page.
func (n *noise) add(list []passage) {
	on := map[uint64]bool{}
	for _, p := range list {
		for _, block := range append(p.was[:len(p.was):len(p.was)], p.now...) {
			on[maphash.String(n.seed, block)] = true
			on[maphash.String(n.seed, "\x00"+shape(block))] = true
		}
	}
	for key := range on {
		n.count[key]++
	}
}

// left returns the blocks that are not noise. With few pages to learn from, a change that keeps
// the shape of the passage is noise.
func (n *noise) left(p passage) (was, now []string) {
	if n.pages < fewPages && shape(strings.Join(p.was, "\n")) == shape(strings.Join(p.now, "\n")) {
		return nil, nil
	}
	return n.without(p.was), n.without(p.now)
}

func (n *noise) without(blocks []string) []string {
	many := max(noiseLeast, n.pages/noiseShare+1)
	return slices.DeleteFunc(slices.Clone(blocks), func(block string) bool {
		return n.count[maphash.String(n.seed, block)] >= many ||
			n.count[maphash.String(n.seed, "\x00"+shape(block))] >= many
	})
}

// shape masks what often differs: words with a digit, and names of days and months.
func shape(text string) string {
	var b strings.Builder
	for i, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	}) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.ContainsFunc(word, unicode.IsDigit) || calendarNames[word] {
			word = "#"
		}
		b.WriteString(word)
	}
	return b.String()
}

// calendarNames are names of days and months in common languages, with some abbreviations.
var calendarNames = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`
		jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august
		september october november december mon tue wed thu fri sat sun monday tuesday wednesday thursday friday
		saturday sunday januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag
		freitag samstag sonntag janvier février mars avril juin juillet août septembre octobre novembre décembre
		lundi mardi mercredi jeudi vendredi samedi dimanche enero febrero marzo abril mayo junio julio agosto
		septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo января
		февраля марта апреля мая июня июля августа сентября октября ноября декабря понедельник вторник среда
		четверг пятница суббота воскресенье am pm utc gmt`) {
		names[name] = true
	}
	return names
}()
