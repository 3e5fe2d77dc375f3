package mirror

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// decode decodes percent-encoding, once.
func decode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b = append(b, c[0])
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// escape writes what may cause trouble in file systems, shells or terminals as %XX, and
// everything else in NFC.
func escape(s string) string {
	if plainName(s) {
		return s
	}
	s = norm.NFC.String(s) // leaves invalid UTF-8 unchanged
	var b strings.Builder
	escaped := false
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		escaped = r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|%`, r) ||
			escaped && joins(s)
		if escaped {
			writeEscaped(&b, s[:n])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func writeEscaped(b *strings.Builder, s string) {
	for _, c := range []byte(s) {
		fmt.Fprintf(b, "%%%02X", c)
	}
}

// joins reports whether s begins with a combining mark that would combine with the last hex
// digit of an escape before it ("%2A" and a diaeresis would become "%2Ä").
func joins(s string) bool {
	return s != "" && s[0] >= utf8.RuneSelf && !norm.NFC.PropertiesString(s).BoundaryBefore()
}

func plainName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c >= 0x7f || strings.IndexByte(`/\:*?"<>|%`, c) >= 0 {
			return false
		}
	}
	return true
}

// safe makes a name safe: it escapes Windows device names, a leading dash, tilde, dot or blank
// and a trailing dot or blank, and defuses extensions that servers or desktops act on.
func safe(s string) string {
	if s == "" {
		return "%2F"
	}
	s = defuse(s)
	if strings.IndexByte("-~. ", s[0]) >= 0 || isDevice(s) {
		s = escapeFirst(s)
	}
	if last := s[len(s)-1]; last == '.' || last == ' ' {
		s = s[:len(s)-1] + fmt.Sprintf("%%%02X", last)
	}
	return s
}

// escapeFirst escapes the first octet, and combining marks after it.
func escapeFirst(s string) string {
	var b strings.Builder
	writeEscaped(&b, s[:1])
	for s = s[1:]; joins(s); {
		_, n := utf8.DecodeRuneInString(s)
		writeEscaped(&b, s[:n])
		s = s[n:]
	}
	return b.String() + s
}

// isDevice reports whether Windows takes a name for a device, with any extension.
func isDevice(s string) bool {
	base, _, _ := strings.Cut(s, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	port, ok := strings.CutPrefix(base, "com")
	if !ok {
		port, ok = strings.CutPrefix(base, "lpt")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}
