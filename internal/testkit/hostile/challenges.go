package hostile

import "sync"

// Bodies in the style of services that protect sites from crawlers, written for the tests.
const (
	checking = `<!DOCTYPE html><html><head><title>Just a moment...</title><meta http-equiv="refresh" content="30"></head><body><h1>Checking your browser before accessing the site.</h1><noscript>Please enable JavaScript and cookies to continue</noscript><a href="never">x</a><script src="/cdn-cgi/challenge-platform/h/b/orchestrate"></script></body></html>`
	captcha  = `<!DOCTYPE html><html><head><title>Are you a robot?</title></head><body><form action="/captcha" method="post"><div class="g-recaptcha" data-sitekey="x"></div>Please complete the CAPTCHA to continue</form><a href="never">x</a></body></html>`
)

func challenges() []*Fixture {
	var once sync.Map
	// first answers the first visit with a challenge, and later visits with the page.
	first := func(status int, header, body string) Answer {
		return func(c *Conn) {
			if _, before := once.LoadOrStore(c.Server.Origin+c.Target, true); before {
				good(c)
				return
			}
			c.Reply(status, header, body)
		}
	}
	const page = "Content-Type: text/html"
	return []*Fixture{
		{Line: 13, Name: "challenge-once", Attack: "a 200 that is a browser check, the page at the second visit",
			Pages: map[string]Answer{"": first(200, page, checking)},
			Want:  map[string]string{"": fetched, "never": unknown}},
		{Line: 13, Name: "challenge-403", Attack: "a 403 with a captcha, the page at the second visit",
			Pages: map[string]Answer{"": first(403, page, captcha)},
			Want:  map[string]string{"": fetched, "never": unknown}},
		{Line: 13, Name: "challenge-429", Attack: "a 429 with a body, the page at the second visit",
			Pages: map[string]Answer{"": first(429, page+"\nRetry-After: 0",
				"<title>slow down</title>Too many requests")}, Want: map[string]string{"": fetched}},
		{Line: 13, Name: "challenge-always", Attack: "a 200 that is a captcha, every time",
			Pages: map[string]Answer{"": html(captcha)}, Want: map[string]string{"": failed + "blocked: ",
				"never": unknown}},
		{Line: 13, Name: "challenge-503", Attack: "a 503 with a browser check, every time",
			Pages: map[string]Answer{"": func(c *Conn) { c.Reply(503, page+"\nCF-Mitigated: challenge", checking) }},
			Want:  map[string]string{"": failed + "blocked: ", "never": unknown}},
		{Line: 13, Name: "challenge-words", Attack: "an honest article about captchas and browser checks: no challenge",
			Pages: map[string]Answer{"": html("<title>How CAPTCHA works</title>" +
				rep("<p>A captcha, or \"checking your browser\", asks whether you are a robot. "+noise("article", 30),
					40) + "<a href=good>x</a>"), "good": good}, Want: map[string]string{"": fetched, "good": fetched}},
	}
}
