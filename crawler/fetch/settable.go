package fetch

import (
	"net/textproto"
	"slices"
	"strings"
)

// Unsettable says why a field of Options.Header is not sent; "" if it is. It judges by the name.
func Unsettable(name string) string {
	switch key := textproto.CanonicalMIMEHeaderKey(name); key {
	case "Authorization", "Cookie", "Proxy-Authorization": // Request.Header may contain them
		return "is a secret of one host, and would go to every host that is asked"
	default:
		if framing[key] {
			return "belongs to the connection, and is set for each request"
		}
	}
	return ""
}

// secretParts and secretWords occur in the names of fields with credentials: X-Api-Key,
// X-Auth-Token, X-Amz-Security-Token, X-Hub-Signature, Client-Secret. They are meant to match
// rather too many names than too few.
var (
	secretParts = []string{"auth", "token", "secret", "passw", "passphrase", "credential", "session", "signature",
		"cookie", "apikey", "accesskey", "bearer", "license", "private"}
	secretWords = []string{"key", "keys", "pass", "pwd", "pin", "sid", "jwt", "otp", "sig", "hmac", "login"}
)

// Secret reports whether a field holds credentials, judged by its name. Such a field is sent to one
// origin only, as part of Login.Header.
func Secret(name string) bool {
	name = strings.ToLower(name)
	words := strings.FieldsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' })
	for _, word := range words {
		if slices.Contains(secretWords, word) {
			return true
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "author" || w == "authors" || w == "authority" })
	plain := strings.Join(words, "")
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(plain, part) })
}
