package htmlmeta

import (
	"errors"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// Odd is a reference that nobody can follow: malformed, or of a scheme or a mail
// address that is none.
type Odd struct{ Text, Why string }

// maxOdd and maxOddText bound what is kept of them, for one document and of one text in bytes.
const (
	maxOdd     = 100
	maxOddText = 512
)

// schemes are those that a link may have beside http and https.
var schemes = []string{"mailto", "tel", "sms", "javascript", "data", "ftp", "ftps", "sftp", "file", "news", "nntp",
	"irc", "ircs", "magnet", "geo", "xmpp", "sip", "sips",
	"urn", "doi", "git", "ssh", "svn", "webcal", "whatsapp", "skype", "tg", "intent", "market", "blob", "about",
	"view-source", "ws", "wss", "gopher", "gemini", "feed",
	"facetime", "maps", "bitcoin", "ethereum", "matrix", "vscode", "steam", "spotify", "itms", "itms-apps",
	"callto", "fax", "ldap", "telnet", "rtsp", "info", "cid", "mid", "chrome", "slack", "zoommtg", "msteams",
	"android-app", "ios-app"}

// OddScheme says what is wrong with a reference that has a scheme other than http
// and https; other says that it has one.
func OddScheme(ref string) (why string, other bool) {
	if !foreignScheme(ref) {
		return "", false
	}
	scheme, rest, _ := strings.Cut(ref, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case scheme == "mailto":
		return oddMail(rest), true
	case !slices.Contains(schemes, scheme) && !strings.HasPrefix(scheme, "web+") && !strings.Contains(scheme, "+"):
		return "no scheme that is known: " + scheme + ":", true
	}
	return "", true
}

// OddURL says why a reference is no URL: err is that of resolving it.
func OddURL(err error) string { return "no URL: " + err.Error() }

// oddMail says what is wrong with the rest of a mailto URL (RFC 6068).
func oddMail(rest string) string {
	to, query, _ := strings.Cut(rest, "?")
	decoded, err := url.PathUnescape(to)
	if err != nil {
		return "mailto: " + err.Error()
	}
	if decoded == "" && query != "" { // whoever clicks says to whom
		return ""
	}
	for address := range strings.SplitSeq(decoded, ",") {
		if a, err := mail.ParseAddress(strings.TrimSpace(address)); err != nil || a.Name != "" {
			return "mailto: no mail address: " + address
		}
	}
	return ""
}

// skipped counts a reference that is no link to follow, and notes it where that is a
// mistake of the page. What a script, a form or a hint to the browser says is none.
func (s *linkSet) skipped(ref string, l Link, err error) {
	why := ""
	switch {
	case err == nil, errors.Is(err, weburl.ErrScheme):
		s.skip.Scheme++
		why, _ = OddScheme(ref)
	case errors.Is(err, weburl.ErrTooLong):
		s.skip.TooLong++
		why = OddURL(err)
	default:
		s.skip.Invalid++
		why = OddURL(err)
	}
	if why == "" || l.Kind > Alternate || s.base.IsZero() || len(s.odd) >= maxOdd {
		return
	}
	o := Odd{strings.ToValidUTF8(ref[:min(len(ref), maxOddText)], ""), why}
	if !slices.Contains(s.odd, o) {
		s.odd = append(s.odd, o)
	}
}
