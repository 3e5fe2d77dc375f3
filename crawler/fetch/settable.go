package fetch

import "net/textproto"

// Unsettable says why a field of Options.Header is not sent; "" if it is. It
// speaks of the name only.
func Unsettable(name string) string {
	switch key := textproto.CanonicalMIMEHeaderKey(name); {
	case framing[key]:
		return "belongs to the connection, and is set for each request"
	case forOneOrigin(key):
		return "is a secret of one host, and would go to every host that is asked"
	}
	return ""
}

// forOneOrigin says whether a field holds credentials, which must not go to
// every origin; Request.Header may have them.
func forOneOrigin(key string) bool {
	switch key {
	case "Authorization", "Cookie", "Proxy-Authorization":
		return true
	}
	return false
}
