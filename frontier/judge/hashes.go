package judge

import "strings"

// Hashes name versions: a commit, or a file as it was. The URLs of a repository browser contain them,
// complete or abbreviated.

// leastHash is the length of the shortest abbreviated hash. Fossil uses ten octets, Mercurial twelve.
const leastHash = 8

// versionKey is how many octets of a hash identify a version.
const versionKey = 8

// eachHash calls f with the start and the end of every hash in a text: a word of at least least
// lower-case hexadecimal digits that contains both digits and letters, or has the length of an MD5 or
// more.
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

// withoutHashes replaces every hash in a target by a star, and lists the versions they name.
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
