package visit

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"

	"curtsy/crawler/fetch"
	"curtsy/crawler/revisit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// maxTurned is how many consecutive pages may be a login form before the crawl stops. A single page may
// require more rights than the login has.
const maxTurned = 3

// logins detects the end of a login. It is safe for concurrent use.
type logins struct {
	mu     sync.Mutex
	turned int  // consecutive pages that were a login form instead
	open   bool // a page without a password field has been seen
}

// turnedAway turns a response that asks for a login into a failure to be retried. It sets LoggedOut if
// the login seems to have ended: the response is then not archived, and the run ends.
func (o *Outcome) turnedAway(r *Reader, a *Attempt, x *fetch.Exchange) {
	switch {
	case a.waitedFor():
		return
	case x.Cleared != "" && !x.LoggedIn:
		o.LoggedOut = fmt.Sprintf("the login seems to have ended: a response deleted the cookie %s", x.Cleared)
		return
	case !x.LoggedIn || a.Entry.Class != frontier.Page:
		return
	case x.Cleared != "":
		o.LoggedOut = fmt.Sprintf("the login seems to have ended: %s deleted the cookie %s", a.URL, x.Cleared)
		return
	}
	why := r.logins.asksToLogIn(x)
	if n := r.logins.count(why); n == 0 {
		return
	} else if n >= maxTurned || a.Entry.IsSeed() {
		o.LoggedOut = fmt.Sprintf("the login seems to have ended: %s %s", a.URL, why)
	}
	o.State, o.Reason = frontier.StateFailed, Because(judge.Login, why)
	o.Links, o.Names = nil, judge.Names{}
	o.retry(r, a, true)
}

// count counts consecutive pages that ask for a login; why == "" resets the count.
func (l *logins) count(why string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turned++; why == "" {
		l.turned = 0
	}
	return l.turned
}

// asksToLogIn says how a response asks for a login; "" if it does not. A form counts only if pages without
// one were seen: some sites have it on every page.
func (l *logins) asksToLogIn(x *fetch.Exchange) string {
	switch {
	case x.Status == http.StatusUnauthorized:
		return "answered 401"
	case x.Status >= 300 && x.Status < 400:
		if to, err := x.URL.Resolve(x.Header.Get("Location")); err == nil && asksAt(x.URL, to) {
			return "redirects to the login at " + to.Origin() + to.Path()
		}
		return ""
	case x.Status >= 200 && x.Status < 300 || x.Status == http.StatusForbidden:
	default:
		return ""
	}
	form := hasPassword(x)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !form && x.Status < 300 {
		l.open = true
	}
	if form && l.open && !revisit.IsLogin(x.URL) {
		return "has a form to log in"
	}
	return ""
}

// asksAt reports whether a redirect leads from a page that is no login to one that is.
func asksAt(from, to weburl.URL) bool { return revisit.IsLogin(to) && !revisit.IsLogin(from) }

// hasPassword reports whether a document has a password field.
func hasPassword(x *fetch.Exchange) bool {
	if !Readable(x.Header.Get("Content-Type")) {
		return false
	}
	body, _, _ := x.Decoded(1 << 20)
	lower := bytes.ToLower(body)
	return bytes.Contains(lower, []byte(`type="password"`)) || bytes.Contains(lower, []byte(`type=password`)) ||
		bytes.Contains(lower, []byte(`type='password'`))
}
