package judge

import "strings"

// Hashes name versions: a commit, a file as it was. A repository's browser
// has each of them in its URLs, whole or cut to its beginning.

// leastHash is the fewest octets of a hash that is cut short. Fossil has ten,
// Mercurial twelve.
const leastHash = 8

// versionKey is how much of a hash tells one version from another.
const versionKey = 8

// eachHash calls f for the beginning and the end of every hash in a text: a
// word of lower-case hexadecimal digits, with digits and letters among them
// unless it is as long as an MD5.
func eachHash(s string, least int, f func(from, to int)) {
	for i := 0; i < len(s); {
		if !isWord(s[i]) {
			i++
			continue
		}
		from, hex, digits, letters := i, true, false, false
		for ; i < len(s) && isWord(s[i]); i++ {
			switch c := s[i]; {
			case c >= '0' && c <= '9':
				digits = true
			case c >= 'a' && c <= 'f':
				letters = true
			default:
				hex = false
			}
		}
		if n := i - from; hex && n >= least && (digits && letters || n >= 32) {
			f(from, i)
		}
	}
}

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

func hasHash(s string, least int) (has bool) {
	eachHash(s, least, func(int, int) { has = true })
	return has
}

// withoutHashes makes every hash of a target a star, and lists the versions
// that they name.
func withoutHashes(target string) (shape string, versions []string) {
	var b strings.Builder
	end := 0
	eachHash(target, leastHash, func(from, to int) {
		b.WriteString(target[end:from])
		b.WriteByte('*')
		versions = append(versions, target[from:from+versionKey])
		end = to
	})
	if end == 0 {
		return target, nil
	}
	b.WriteString(target[end:])
	return b.String(), versions
}
