package judge

import (
	"strconv"
	"strings"
)

// HowImported is the How of an imported capture, without the letter of its last hop.
const HowImported = "imported, hop "

// hops has the hop letters of URLs that are not links of a page; 0 begins a path.
var hops = map[How]byte{HowSeed: 0, HowGiven: 0, HowRedirect: 'R', HowRobots: 'P', HowUsageFile: 'P', HowLicense: 'P',
	HowSitemap: 'M', HowSitemapIndex: 'M', HowSitemapLine: 'M', HowProbe: 'I', HowName: 'I', HowOwnName: 'I',
	HowGuess: 'I', HowDamaged: 0, "imported": 0, "in the archive": 0}

// Hop returns the letter by which Heritrix (org.archive.modules.extractor.Hop) denotes how a URL was
// found: L link, E embed, R redirect, P prerequisite, M manifest (a sitemap), X speculative (from a
// script), I inferred; 0 if a path begins here or nothing is known.
func Hop(how How, requisite, via bool) byte {
	letter, ok := hops[how]
	imported, isImported := strings.CutPrefix(string(how), HowImported)
	switch {
	case how == HowSeed && via:
		return 'R' // the target of a seed's redirect
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

// MaxHops is how many letters of a hop path are kept: the last ones, after the number of those left out
// and a plus, as in Heritrix (CrawlURI.extendHopsPath).
const MaxHops = 50

// ExtendHops appends a hop to a path; hop 0 appends nothing.
func ExtendHops(path string, hop byte) string {
	if hop == 0 {
		return path
	}
	n, letters, long := strings.Cut(path, "+")
	if !long {
		n, letters = "0", path
	}
	if letters += string(rune(hop)); len(letters) > MaxHops {
		left, _ := strconv.Atoi(n) // written by this function
		n, letters, long = strconv.Itoa(left+1), letters[1:], true
	}
	if long {
		return n + "+" + letters
	}
	return letters
}
