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
func encodePath(s string) string { return encode(s, &unreserved) }

// encodeFragment encodes a fragment so that it is safe in every charset and between any quotes.
// Browsers decode it when they look up the element.
func encodeFragment(s string) string { return encode(s, &inFragment) }

const hexDigits = "0123456789ABCDEF"

// encode percent-encodes the octets of s that are not plain.
func encode(s string, plain *[256]bool) string {
	from := 0
	for from < len(s) && plain[s[from]] {
		from++
	}
	if from == len(s) {
		return s
	}
	b := append(make([]byte, 0, len(s)+32), s[:from]...)
	for _, c := range []byte(s[from:]) {
		if plain[c] {
			b = append(b, c)
		} else {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
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

// encodeLive encodes an absolute URL for CSS and srcset.
func encodeLive(s string) string {
	if !strings.ContainsAny(s, "'(),") {
		return s
	}
	return strings.NewReplacer("'", "%27", "(", "%28", ")", "%29", ",", "%2C").Replace(s)
}
