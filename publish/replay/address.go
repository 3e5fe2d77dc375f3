package replay

import (
	"net/http"
	"strings"
	"time"

	"curtsy/internal/weburl"
)

// address is a parsed path of a replayed page: time and URL.
type address struct {
	ts   string // as in the path, 1 to 14 digits
	at   time.Time
	raw  bool   // "id_": the octets as archived
	text string // the URL as in the path
	// under is the prefix of the path: "/TOKEN" if the page's origin is opaque.
	under string
}

// pathTo is the path of another URL at the same time.
func (a address) pathTo(u weburl.URL) string { return a.under + pathTo(a.ts, u) }

// tsFormat is the format of times in paths.
const tsFormat = "20060102150405"

// parseAddress parses "/TS/URL" and "/TSid_/URL".
func parseAddress(target string) (a address, ok bool) {
	rest, ok := strings.CutPrefix(target, "/")
	if !ok {
		return a, false
	}
	ts, text, ok := strings.Cut(rest, "/")
	if !ok || text == "" {
		return a, false
	}
	ts, a.raw = strings.CutSuffix(ts, "id_")
	if a.at, ok = parseTS(ts); !ok {
		return a, false
	}
	a.ts, a.text = ts, text
	return a, true
}

// parseTS parses a time of 4 to 14 digits. Missing digits mean the beginning of the year,
// month, day and so on.
func parseTS(ts string) (time.Time, bool) {
	if len(ts) < 4 || len(ts) > len(tsFormat) || strings.Trim(ts, "0123456789") != "" {
		return time.Time{}, false
	}
	t, err := time.Parse(tsFormat, ts+"00000101000000"[len(ts):])
	return t, err == nil
}

// urlsOf returns the URLs that the text in a path may mean, most likely first: as it is; with
// the characters decoded that references encode for lists and styles; and both under the other
// scheme.
func urlsOf(text string) (list []weburl.URL) {
	for _, scheme := range []string{"http:/", "https:/"} { // some clients merge two slashes into one
		if rest, ok := strings.CutPrefix(text, scheme); ok && !strings.HasPrefix(rest, "/") {
			text = scheme + "/" + rest
		}
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	if page, route, ok := strings.Cut(text, routeMark); ok {
		if u, err := weburl.ParsePage(page + "#" + unlisted(route)); err == nil {
			return append([]weburl.URL{u, u.Page()}, urlsOf(page)...)
		}
	}
	for _, s := range []string{text, unlisted(text)} {
		u, err := weburl.ParsePage(s)
		if err != nil || len(list) > 0 && list[0] == u {
			continue
		}
		list = append(list, u)
	}
	for _, u := range list {
		other := "https" + strings.TrimPrefix(u.String(), "http")
		if u.Scheme() == "https" {
			other = "http" + strings.TrimPrefix(u.String(), "https")
		}
		if o, err := weburl.Parse(other); err == nil {
			list = append(list, o)
		}
	}
	return list
}

// Characters that are syntax in srcset and style sheets are encoded in references.
var (
	encoded = strings.NewReplacer("(", "%28", ")", "%29", ",", "%2C", "'", "%27")
	decoded = strings.NewReplacer("%28", "(", "%29", ")", "%2C", ",", "%2c", ",", "%27", "'")
)

// listed encodes a URL for a reference. A '%' that begins no escape is encoded too: net/http refuses it.
func listed(url string) string { return encoded.Replace(eachStray(url, "%", "%25")) }

// unlisted decodes what listed has encoded.
func unlisted(text string) string { return decoded.Replace(eachStray(text, "%25", "%")) }

// eachStray replaces each percent sign, written as from, that two hexadecimal digits do not follow.
func eachStray(s, from, to string) string {
	if !strings.Contains(s, from) {
		return s
	}
	var b strings.Builder
	for s != "" {
		before, after, found := strings.Cut(s, from)
		b.WriteString(before)
		switch {
		case !found:
			return b.String()
		case len(after) >= 2 && strings.Trim(after[:2], "0123456789abcdefABCDEF") == "":
			b.WriteString(from)
		default:
			b.WriteString(to)
		}
		s = after
	}
	return b.String()
}

// routeMark replaces the '#' of a fragment route in paths, which cannot have a fragment.
const routeMark = "%23%23"

// pathTo is the path of a URL at a time.
func pathTo(ts string, u weburl.URL) string {
	return "/" + ts + "/" + listed(u.Page().String()) + strings.Replace(u.Route(), "#", routeMark, 1)
}

// target returns path and query of a request as they were sent.
func target(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		return r.RequestURI
	}
	return r.URL.RequestURI() // absolute-form, as sent to a proxy
}
