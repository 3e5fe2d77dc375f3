package mirror

import "strings"

// unreserved are the octets that need no encoding in a reference, in HTML, srcset, CSS and XML
// alike.
var unreserved = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/@=!+") {
		t[c] = true
	}
	return
}()

// relative returns the relative reference from one file of the tree to another.
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

// encodePath percent-encodes a path of the tree for a reference. Escapes in names are encoded
// once more.
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

// encodeFragment encodes a fragment so that it is safe in every charset and between any quotes.
// Browsers decode it when they look up the element.
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

// inFragment are the octets that need no encoding in a fragment.
var inFragment = func() (t [256]bool) {
	for c := '!'; c < 0x7f; c++ {
		t[c] = !strings.ContainsRune("\"'<>`()\\", c)
	}
	return
}()

func plainFragment(s string) bool {
	for i := range len(s) {
		if !inFragment[s[i]] {
			return false
		}
	}
	return true
}

// encodeLive encodes an absolute URL for CSS and srcset.
func encodeLive(s string) string {
	if !strings.ContainsAny(s, "'(),") {
		return s
	}
	return strings.NewReplacer("'", "%27", "(", "%28", ")", "%29", ",", "%2C").Replace(s)
}
