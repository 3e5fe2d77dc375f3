package revisit

import (
	"regexp"
	"slices"
	"strings"

	"curtsy/internal/http1"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// Reasons why a response is not accepted as the page although its status is good: values of
// crawllog.Visit.Suspect.
const (
	Empty     = "empty"       // empty, where the page had text
	ErrorPage = "error-page"  // an error page or JSON in place of an HTML page
	ToHome    = "to-home"     // a redirect to the home page, where a page was
	ToLogin   = "to-login"    // a redirect to a login page
	SameBody  = "same-answer" // the same response for several pages: maintenance, a block
)

// IsSuspicion reports whether s is one of these reasons.
func IsSuspicion(s string) bool {
	return slices.Contains([]string{Empty, ErrorPage, ToHome, ToLogin, SameBody}, s)
}

// MaxSame is how many pages may change to the same response in a round before it is SameBody.
const MaxSame = 3

// Good returns the last visit that returned the whole page, to which conditional requests refer and with
// which new responses are compared; nil if there is none. The visits are those of one URL, oldest first.
func Good(visits []*crawllog.Visit) *crawllog.Visit {
	for _, v := range slices.Backward(visits) {
		if v.IsCopy() && crawllog.StandingOf(v, nil).Stands() {
			return v
		}
	}
	return nil
}

// Suspicion says why a response v is not accepted as the page; "" if it is. was is the last good visit.
// isSite reports whether the site includes a URL's origin.
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

// redirected judges a redirect of a URL that was a page.
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

// IsLogin reports whether u looks like a login page.
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

// isJSON reports whether a response is JSON, as APIs send for errors (RFC 9457).
func isJSON(v *crawllog.Visit) bool {
	kind := http1.MediaType(v.ContentType)
	return kind == "application/json" || kind == "application/problem+json"
}

// errorTitle matches a part of a title that names an error: a status, alone or with its phrase (RFC 9110
// §15), or the phrase alone.
var errorTitle = func() *regexp.Regexp {
	const phrase = `(?:not found|forbidden|access denied|unauthorized|bad request|too many requests|` +
		`internal server error|bad gateway|(?:service )?(?:temporarily )?unavailable|gateway time-?out)`
	return regexp.MustCompile(`^\W*(?:(?:http|error|status|code)\W+)*` +
		`(?:(?:4[0-5]|5[0-2])\d(?:\W+(?:page |file )?(?:` + phrase + `|error))?|(?:page |file )?` + phrase + `)\W*$`)
}()

var titleParts = regexp.MustCompile(`\s+[-–—|:·»]\s+|:\s`)

// namesError reports whether a part of a title names an error.
func namesError(title string) bool {
	return slices.ContainsFunc(titleParts.Split(strings.ToLower(title), -1), errorTitle.MatchString)
}
