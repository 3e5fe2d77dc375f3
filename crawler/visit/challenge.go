package visit

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/legible"
)

// maxChallenge is the largest decoded body that is examined, in octets: challenges are small.
const maxChallenge = 64 << 10

// maxChallengeText is the most text, in octets, that a challenge shows. A page with more is a real one,
// even if it is about challenges.
const maxChallengeText = 1500

// challengeTitles are parts of the titles of challenges, challengeMarks of their code, which a page that
// only mentions challenges does not contain. All are in lower case.
var (
	challengeTitles = []string{"just a moment", "attention required", "checking your browser", "a robot", "not a robot",
		"robot check", "не робот",
		"security check", "are human", "human verification", "bot verification", "ddos-guard", "ddos protection",
		"access denied",
		"проверка браузера", "captcha", "pardon our interruption", "one more step", "request unsuccessful",
		"один момент", "einen moment"}
	challengeMarks = [][]byte{[]byte("cdn-cgi/challenge-platform"), []byte("cf-chl"), []byte("jschl"),
		[]byte("g-recaptcha"), []byte("recaptcha/api"),
		[]byte("h-captcha"), []byte("hcaptcha.com"), []byte("cf-turnstile"), []byte("turnstile/v0"),
		[]byte("smartcaptcha"), []byte("showcaptcha"),
		[]byte("_incapsula_resource"), []byte("ddos-guard"), []byte("__ddg"), []byte("px-captcha"), []byte("datadome"),
		[]byte("awswaf"), []byte("geetest"),
		[]byte("enable javascript and cookies"), []byte("id=\"captcha"), []byte("name=\"captcha")}
)

// challenge says what was sent in place of the page; "" if it is the page itself. With status 200, where
// a mistake would lose a page, both title and code must match, and there must be little text.
func challenge(x *fetch.Exchange, doc *htmlmeta.Document) string {
	if x.Status == http.StatusTooManyRequests {
		return "too many requests"
	}
	if x.Header.Get("Cf-Mitigated") == "challenge" || x.Header.Get("X-Amzn-Waf-Action") != "" {
		return "challenge"
	}
	refused := x.Status == http.StatusForbidden || x.Status == http.StatusServiceUnavailable
	title := strings.ToLower(legible.First(doc.Title, 200))
	if !refused && (x.Status != http.StatusOK || !holdsAny(title, challengeTitles)) {
		return ""
	}
	body, cut, err := x.Decoded(maxChallenge)
	if err != nil || cut {
		return ""
	}
	lower := bytes.ToLower(body)
	for _, mark := range challengeMarks {
		if bytes.Contains(lower, mark) && shownText(lower) < maxChallengeText {
			return "challenge"
		}
	}
	return ""
}

func holdsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// shownText counts, roughly, the octets of text that a page shows.
func shownText(b []byte) (n int) {
	htmlmeta.EachText(b, func(text []byte) { n += len(bytes.TrimSpace(text)) })
	return n
}

// block marks a challenge as not being the page: it is archived, counts as a failure and is retried.
func (o *Outcome) block(r *Reader, a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) {
	o.Visit.Blocked = challenge(x, doc)
	if o.Visit.Blocked == "" || x.Status == http.StatusTooManyRequests {
		return
	}
	o.State, o.Reason = frontier.StateFailed, Because(judge.Blocked, o.Visit.Blocked)
	o.retry(r, a, true)
}
