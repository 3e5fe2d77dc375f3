package hostile

import (
	"fmt"
	"strings"
	"time"
)

func robots() []*Fixture {
	with := func(name, attack string, a Answer, exit int, want map[string]string) *Fixture {
		return &Fixture{Line: 8, Name: name, Attack: attack, Robots: a, Exit: exit, Want: want,
			Pages: map[string]Answer{"": links("good", "denied"), "good": good, "denied": good}}
	}
	text := func(body string) Answer { return typed("text/plain", body) }
	open := map[string]string{"good": fetched, "denied": fetched}
	deny := map[string]string{"good": fetched, "denied": disregarded + "robots.txt: line"}
	none := map[string]string{"good": unknown}
	var rules strings.Builder
	rules.WriteString("User-agent: *\nDisallow: /*/denied\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&rules, "Disallow: /x%d\n", i)
	}
	status := func(code int) Answer { return func(c *Conn) { c.Reply(code, "", "") } }
	return []*Fixture{
		with("robots-html", "an HTML page with status 200",
			typed("text/html", "<!DOCTYPE html><title>x</title>User-agent: *\nDisallow: /"), 0, open),
		{Line: 8, Name: "robots-500mb", Attack: "500 MB; what counts is at the beginning", Heavy: true,
			Robots: func(c *Conn) {
				c.Raw(ok + "Content-Type: text/plain\r\nContent-Length: 524288000\r\n\r\nUser-agent: *\nDisallow: /*/denied\n")
				for range 500 {
					if !c.Raw(rep("# "+rep("x", 61)+"\n", 1<<14)) {
						return
					}
				}
			}, Pages: map[string]Answer{"": links("good", "denied"), "good": good, "denied": good}, Want: deny},
		with("robots-million-rules", "a million rules", text(rules.String()), 0, deny),
		with("robots-stars", "patterns of hundreds of stars",
			text("User-agent: *\nDisallow: /*/denied\n"+rep("Disallow: /"+rep("*a", 500)+"b\n", 400)), 0, deny),
		with("robots-bom-cr", "a byte order mark, CR alone as line end, NUL",
			text("\xef\xbb\xbfUser-agent: *\rDisallow: /*/denied\rDisallow: /n\x00x\r"), 0, deny),
		with("robots-delay", "Crawl-delays of 1e9, -1, NaN, 0,5 and Inf",
			text("User-agent: *\nCrawl-delay: -1\nCrawl-delay: NaN\nCrawl-delay: 1e-999\nCrawl-delay: Inf\nDisallow: /*/denied\n"), 0, deny),
		with("robots-gzip-bomb", "1 GB in 1 MB of gzip", func(c *Conn) {
			c.Reply(200, "Content-Type: text/plain\nContent-Encoding: gzip",
				zip("User-agent: *\nDisallow: /*/denied\n")+rep(gzipPiece(), 64))
		}, 0, deny),
		with("robots-loop", "a redirect loop", func(c *Conn) { c.Reply(302, "Location: /robots.txt", "") }, 0, open),
		with("robots-away", "a redirect to a private address",
			func(c *Conn) { c.Reply(302, "Location: http://169.254.169.254/robots.txt", "") }, 4, none),
		with("robots-404", "404", status(404), 0, open),
		with("robots-403", "403 (RFC 9309: no rules)", status(403), 0, open),
		with("robots-500", "500 again and again", status(500), 4, none),
		with("robots-503", "503 again and again", status(503), 4, none),
		slowly(with("robots-silence", "no answer", func(c *Conn) { c.Wait(20 * time.Second) }, 4, none)),
		slowly(with("robots-slow", "one byte at a time", func(c *Conn) {
			c.Raw(ok + "Content-Type: text/plain\r\n\r\nUser-agent: *\n")
			c.Forever("#", 25*time.Millisecond)
		}, 4, none)),
		with("robots-cut", "cut in the middle of a rule",
			raw(ok+"Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\nUser-agent: *\nDisallow: /good"), 4, none),
		with("robots-garbage", "no HTTP", raw("\x15\x03\x01\x00\x02\x02\x46"), 4, none),
		with("robots-deny", "all is denied", text("User-agent: *\nDisallow: /\n"), 4, none),
	}
}
