package htmlmeta

import (
	"errors"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// Odd is a reference that cannot be followed: malformed, or with an unknown scheme or an
// invalid mail address.
type Odd struct{ Text, Why string }

// maxOdd is the most Odd references kept of a document, maxOddText the most bytes of one.
const (
	maxOdd     = 100
	maxOddText = 512
)

// schemes are the known schemes other than http and https.
var schemes = []string{"mailto", "tel", "sms", "javascript", "data", "ftp", "ftps", "sftp", "file", "news", "nntp",
	"irc", "ircs", "magnet", "geo", "xmpp", "sip", "sips",
	"urn", "doi", "git", "ssh", "svn", "webcal", "whatsapp", "skype", "tg", "intent", "market", "blob", "about",
	"view-source", "ws", "wss", "gopher", "gemini", "feed",
	"facetime", "maps", "bitcoin", "ethereum", "matrix", "vscode", "steam", "spotify", "itms", "itms-apps",
	"callto", "fax", "ldap", "telnet", "rtsp", "info", "cid", "mid", "chrome", "slack", "zoommtg", "msteams",
	"android-app", "ios-app"}

// OddScheme says what is wrong with a reference that has a scheme other than http and https;
// other reports whether it has one.
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

// OddURL formats the error of resolving a reference.
func OddURL(err error) string { return "no URL: " + err.Error() }

// oddMail says what is wrong with the part of a mailto URL after the scheme (RFC 6068).
func oddMail(rest string) string {
	to, query, _ := strings.Cut(rest, "?")
	decoded, err := url.PathUnescape(to)
	if err != nil {
		return "mailto: " + err.Error()
	}
	if decoded == "" && query != "" { // the user enters the address
		return ""
	}
	for address := range strings.SplitSeq(decoded, ",") {
		if a, err := mail.ParseAddress(strings.TrimSpace(address)); err != nil || a.Name != "" {
			return "mailto: no mail address: " + address
		}
	}
	return ""
}

// skipped counts a reference that is not followed, and records it if it is a mistake in the
// page. References of scripts, forms and hints are not recorded.
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
