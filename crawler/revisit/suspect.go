package revisit

import (
	"regexp"
	"slices"
	"strings"

	"curtsy/internal/http1"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// Why an answer is not taken for the page although its status is good. Each is
// what crawllog.Visit.Suspect holds.
const (
	Empty     = "empty"       // nothing, where there was text
	ErrorPage = "error-page"  // what calls itself an error, or data, where there was a page
	ToHome    = "to-home"     // a redirect to the home page, where there was a page
	ToLogin   = "to-login"    // a redirect to a login
	SameBody  = "same-answer" // one answer in place of several pages: maintenance, a block
)

// IsSuspicion knows these reasons.
func IsSuspicion(s string) bool {
	return slices.Contains([]string{Empty, ErrorPage, ToHome, ToLogin, SameBody}, s)
}

// MaxSame is how many pages may change to one and the same answer in a round
// before it is SameBody.
const MaxSame = 3

// Good is the visit that a conditional request refers to, and that a new answer
// is compared with: the last that brought the page, whole. nil if there is none.
// The visits are those of one URL, the oldest first.
func Good(visits []*crawllog.Visit) *crawllog.Visit {
	for _, v := range slices.Backward(visits) {
		if v.IsCopy() && crawllog.StandingOf(v, nil).Stands() {
			return v
		}
	}
	return nil
}

// Suspicion says why an answer is not taken for the page of which was is the
// last good visit; "" if it is. isSite knows the URLs of the site by their origins.
func Suspicion(was, v *crawllog.Visit, isSite func(weburl.URL) bool) string {
	switch {
	case was == nil:
		return ""
	case v.Status >= 200 && v.Status < 300:
		if v.Body == crawllog.BodyEmpty && was.Length > 0 && was.Body != crawllog.BodyEmpty {
			return Empty
		}
		if isPage(was) && (isJSON(v) || isPage(v) && namesError(v.Title) && !namesError(was.Title)) {
			return ErrorPage
		}
	case v.Redirects():
		return redirected(weburl.FromCanonical(was.URL), weburl.FromCanonical(v.Location), isSite)
	}
	return ""
}

// redirected judges a redirect of what was a page.
func redirected(was, to weburl.URL, isSite func(weburl.URL) bool) string {
	switch {
	case was.Target() == "/" && isSite(was):
		return ""
	case to.Path() == "/" && isSite(to):
		return ToHome
	case IsLogin(to):
		return ToLogin
	}
	return ""
}

// IsLogin knows where applications send people to sign in.
func IsLogin(u weburl.URL) bool {
	for part := range strings.SplitSeq(strings.ToLower(u.Path()), "/") {
		name, _, _ := strings.Cut(part, ".")
		switch name {
		case "login", "log-in", "logon", "signin", "sign-in", "sign_in", "wp-login", "sso", "special:userlogin", "auth",
			"authenticate":
			return true
		}
	}
	return strings.Contains(strings.ToLower(u.Query()), "title=special:userlogin") // MediaWiki
}

func isPage(v *crawllog.Visit) bool {
	kind := http1.MediaType(v.ContentType)
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// isJSON knows what a server that answers for programs says of an error (RFC 9457).
func isJSON(v *crawllog.Visit) bool {
	kind := http1.MediaType(v.ContentType)
	return kind == "application/json" || kind == "application/problem+json"
}

// errorTitle matches a part of a title that is an error's: its status, alone or with its phrase
// (RFC 9110 §15), or the phrase alone.
var errorTitle = func() *regexp.Regexp {
	const phrase = `(?:not found|forbidden|access denied|unauthorized|bad request|too many requests|` +
		`internal server error|bad gateway|(?:service )?(?:temporarily )?unavailable|gateway time-?out)`
	return regexp.MustCompile(`^\W*(?:(?:http|error|status|code)\W+)*` +
		`(?:(?:4[0-5]|5[0-2])\d(?:\W+(?:page |file )?(?:` + phrase + `|error))?|(?:page |file )?` + phrase + `)\W*$`)
}()

var titleParts = regexp.MustCompile(`\s+[-–—|:·»]\s+|:\s`)

// namesError says whether a title is that of an error, beside the name of the site.
func namesError(title string) bool {
	return slices.ContainsFunc(titleParts.Split(strings.ToLower(title), -1), errorTitle.MatchString)
}
