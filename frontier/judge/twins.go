package judge

import (
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// SessionID excludes URLs that differ only in a session id from a known one.
const SessionID = "session-id"

// QueryOrder excludes URLs that differ only in the order of parameters, or in escapes within their
// values, from a known one.
const QueryOrder = "query-order"

func sessionID(l *Link, f *Facts) Verdict  { return twinOf(SessionID, l, f) }
func queryOrder(l *Link, f *Facts) Verdict { return twinOf(QueryOrder, l, f) }

func twinOf(rule string, l *Link, f *Facts) Verdict {
	if !f.Twins || f.Memory == nil {
		return Verdict{}
	}
	form, by := twin(l.URL)
	return excludesIf(form != "" && by == rule && f.Memory.Twin(l, form), rule, Params{})
}

func twinsOn(_ Reason, s *Settings) bool { return s.Twins }

// plainEscapes decodes escapes of characters that are allowed in a query (RFC 3986 §3.4) and separate
// nothing there: decoding the value of a parameter gives the same result. It does not apply to a query
// without parameters.
var plainEscapes = strings.NewReplacer("%3A", ":", "%3a", ":", "%40", "@", "%2F", "/", "%2f", "/")

// twin returns the common form of URLs that differ only in a session id, in the order of their parameters
// or in needless escapes, and the rule that applies; "" if the URL has that form.
func twin(u weburl.URL) (form, rule string) {
	path, _ := withoutSession(u.Path())
	session := path != u.Path()
	if !u.HasQuery() {
		if session {
			return u.Origin() + path, "session-id"
		}
		return "", ""
	}
	var kept []string
	plain := true
	sep := separator(u.Query())
	for p := range strings.SplitSeq(u.Query(), sep) {
		name, value, isPair := strings.Cut(p, "=")
		if isSession(name, value) {
			session = true
			continue
		}
		if isPair {
			as := name + "=" + plainEscapes.Replace(value)
			p, plain = as, plain && as == p
		}
		kept = append(kept, p)
	}
	rule = "session-id"
	if !session {
		if plain && slices.IsSorted(kept) {
			return "", ""
		}
		rule = "query-order"
	}
	slices.Sort(kept)
	form = u.Origin() + path
	if len(kept) > 0 {
		form += "?" + strings.Join(kept, sep)
	}
	return form, rule
}

// Session returns the session id in a URL; "" if there is none.
func Session(u weburl.URL) string {
	if u.HasQuery() {
		for p := range strings.SplitSeq(u.Query(), separator(u.Query())) {
			if name, value, _ := strings.Cut(p, "="); isSession(name, value) {
				return value
			}
		}
	}
	_, id := withoutSession(u.Path())
	return id
}

// withoutSession removes ";jsessionid=…" or "/(S(…))/" from a path and returns the id.
func withoutSession(path string) (rest, id string) {
	lower := strings.ToLower(path)
	for _, mark := range []string{";jsessionid=", ";sid=", ";phpsessid="} {
		if i := strings.Index(lower, mark); i >= 0 {
			id, rest, isMore := strings.Cut(path[i+len(mark):], "/")
			if isMore {
				rest = "/" + rest
			}
			return path[:i] + rest, id
		}
	}
	if i := strings.Index(lower, "/(s("); i >= 0 {
		if id, rest, ok := strings.Cut(path[i+len("/(s("):], "))"); ok {
			return path[:i] + rest, id
		}
	}
	return path, ""
}

// isSession reports whether a parameter carries a session id, judged by its name and by a value of at
// least 16 letters and digits. If the name is ambiguous ("s" may be a search), a value of letters alone
// does not count.
func isSession(name, value string) bool {
	word := true
	switch strings.ToLower(name) {
	case "phpsessid", "jsessionid", "aspsessionid", "cfid", "cftoken", "zenid", "oscsid":
		word = false
	case "s", "sid", "sessid", "session", "sessionid", "session_id":
	default:
		return false
	}
	for i := range len(value) {
		switch c := value[i]; {
		case c >= '0' && c <= '9':
			word = false
		case !isLetter(c):
			return false
		}
	}
	return len(value) >= 16 && !word
}
