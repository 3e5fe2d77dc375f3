package htmlmeta

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// cyrillicCodes are the charsets of Russian pages, most common first. They use the same octets,
// so only the text distinguishes them; general detectors, trained on long texts, are often
// wrong for short pages.
var cyrillicCodes = []struct {
	name string
	code *charmap.Charmap
}{
	{"windows-1251", charmap.Windows1251},
	{"koi8-r", charmap.KOI8R},
	{"ibm866", charmap.CodePage866},
	{"iso-8859-5", charmap.ISO8859_5},
	{"x-mac-cyrillic", charmap.MacintoshCyrillic},
}

// letterCost is the negative natural logarithm of the frequency of each letter in Russian text.
// Letters of related languages that Russian lacks cost more, and other characters even more.
var letterCost = func() map[rune]float64 {
	m := map[rune]float64{}
	costs := []float64{
		2.5, 4.1, 3.1, 4.1, 3.5, 2.5, 4.7, 4.1, 2.6, 4.4, 3.4, 3.1, 3.4, 2.7, 2.2, 3.6,
		3.1, 2.9, 2.8, 3.6, 6.0, 4.6, 5.3, 4.2, 4.9, 5.6, 7.8, 4.0, 4.1, 5.7, 5.1, 3.9,
	}
	for i, c := range costs {
		m['а'+rune(i)] = c
	}
	m['ё'] = 6
	for _, r := range "іїєґўђѓјљњћќџѕ" {
		m[r] = 6.5
	}
	return m
}()

// Costs of what is rare in Russian text.
const (
	costOther   = 9.0 // neither a letter nor common punctuation
	costCase    = 4.0 // a capital after a small letter
	costMixed   = 3.0 // a Latin letter next to a Cyrillic one
	costShout   = 0.3 // added to the mean for text without small letters
	costLikely  = 3.6 // mean cost up to which text counts as Russian, which has 2.8 to 3.4
	costMargin  = 0.1 // by how much a rarer charset must be better
	fewestHighs = 4   // fewest non-ASCII octets needed
)

// detectCyrillic detects the Cyrillic charset of a text, if it is in one.
func detectCyrillic(text []byte) (textCode, bool) {
	best, least := "", costLikely
	for _, c := range cyrillicCodes {
		if cost, ok := russianCost(text, c.code); ok && (cost < least-costMargin || best == "" && cost < least) {
			best, least = c.name, cost
		}
	}
	return codeOf(best), best != ""
}

// russianCost returns the mean cost of the non-ASCII octets.
func russianCost(text []byte, code *charmap.Charmap) (float64, bool) {
	sum, n, small := 0.0, 0, false
	before := ' '
	for i, b := range text {
		if b < 0x80 {
			before = rune(b)
			continue
		}
		r := code.DecodeByte(b)
		low := unicode.ToLower(r)
		cost, letter := letterCost[low]
		switch {
		case !letter && strings.ContainsRune("\u00a0«»—–„“”…№©", r):
			before = ' '
			continue
		case !letter:
			cost = costOther
		case low != r && before != unicode.ToUpper(before) && before >= 0x80:
			cost += costCase
		}
		if letter && (before < 0x80 && isLetter(byte(before)) || i+1 < len(text) && isLetter(text[i+1])) {
			cost += costMixed
		}
		small = small || letter && low == r
		sum += cost
		n++
		before = r
	}
	mean := sum / float64(max(n, 1))
	if !small {
		mean += costShout
	}
	return mean, n >= fewestHighs
}
