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

// maxTurned is how many pages in a row may be a login instead, before the crawl
// stops: one may want more rights than the login has.
const maxTurned = 3

// logins notices that a login has ended. It is for any goroutine.
type logins struct {
	mu     sync.Mutex
	turned int  // pages in a row that were a login instead
	open   bool // a page without a field for a password has been seen
}

// turnedAway makes of an answer that asks to log in a failure, which is asked
// for again; LoggedOut says that the login seems to have ended: the answer is not
// kept then, nor anything after it.
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

// count adds a page to those turned away in a row, or ends the row.
func (l *logins) count(why string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turned++; why == "" {
		l.turned = 0
	}
	return l.turned
}

// asksToLogIn says how an answer asks to log in; "" if it does not. A form counts
// only where pages without one were seen: some sites have it on every page.
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

// asksAt says whether a redirect leads to a login, from what is none.
func asksAt(from, to weburl.URL) bool { return revisit.IsLogin(to) && !revisit.IsLogin(from) }

// hasPassword says whether a document has a field for a password.
func hasPassword(x *fetch.Exchange) bool {
	if !Readable(x.Header.Get("Content-Type")) {
		return false
	}
	body, _, _ := x.Decoded(1 << 20)
	lower := bytes.ToLower(body)
	return bytes.Contains(lower, []byte(`type="password"`)) || bytes.Contains(lower, []byte(`type=password`)) ||
		bytes.Contains(lower, []byte(`type='password'`))
}
