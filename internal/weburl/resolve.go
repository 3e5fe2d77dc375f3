package weburl

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/width"
)

// plain are the octets that the WHATWG parser copies unchanged in both path and query,
// regardless of their context. '.' and '%' are among them because resolveFast handles them
// itself.
var plain = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~!$&()+,;=@./%*:") {
		t[c] = true
	}
	return
}()

// resolveFast resolves simple references: a path of plain octets, relative or absolute, with
// dot segments only at the beginning, or a URL that begins with u's own origin. For everything
// else ok is false. A fuzz test compares it with the full parser.
func (u URL) resolveFast(ref string) (URL, bool) {
	if u.href == "" {
		return URL{}, false
	}
	if i := strings.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	if ref == "" {
		return u, true
	}
	if len(ref) >= MaxLength-len(u.href) {
		return URL{}, false
	}
	if ref[0] == 'h' && len(ref) > int(u.pathAt) && ref[u.pathAt] == '/' && ref[:u.pathAt] == u.href[:u.pathAt] {
		ref = ref[u.pathAt:]
	}
	query, ok := scanPlain(ref)
	if !ok {
		return URL{}, false
	}
	if ref[0] == '/' {
		if len(ref) > 1 && (ref[1] == '/' || ref[1] == '.') {
			return URL{}, false
		}
		return u.with(u.href[:u.pathAt], ref, query), true
	}
	if ref[0] == '?' {
		return u.with(u.href[:u.queryAt], ref, 0), true
	}
	dir := strings.LastIndexByte(u.href[:u.queryAt], '/') + 1
	for {
		switch {
		case strings.HasPrefix(ref, "../"):
			if dir > int(u.pathAt)+1 {
				dir = strings.LastIndexByte(u.href[:dir-1], '/') + 1
			}
			ref, query = ref[3:], query-3
			continue
		case strings.HasPrefix(ref, "./"):
			ref, query = ref[2:], query-2
			continue
		}
		break
	}
	if ref == "" {
		return u.with(u.href[:dir], "", 0), true
	}
	if ref[0] == '.' || ref[0] == '/' || ref[0] == '?' {
		return URL{}, false
	}
	return u.with(u.href[:dir], ref, query), true
}

// scanPlain reports whether ref consists of plain octets, and where its query begins (len(ref)
// if it has none). A dot segment after the beginning, an encoded dot, or a colon that may end a
// scheme makes it false.
func scanPlain(ref string) (query int, ok bool) {
	query = len(ref)
	slash := false
	for i := 0; i < len(ref); i++ {
		c := ref[i]
		if !plain[c] && c != '?' {
			return 0, false
		}
		if query < len(ref) {
			continue
		}
		switch c {
		case '?':
			query = i
		case '/':
			slash = true
		case ':':
			if !slash {
				return 0, false
			}
		case '.':
			if i > 0 && ref[i-1] == '/' && !dotsSoFar(ref[:i]) {
				return 0, false
			}
		case '%':
			if i+2 < len(ref) && ref[i+1] == '2' && (ref[i+2] == 'e' || ref[i+2] == 'E') {
				return 0, false
			}
		}
	}
	return query, true
}

// dotsSoFar reports whether s consists of "./" and "../" only.
func dotsSoFar(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '.' && s[i] != '/' {
			return false
		}
	}
	return s[0] == '.'
}

// with joins a prefix of u's href and a plain rest whose query begins at query.
func (u URL) with(prefix, rest string, query int) URL {
	href := prefix + rest
	if rest == "" {
		query = 0
	}
	return URL{href: href, hostAt: u.hostAt, pathAt: u.pathAt, queryAt: uint16(len(prefix) + query),
		routeAt: uint16(len(href))}
}

// encodeQuery percent-encodes non-ASCII characters of ref's query in the document's charset.
// Characters that the charset lacks become numeric character references, as in the URL
// Standard.
func encodeQuery(ref string, enc encoding.Encoding) string {
	q := strings.IndexByte(ref, '?')
	if q < 0 {
		return ref
	}
	end := len(ref)
	if f := strings.IndexByte(ref[q:], '#'); f >= 0 {
		end = q + f
	}
	var b strings.Builder
	b.WriteString(ref[:q])
	for query := ref[q:end]; query != ""; {
		n := strings.IndexFunc(query, func(r rune) bool { return r >= utf8.RuneSelf })
		if n < 0 {
			n = len(query)
		}
		b.WriteString(query[:n])
		query = query[n:]
		n = strings.IndexFunc(query, func(r rune) bool { return r < utf8.RuneSelf })
		if n < 0 {
			n = len(query)
		}
		encodeRun(&b, query[:n], enc)
		query = query[n:]
	}
	b.WriteString(ref[end:])
	return b.String()
}

// encodeRun percent-encodes non-ASCII characters, as many together as possible, since
// ISO-2022-JP has shift sequences between them (URL Standard, percent-encode after encoding).
// ASCII octets are escaped only if they are in the query percent-encode set.
func encodeRun(b *strings.Builder, run string, enc encoding.Encoding) {
	if enc == japanese.ISO2022JP {
		run = strings.Map(wideKatakana, run)
	}
	for run != "" {
		coded, n := encodeStart(run, enc)
		if n == 0 {
			r, size := utf8.DecodeRuneInString(run)
			fmt.Fprintf(b, "%%26%%23%d%%3B", r)
			run = run[size:]
			continue
		}
		for i := 0; i < len(coded); i++ {
			if c := coded[i]; c <= ' ' || c > '~' || strings.IndexByte(`"#<>'`, c) >= 0 {
				fmt.Fprintf(b, "%%%02X", c)
			} else {
				b.WriteByte(c)
			}
		}
		run = run[n:]
	}
}

// wideKatakana maps halfwidth katakana, which ISO-2022-JP lacks (Encoding Standard §12.2.2).
func wideKatakana(r rune) rune {
	if r >= '\uff61' && r <= '\uff9f' {
		return width.LookupRune(r).Wide()
	}
	return r
}

// encodeStart encodes the longest prefix of s that the charset can encode.
func encodeStart(s string, enc encoding.Encoding) (coded string, n int) {
	if coded, err := enc.NewEncoder().String(s); err == nil {
		return coded, len(s)
	}
	for i, r := range s {
		if _, err := enc.NewEncoder().String(string(r)); err != nil {
			n = i
			break
		}
	}
	coded, _ = enc.NewEncoder().String(s[:n])
	return coded, n
}
