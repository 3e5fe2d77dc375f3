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

// A site that keeps sessions sets a cookie, and for clients that send none it
// writes the id into every link: each page then has as many URLs as there are
// visits. Where that is plain, since the links carry the very value of the cookie
// that came with them, the page is asked for once more with its cookie. If the ids
// are gone, cookies are kept from then on; else the matter is closed. The links of
// the first answer are not followed: the second has them too.

// maxSessions is how often in a run a page is asked for once more: when cookies are
// kept, a session that has ended, or that another run had, is begun anew.
const maxSessions = 8

// Session is a jar of cookies that is used only where they keep a session's id out
// of the links. It is for any goroutine.
type Session struct {
	jar http.CookieJar

	mu    sync.Mutex
	found status.Session
	known bool   // found is final
	page  string // that is being asked for once more; "" for none
	asked int
}

// NewSession makes a Session that keeps its cookies in jar.
func NewSession(jar http.CookieJar) *Session { return &Session{jar: jar} }

// Recall takes in what an earlier run found.
func (s *Session) Recall(f status.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found, s.known = f, true
}

// Found is what was found; nil as long as nothing was.
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

// Cookies are those to send (net/http.CookieJar).
func (s *Session) Cookies(u *url.URL) []*http.Cookie {
	if !s.uses(u) {
		return nil
	}
	return s.jar.Cookies(u)
}

// SetCookies keeps what an answer sets (net/http.CookieJar).
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

// wall begins to keep cookies for a page that redirects to itself until the cookie
// that it sets is sent back. It does so once in the life of an archive.
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

// keeps says whether cookies are kept.
func (s *Session) keeps() bool {
	f := s.Found()
	return f != nil && f.Kept
}

// again says whether the page is to be asked for once more: so many of its links
// carry the id of the session that its cookies begin. note is what the answer to
// that showed, for people.
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

// askWithCookie looks for a session in the links of a page, and puts the page off
// where it is to be asked for once more with the cookie.
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

// sessionLinks counts the links within the page's origin that carry the id of a
// session, and those whose id is the value of a cookie that is being set.
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
