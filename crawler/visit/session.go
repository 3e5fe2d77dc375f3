package visit

import (
	"net/http"
	"net/url"
	"strings"
	"sync"

	"curtsy/crawler/fetch"
	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// A site that keeps sessions sets a cookie and, for clients that do not send it, writes the session id into
// every link, so that each page has as many URLs as there are visits. If links carry the value of a
// cookie set with the page, the page is requested once more with its cookies. If most of the ids are gone,
// cookies are kept from then on, else not. Links of the first response are not followed; the second has
// them too.

// maxSessions is how often in a run a page is requested again: even when cookies are kept, a session may
// have expired or belong to an earlier run.
const maxSessions = 8

// Session is a cookie jar that is used only if that keeps session ids out of links. It is safe for
// concurrent use.
type Session struct {
	jar http.CookieJar

	mu    sync.Mutex
	found status.Session
	known bool   // found is final
	page  string // the page being requested again; "" for none
	asked int
}

// NewSession makes a Session that keeps its cookies in jar.
func NewSession(jar http.CookieJar) *Session { return &Session{jar: jar} }

// Recall takes over the result of an earlier run.
func (s *Session) Recall(f status.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found, s.known = f, true
}

// Found returns the result; nil if there is none yet.
func (s *Session) Found() *status.Session {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		return nil
	}
	found := s.found
	return &found
}

// Cookies implements net/http.CookieJar.
func (s *Session) Cookies(u *url.URL) []*http.Cookie {
	if !s.uses(u) {
		return nil
	}
	return s.jar.Cookies(u)
}

// SetCookies implements net/http.CookieJar.
func (s *Session) SetCookies(u *url.URL, cookies []*http.Cookie) {
	if s.uses(u) {
		s.jar.SetCookies(u, cookies)
	}
}

func (s *Session) uses(u *url.URL) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known && s.found.Kept || s.page != "" && s.page == u.String()
}

// wall starts keeping cookies, because of a page that redirects to itself until its cookie is sent. It does
// so once in the life of an archive.
func (s *Session) wall(page string, x *fetch.Exchange) bool {
	u, err := url.Parse(page)
	set := (&http.Response{Header: x.Header}).Cookies()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(set) == 0 || s.known {
		return false
	}
	s.known, s.page, s.found = true, "", status.Session{Page: page, Wall: true, Before: 1, Kept: true}
	s.jar.SetCookies(u, set[:min(len(set), fetch.MaxCookies)])
	return true
}

// keeps reports whether cookies are kept.
func (s *Session) keeps() bool {
	f := s.Found()
	return f != nil && f.Kept
}

// again reports whether the page is to be requested once more: given of its links carry the value of a
// cookie in set, carrying have a session id. If the page has been requested again, note describes the
// result.
func (s *Session) again(u *url.URL, set []*http.Cookie, given, carrying int) (again bool, note string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if page := u.String(); s.page == page {
		s.page = ""
		if s.known {
			return false, ""
		}
		s.found.After, s.known = carrying, true
		s.found.Kept = 2*s.found.After < s.found.Before // most of the ids are gone
		if !s.found.Kept {
			return false, "the links carry a session id although its cookie was sent: cookies stay off"
		}
		return false, "the site puts a session id into its links unless its cookie is sent: " +
			"cookies are kept from now on"
	}
	isOff := s.known && !s.found.Kept
	isAsked := s.page != "" || !s.known && s.asked > 0
	if given == 0 || isOff || isAsked || s.asked == maxSessions {
		return false, ""
	}
	s.asked++
	s.page = u.String()
	if !s.known {
		s.found = status.Session{Page: s.page, Before: carrying}
	}
	s.jar.SetCookies(u, set)
	return true, ""
}

// askWithCookie looks for a session id in the links of a page, and schedules the page for another request
// with the cookie if necessary.
func (o *Outcome) askWithCookie(r *Reader, a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) {
	s := r.opts.Session
	if s == nil || a.Entry.Class != frontier.Page || a.Robots != nil || o.State != frontier.StateFetched ||
		x.Status != http.StatusOK ||
		!o.RetryAt.IsZero() || judge.Session(a.URL) != "" {
		return
	}
	u, err := url.Parse(a.URL.String())
	if err != nil {
		return
	}
	set := (&http.Response{Header: x.Header}).Cookies()
	given, carrying := sessionLinks(a.URL, doc.Links, set[:min(len(set), fetch.MaxCookies)])
	again, note := s.again(u, set, given, carrying)
	if again {
		o.RetryAt = r.opts.Now()
	}
	if note != "" {
		o.Notes = append(o.Notes, note)
	}
}

// sessionLinks counts the links within the page's origin that carry a session id, and those whose id is the
// value of a cookie being set.
func sessionLinks(page weburl.URL, links []htmlmeta.Link, set []*http.Cookie) (given, carrying int) {
	for i := range links {
		id := judge.Session(links[i].URL)
		if id == "" || links[i].URL.Origin() != page.Origin() {
			continue
		}
		carrying++
		for _, k := range set {
			if strings.EqualFold(k.Value, id) {
				given++
				break
			}
		}
	}
	return given, carrying
}
