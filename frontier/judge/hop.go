package judge

import (
	"strconv"
	"strings"
)

// HowImported begins how the URL of an imported capture was found, before the letter of its last hop.
const HowImported = "imported, hop "

// hops are the letters of what is no link of a page; 0 begins a path.
var hops = map[How]byte{HowSeed: 0, HowGiven: 0, HowRedirect: 'R', HowRobots: 'P', HowUsageFile: 'P', HowLicense: 'P',
	HowSitemap: 'M', HowSitemapIndex: 'M', HowSitemapLine: 'M', HowProbe: 'I', HowName: 'I', HowOwnName: 'I',
	HowGuess: 'I', HowDamaged: 0, "imported": 0, "in the archive": 0}

// Hop is how a URL was found as a letter of Heritrix (org.archive.modules.extractor.Hop): L link, E embed,
// R redirect, P prerequisite, M manifest (a sitemap), X in a script, I inferred; 0 where a path
// begins, or nothing is known of it.
func Hop(how How, requisite, via bool) byte {
	letter, ok := hops[how]
	imported, isImported := strings.CutPrefix(string(how), HowImported)
	switch {
	case how == HowSeed && via:
		return 'R' // where the seed redirects to
	case ok:
		return letter
	case isImported && len(imported) == 1:
		return imported[0]
	case strings.HasPrefix(string(how), "script"):
		return 'X'
	case requisite:
		return 'E'
	}
	return 'L'
}

// MaxHops is how many letters a path of hops has: of longer ones the last, behind the number of the
// others and a plus, as Heritrix has it (CrawlURI.extendHopsPath).
const MaxHops = 50

// ExtendHops adds a hop to a path, if it is one.
func ExtendHops(path string, hop byte) string {
	if hop == 0 {
		return path
	}
	n, letters, long := strings.Cut(path, "+")
	if !long {
		n, letters = "0", path
	}
	if letters += string(rune(hop)); len(letters) > MaxHops {
		left, _ := strconv.Atoi(n) // of our own making
		n, letters, long = strconv.Itoa(left+1), letters[1:], true
	}
	if long {
		return n + "+" + letters
	}
	return letters
}
