package mirror

import "strings"

// unreserved are the octets that a reference in a file may hold as they are,
// in HTML, srcset, CSS and XML alike.
var unreserved = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/@=!+") {
		t[c] = true
	}
	return
}()

// relative is the reference from one file of the tree to another.
func relative(from, to string) string {
	common := 0
	for i := 0; i < len(from) && i < len(to) && from[i] == to[i]; i++ {
		if from[i] == '/' {
			common = i + 1
		}
	}
	up := strings.Count(from[common:], "/")
	return strings.Repeat("../", up) + encodePath(to[common:])
}

// encodePath percent-encodes a path of the tree for use in a reference. What
// is escaped in the name is encoded once more.
func encodePath(s string) string {
	n := 0
	for i := 0; i < len(s); i++ {
		if !unreserved[s[i]] {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := 0; i < len(s); i++ {
		b = appendEncoded(b, s[i], unreserved[s[i]])
	}
	return string(b)
}

const hexDigits = "0123456789ABCDEF"

func appendEncoded(b []byte, c byte, plain bool) []byte {
	if plain {
		return append(b, c)
	}
	return append(b, '%', hexDigits[c>>4], hexDigits[c&15])
}

// encodeFragment makes a fragment one that stands the same in every charset
// and between any quotes: browsers undo the encoding when they look for it.
func encodeFragment(s string) string {
	if plainFragment(s) {
		return s
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		b = appendEncoded(b, s[i], inFragment[s[i]])
	}
	return string(b)
}

// inFragment are the octets that stand in a fragment as they are.
var inFragment = func() (t [256]bool) {
	for c := '!'; c < 0x7f; c++ {
		t[c] = !strings.ContainsRune("\"'<>`()\\", c)
	}
	return
}()

func plainFragment[T string | []byte](s T) bool {
	for i := range len(s) {
		if !inFragment[s[i]] {
			return false
		}
	}
	return true
}

// encodeLive makes an absolute URL one that can stand in CSS and srcset.
func encodeLive(s string) string {
	if !strings.ContainsAny(s, "'(),") {
		return s
	}
	return strings.NewReplacer("'", "%27", "(", "%28", ")", "%29", ",", "%2C").Replace(s)
}
