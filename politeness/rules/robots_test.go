package rules

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func parse(robots string, agents ...string) *Robots {
	return Parse([]byte(robots), Options{Agents: agents})
}

// TestDefaultDialect: RFC 9309 and what it leaves open; each topic has a number.
func TestDefaultDialect(t *testing.T) {
	long := "/x/" + strings.Repeat("a", maxLine-len("disallow: /x/"))
	pad := strings.Repeat("#\n", 1000)
	for _, c := range []struct {
		name, robots, agent, url string
		allow                    bool
	}{
		{"1 a version is ignored", "user-agent: foo/1.2\ndisallow: /", "Foo", "/", no},
		{"1 a list is its first name", "user-agent: foo, bar\ndisallow: /", "foo", "/", no},
		{"1 a list is not its second name", "user-agent: foo, bar\ndisallow: /", "bar", "/", yes},
		{"1 no prefix matching of ours", "user-agent: foo\ndisallow: /", "foobot", "/", yes},
		{"1 no prefix matching of theirs", "user-agent: foobot\ndisallow: /", "foo", "/", yes},
		{"1 a token with digits, whole", "user-agent: bot2 x\ndisallow: /", "BOT2", "/", no},
		{"1 a token with digits and a version", "user-agent: *\ndisallow: /\nuser-agent: MJ12bot/v1.4.5\ndisallow: /x",
			"mj12bot", "/", yes},
		{"1 a token with digits, another one behind it", "user-agent: MJ12bots\ndisallow: /", "MJ12bot", "/", yes},
		{"1 a token with digits is more than its letters", "user-agent: MJ\ndisallow: /", "MJ12bot", "/", yes},
		{"1 an agent with a blank is no token", "user-agent: *\ndisallow: /\nuser-agent: foo bar\nallow: /x",
			"foo bar", "/x", no},
		{"1 text after * is ignored", "user-agent: * x\ndisallow: /", "foo", "/", no},
		{"1 *bot is nobody", "user-agent: *bot\ndisallow: /", "bot", "/", yes},
		{"2 groups of ours add up", "user-agent: a\ndisallow: /x\nuser-agent: b\ndisallow: /y\nuser-agent: A\ndisallow: /z", "a", "/z", no},
		{"2 groups of all add up", "user-agent: *\ndisallow: /x\nuser-agent: *\ndisallow: /z", "a", "/z", no},
		{"2 ours without rules hides *", "user-agent: *\ndisallow: /\nuser-agent: a\n", "a", "/", yes},
		{"3 an empty rule ends the list", "user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /", "a", "/", yes},
		{"3 comments and blanks do not", "user-agent: a\n\n#\n \nuser-agent: b\ndisallow: /", "a", "/", no},
		{"3 an unknown field does not", "user-agent: a\nfoo: bar\nuser-agent: b\ndisallow: /", "a", "/", no},
		{"3 an empty agent begins a group of nobody", "user-agent: *\nallow: /x\nuser-agent:\ndisallow: /",
			"a", "/y", yes},
		{"5 * counts one octet", "user-agent: *\nallow: /abc\ndisallow: /a*c", "a", "/abc", yes},
		{"5 each of ** counts", "user-agent: *\nallow: /ab\ndisallow: /a**", "a", "/ab", no},
		{"5 $ counts one octet", "user-agent: *\ndisallow: /abc\nallow: /abc$", "a", "/abc", yes},
		{"5 octets are counted after normalising", "user-agent: *\ndisallow: /%61%62\nallow: /ab*", "a", "/ab", yes},
		{"5 a letter of UTF-8 is %XX each", "user-agent: *\ndisallow: /é*\nallow: /%C3%A9", "a", "/é", no},
		{"6 $ before the end is a dollar", "user-agent: *\ndisallow: /a$b", "a", "/a$b", no},
		{"6 $* holds a dollar", "user-agent: *\ndisallow: /x$*", "a", "/x$y", no},
		{"6 $* is not the end", "user-agent: *\ndisallow: /x$*", "a", "/x", yes},
		{"6 $$ is a dollar at the end", "user-agent: *\ndisallow: /x$$", "a", "/x$", no},
		{"6 $$ is not a bare end", "user-agent: *\ndisallow: /x$$", "a", "/x", yes},
		{"6 other metacharacters are none", "user-agent: *\ndisallow: /a.c+[x](y)|z?", "a", "/a.c+[x](y)|z?q", no},
		{"6 a dot is a dot", "user-agent: *\ndisallow: /a.c*d", "a", "/abcd", yes},
		{"6 a newline is not beyond *", "user-agent: *\ndisallow: /a*b", "a", "/a%0Ab", no},
		{"7 patterns are anchored", "user-agent: *\ndisallow: /b*c", "a", "/a/b1c", yes},
		{"7 no fragment", "user-agent: *\ndisallow: /a$", "a", "/a#b", no},
		{"7 a bare host is /", "user-agent: *\ndisallow: /$", "a", "", no},
		{"7 ?q is /?q", "user-agent: *\ndisallow: /?q", "a", "?q", no},
		{"8 ( is %28", "user-agent: *\ndisallow: /a(b)'!", "a", "/a%28b%29%27%21", no},
		{"8 a * of an URL is none of a rule", "user-agent: *\ndisallow: /a%2A", "a", "/a*", no},
		{"8 a coded * of a rule is no wildcard", "user-agent: *\ndisallow: /a%2ab", "a", "/axb", yes},
		{"8 no Unicode normalisation", "user-agent: *\ndisallow: /é", "a", "/e\u0301", yes},
		{"8 no dot segments", "user-agent: *\ndisallow: /b", "a", "/a/../b", yes},
		{"8 no folding of //", "user-agent: *\ndisallow: /b", "a", "//b", yes},
		{"8 RFC 9309 §2.2.2: reserved octets, coded or not", "user-agent: *\ndisallow: /wiki/Special:Random", "a",
			"/wiki/Special%3aRandom", no},
		{"8 a bad escape is a per cent sign", "user-agent: *\ndisallow: /a%zz", "a", "/a%25zz", no},
		{"9 no slash, no rule", "user-agent: *\ndisallow: a\ndisallow: $\ndisallow: %2Fa\ndisallow: http://h/a",
			"a", "/a", yes},
		{"10 CR alone", "user-agent: *\rdisallow: /", "a", "/", no},
		{"10 mixed ends", "user-agent: *\r\n\rdisallow: /x\ndisallow: /y\r", "a", "/y", no},
		{"10 blanks of four kinds", "\tuser-agent\v:\f* \n\f disallow \t:\v/x\f\n", "a", "/x", no},
		{"10 # ends a value", "user-agent: *\ndisallow: /x#y", "a", "/xz", no},
		{"10 a missing colon with two words", "user-agent *\ndisallow\t /x", "a", "/x", no},
		{"10 a missing colon with three words", "user-agent: *\ndisallow /x y", "a", "/x", yes},
		{"10 typos", "useragent: *\ndissallow: /x", "a", "/x", no},
		{"10 more typos", "user agent: *\ndisallaw: /x", "a", "/x", no},
		{"11 a byte order mark", "\xef\xbb\xbfuser-agent: *\ndisallow: /", "a", "/", no},
		{"11 a cut byte order mark", "\xef\xbbuser-agent: *\ndisallow: /", "a", "/", no},
		{"11 UTF-16LE", "\xff\xfeu\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00d\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00=\xd8\x00\xde", "a", "/😀", no},
		{"11 UTF-16BE without a mark", "\x00u\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00d\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00x", "a", "/x", no},
		{"11 the mark of UTF-16LE before ASCII", "\xff\xfeuser-agent: *\ndisallow: /x", "a", "/x", no},
		{"11 the mark of UTF-16BE before UTF-8", "\xfe\xff# й\r\nuser-agent: *\r\ndisallow: /й", "a", "/%D0%B9", no},
		{"11 the mark of UTF-16LE before ASCII of odd length with a NUL", "\xff\xfeuser-agent: *\n\x00disallow: /x",
			"a", "/x", no},
		{"11 the mark of UTF-8 twice, and before UTF-16's",
			"\xef\xbb\xbf\xef\xbb\xbf\xff\xfe\xef\xbb\xbfuser-agent: *\ndisallow: /x", "a", "/x", no},
		{"11 UTF-32LE", "\xff\xfe\x00\x00" + widened("user-agent: *\ndisallow: /x", "%c\x00\x00\x00"), "a", "/x", no},
		{"11 UTF-32BE", "\x00\x00\xfe\xff" + widened("user-agent: *\ndisallow: /x", "\x00\x00\x00%c"), "a", "/x", no},
		{"11 UTF-16LE that begins in Cyrillic", "\xff\xfe#\x009\x04\n\x00" + widened("user-agent: *\ndisallow: /x",
			"%c\x00"), "a", "/x", no},
		{"11 two octets with a NUL each, and ASCII", "u\x00s\x00er-agent: *\ndisallow: /x\nuser-agent: *\ndisallow: /y",
			"a", "/y", no},
		{"11 NULs at the ends", "user-agent: *\x00\n\x00disallow: /x\x00", "a", "/x", no},
		{"11 a NUL ends its line", "user-agent: *\ndisallow: /x\x00y", "a", "/x", no},
		{"11 invalid UTF-8 is octets", "user-agent: *\ndisallow: /\xff\xfe", "a", "/%ff%FE", no},
		{"11 invalid UTF-8 spoils no other rule", "user-agent: *\ndisallow: /\xff\ndisallow: /x", "a", "/x", no},
		{"11 HTML with a rule in it", "<html>\n<p>user-agent: *\nuser-agent: *\ndisallow: /x\n</html>", "a", "/x", no},
		{"12 one bad line is one bad line", "user-agent: *\ncrawl-delay: 10s\n: :\n\xff\ndisallow: /x", "a", "/x", no},
		{"12 a long line is cut", "user-agent: *\ndisallow: " + long + "/more", "a", long + "/other", no},
		{"12 500 KiB are read", "user-agent: *\n" + strings.Repeat(pad, 255) + "disallow: /x\n", "a", "/x", no},
		{"12 what follows is not", "user-agent: *\n" + strings.Repeat(pad, 257) + "disallow: /x\n", "a", "/x", yes},
		{"12 nor is a line that the limit cuts", "user-agent: *\n" + strings.Repeat("#\n", (maxBytes-14-12)/2) +
			"disallow: /xyz\n", "a", "/xyz", yes},
		{"12 a line that ends at the limit is whole", "user-agent: *\n" + strings.Repeat("#\n", (maxBytes-14-14)/2) +
			"disallow: /xyz\n", "a", "/xyz", no},
		{"13 /robots.txt is always allowed", "user-agent: *\ndisallow: /", "a", "/robots.txt", yes},
		{"13 but no other file named so", "user-agent: *\ndisallow: /", "a", "/a/robots.txt", no},
	} {
		if v := parse(c.robots, c.agent).Verdict(c.url); v.Allow != c.allow {
			t.Errorf("%s: %s allowed = %v by line %d %q", c.name, c.url, v.Allow, v.Line, v.Rule)
		}
	}
}

// A rule on which the two matchers differ never allows: a Disallow applies if either matches, an Allow
// only if both do.
func TestADifferenceOfTheMatchersIsNoLeave(t *testing.T) {
	const robots = "User-agent: *\nAllow: /a*b$\nDisallow: /a*c\nDisallow: /d*e$\nAllow: /\n"
	says := func(answer bool) func(*pattern, string) bool { return func(*pattern, string) bool { return answer } }
	for _, c := range []struct {
		name, url string
		second    bool // the second matcher's result for every pattern
		allow     bool
		line      int
		differs   string
	}{
		{"both match an Allow", "/axb", true, true, 2, ""},
		{"only ours matches an Allow", "/axb", false, true, 5, "temoto/robotstxt does not match Allow: /a*b$"},
		{"only the second matches an Allow, then a Disallow", "/abxc", true, false, 3,
			"only temoto/robotstxt matches Allow: /a*b$"},
		{"both match a Disallow", "/dxe", true, false, 4, ""},
		{"only ours matches a Disallow", "/axc", false, false, 3, "temoto/robotstxt does not match Disallow: /a*c"},
		{"only the second matches a Disallow", "/dex", true, false, 4, "only temoto/robotstxt matches Disallow: /d*e$"},
		{"a prefix is the same to both", "/e", true, true, 5, ""},
	} {
		r := parse(robots, "curtsy")
		r.second.match = says(c.second)
		v := r.Verdict(c.url)
		differs := v.Differs
		if v.Allow != c.allow || v.Line != c.line || differs != c.differs {
			t.Errorf("%s: %s is allowed %v by line %d, %q; want %v by line %d, %q", c.name, c.url, v.Allow, v.Line,
				differs, c.allow, c.line, c.differs)
		}
	}
}

func TestVerdictNamesLineRuleAndGroup(t *testing.T) {
	r := parse("# x\r\nUser-agent: Curtsy/1 # us\r\n\r\n  Disallow :/a* # no\r\nAllow: /ab\r\n", "curtsy")
	for url, want := range map[string]Verdict{
		"/axx":        {Allow: false, Line: 4, Rule: "Disallow :/a*", Group: "Curtsy/1"},
		"/ab":         {Allow: true, Line: 5, Rule: "Allow: /ab", Group: "Curtsy/1"},
		"/c":          {Allow: true, Group: "Curtsy/1"},
		"/robots.txt": {Allow: true, Group: "Curtsy/1"},
	} {
		if got := r.Verdict(url); got != want {
			t.Errorf("%s: %+v; want %+v", url, got, want)
		}
	}
	if got := parse("User-agent: x\nDisallow: /", "y").Verdict("/"); got != (Verdict{Allow: true}) {
		t.Errorf("no group for us: %+v", got)
	}
	if got := DenyAll("status 503").Verdict("/x"); got != (Verdict{Rule: "status 503"}) {
		t.Errorf("DenyAll: %+v", got)
	}
	if got := AllowAll("status 404").Verdict("/x"); got != (Verdict{Allow: true, Rule: "status 404"}) {
		t.Errorf("AllowAll: %+v", got)
	}
	if got := DenyAll("status 503").Verdict("/robots.txt"); !got.Allow {
		t.Errorf("DenyAll holds for /robots.txt itself: %+v", got)
	}
}

func TestAgentsAreTriedInOrder(t *testing.T) {
	robots := "user-agent: a\ndisallow: /a\nuser-agent: b\ndisallow: /b\nuser-agent: *\ndisallow: /\n"
	for _, c := range []struct {
		agents []string
		denied string
	}{
		{[]string{"a", "b"}, "/a"}, {[]string{"x", "b", "a"}, "/b"}, {[]string{"x"}, "/x"}, {nil, "/x"},
		{[]string{"", "*"}, "/x"},
	} {
		r := parse(robots, c.agents...)
		var denied []string
		for _, url := range []string{"/a", "/b", "/x"} {
			if !r.Verdict(url).Allow {
				denied = append(denied, url)
			}
		}
		if c.denied == "/x" != (len(denied) == 3) || !slices.Contains(denied, c.denied) {
			t.Errorf("%q: denied %v; want %s", c.agents, denied, c.denied)
		}
	}
}

func TestCrawlDelay(t *testing.T) {
	for _, c := range []struct {
		robots string
		want   time.Duration // -1: none
		line   int
	}{
		{"user-agent: *\ncrawl-delay: 10", 10 * time.Second, 2},
		{"user-agent: *\ncrawl-delay: .5", 500 * time.Millisecond, 2},
		{"user-agent: *\ncrawl-delay: 0", 0, 2},
		{"user-agent: *\ncrawl-delay: 1\ndisallow: /\ncrawl-delay: 3\ncrawl-delay: 2", 3 * time.Second, 4},
		{"user-agent: *\ncrawl-delay: 2\nuser-agent: *\ncrawl-delay: 5", 5 * time.Second, 4},
		{"user-agent: x\ncrawl-delay: 2\nuser-agent: *\ndisallow: /", -1, 0},
		{"user-agent: *\ncrawl-delay: 2\nuser-agent: bot\ndisallow: /", -1, 0},
		{"user-agent: bot\ncrawl-delay: 2\nuser-agent: *\ncrawl-delay: 9", 2 * time.Second, 2},
		{"crawl-delay: 2\nuser-agent: *", -1, 0},
		{"user-agent: *\ncrawl-delay: 99999999999", 1<<63 - 1, 2},
		{"user-agent: *\ncrawl-delay: " + strings.Repeat("9", 400), 1<<63 - 1, 2},
	} {
		d, line, ok := parse(c.robots, "bot").CrawlDelay()
		if ok != (c.want >= 0) || ok && (d != c.want || line != c.line) {
			t.Errorf("%q: %v of line %d, %v; want %v of %d", c.robots, d, line, ok, c.want, c.line)
		}
	}
	for _, bad := range []string{"", "-1", "1e9", "0,5", "NaN", "inf", "10s", "1.2.3", ".", "+1", "0x1", "１", "1 2"} {
		r := parse("user-agent: *\ndisallow: /x\ncrawl-delay: " + bad)
		if d, _, ok := r.CrawlDelay(); ok || r.Verdict("/x").Allow || len(r.Warnings()) != 1 {
			t.Errorf("crawl-delay %q: %v, %v, %v", bad, d, ok, r.Warnings())
		}
	}
	r := Parse([]byte("user-agent: *\ncrawl-delay: 3600"), Options{MaxCrawlDelay: time.Minute})
	if d, _, _ := r.CrawlDelay(); d != time.Minute || len(r.Warnings()) != 1 {
		t.Errorf("a capped delay is %v, with %v", d, r.Warnings())
	}
}

func TestRequestRate(t *testing.T) {
	for text, want := range map[string]string{
		"1/10s": "1 in 10s", "2/1m": "2 in 1m0s", "1/5": "1 in 5s", "3/1h": "3 in 1h0m0s",
		"1/10s 0600-0845": "1 in 10s",
		"":                "", "1": "", "0/1": "", "1/0": "", "-1/5": "", "1/5d": "", "1/99999999999999": "", "a/b": "",
	} {
		p := parse("user-agent: *\nrequest-rate: " + text).Pace()
		ok := p.RateLine != 0
		if got := fmt.Sprintf("%d in %v", p.Requests, p.Per); ok != (want != "") || ok && got != want {
			t.Errorf("request-rate: %s is %s, %v; want %s", text, got, ok, want)
		}
	}
	p := parse("user-agent: *\nrequest-rate: 1/5\nrequest-rate: 1/1m\nrequest-rate: 2/1m").Pace()
	if p.RateLine != 3 {
		t.Errorf("of several rates %+v holds; want the slowest", p)
	}
}

func TestVisitTime(t *testing.T) {
	at := func(s string) time.Time {
		tm, err := time.Parse("2006-01-02 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return tm
	}
	for _, c := range []struct{ text, now, next string }{
		{"0600-0845", "2024-02-28 07:00", "2024-02-28 07:00"},
		{"0600-0845", "2024-02-28 06:00", "2024-02-28 06:00"},
		{"0600-0845", "2024-02-28 05:59", "2024-02-28 06:00"},
		{"0600-0845", "2024-02-28 08:45", "2024-02-29 06:00"},
		{"2200-0600", "2024-02-28 23:00", "2024-02-28 23:00"},
		{"2200-0600", "2024-02-28 05:59", "2024-02-28 05:59"},
		{"2200-0600", "2024-02-28 12:00", "2024-02-28 22:00"},
		{"22:00 - 24:00", "2024-12-31 01:00", "2024-12-31 22:00"},
		{"0600-0845", "2024-12-31 09:00", "2025-01-01 06:00"},
	} {
		v, ok := parse("user-agent: *\nvisit-time: " + c.text).VisitTime()
		if got := v.Next(at(c.now)); !ok || !got.Equal(at(c.next)) {
			t.Errorf("%s at %s: next %v, %v; want %s", c.text, c.now, got, ok, c.next)
		}
	}
	first, _ := parse("user-agent: *\nvisit-time: 0600-0845\nvisit-time: 0700-0900").VisitTime()
	if first.Line != 2 {
		t.Errorf("of several visit times %+v holds; want the first", first)
	}
	for _, bad := range []string{"", "0600", "0600-0600", "0660-0800", "2500-0600", "a-b", "600-845", "2400-0100"} {
		if v, ok := parse("user-agent: *\nvisit-time: " + bad).VisitTime(); ok {
			t.Errorf("visit-time %q is read as %+v", bad, v)
		}
	}
}

func TestSitemapLines(t *testing.T) {
	r := parse("Sitemap: http://H/S.xml\nuser-agent: a\nsite-map:http://h/2\nSitemap http://h/3\nSITEMAP: /rel\nsitemap: http://H/S.xml\nsitemap:\n", "b")
	want := []Sitemap{{"http://H/S.xml", 1}, {"http://h/2", 3}, {"http://h/3", 4}, {"/rel", 5}}
	if got := r.Sitemaps(); !slices.Equal(got, want) {
		t.Errorf("sitemaps = %v; want %v", got, want)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ robots, want string }{
		{"user-agent: *\ndisallow: x", "2 a path without a leading slash"},
		{"user-agent: *\ncrawl-delay: soon", "2 Crawl-delay \"soon\" is not a number"},
		{"user-agent: *\nfoo: bar", "2 an unknown field: \"foo\""},
		{"user-agent: *\n\xef\xbb\xbfallow: /", "2 a byte order mark in the middle"},
		{strings.Repeat("#\n", maxBytes), "0 the file is over 500 KiB"},
		{"disallow: /", "1 a rule before any user-agent"},
		{"crawl-delay: 1", "1 crawl-delay before any user-agent"},
		{"hello", "1 not a line of"},
		{"user-agent *", "1 a colon is missing"},
		{"useragent: *", "1 the field \"useragent\" is read as user-agent"},
		{"user-agent:", "1 an empty user-agent"},
		{"user-agent: a/1", "1 a user-agent may contain letters"},
		{"user-agent: ж", "1 a user-agent with characters other than letters"},
		{"user-agent: *bot", "1 text after * is ignored"},
		{"user-agent: *\nallow:", "2 an empty Allow is not a rule"},
		{"user-agent: *\nallow: /a$b", "2 $ is the end of the URL only"},
		{"user-agent: *\nallow: /" + strings.Repeat("*a", 20), "2 more than 16 stars"},
		{"sitemap: /x", "1 a sitemap must be an absolute URL"},
		{"host: a_b", "1 Host \"a_b\" is not a domain name"},
		{"host: a.b\nhost: c.d", "2 a second Host: line 1 is used"},
		{"clean-param: a b c", "1 Clean-param needs"},
		{"clean-param: a b?c", "1 Clean-param allows only A-Z"},
		{"user-agent: *\nrequest-rate: x\n", "2 Request-rate \"x\""},
		{"user-agent: *\nvisit-time: x\n", "2 Visit-time \"x\""},
		{"user-agent: *\nallow: /\x00x", "2 a NUL byte"},
		{"#" + strings.Repeat("x", maxLine), "1 over 16663 bytes"},
		{"\xff\xfe#\x00", "0 the file is UTF-16LE"},
		{"\xff\xfeuser-agent: *", "0 the file is marked as UTF-16LE and is not"},
	} {
		got := fmt.Sprintf("%d %s", parse(c.robots).Warnings()[0].Line, parse(c.robots).Warnings()[0].Text)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%.60q: %s; want %s", c.robots, got, c.want)
		}
	}
	if w := parse("User-agent: *\nDisallow: /x # ok\nAllow: /x/*.html$\n\nCrawl-delay: 1\nSitemap: https://h/s\n").Warnings(); len(w) > 0 {
		t.Errorf("a good file: %v", w)
	}
}

// widened formats each octet of s.
func widened(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func TestClassic1994(t *testing.T) {
	for _, c := range []struct {
		name, robots, agent, url string
		allow                    bool
	}{
		{"a blank line ends a record", "user-agent: a\ndisallow: /x\n\ndisallow: /y", "a", "/y", yes},
		{"the first matching record", "user-agent: foo\ndisallow: /x\n\nuser-agent: foo\ndisallow: /y",
			"foo", "/y", yes},
		{"* only where no other names us", "user-agent: *\ndisallow: /\n\nuser-agent: foo\ndisallow: /x",
			"foo", "/y", yes},
		{"part of our name", "user-agent: foo\ndisallow: /", "FooBot", "/", no},
		{"our name in the line", "user-agent: The FooBot/2.0 robot\ndisallow: /", "foobot", "/", no},
		{"our name without version", "user-agent: foobot\ndisallow: /", "FooBot/2.0", "/", no},
		{"a letter is part of no name", "user-agent: o\ndisallow: /", "foobot", "/", yes},
		{"no Allow", "user-agent: *\nallow: /x/y\ndisallow: /x", "a", "/x/y", no},
		{"%3F is ?", "user-agent: *\ndisallow: /a%3Fb", "a", "/a?b", no},
		{"%2F is not /", "user-agent: *\ndisallow: /a%2Fb", "a", "/a/b", yes},
		{"a record without Disallow is none", "user-agent: a\n\nuser-agent: *\ndisallow: /", "a", "/x", no},
	} {
		r := Parse([]byte(c.robots), Options{Agents: []string{c.agent}, Dialect: Classic1994})
		if v := r.Verdict(c.url); v.Allow != c.allow {
			t.Errorf("%s: %s allowed = %v by %q", c.name, c.url, v.Allow, v.Rule)
		}
	}
}

func TestDialectNames(t *testing.T) {
	for _, d := range []Dialect{RFC9309, Yandex, Classic1994} {
		if got, err := ParseDialect(d.String()); err != nil || got != d {
			t.Errorf("%v is read as %v, %v", d, got, err)
		}
	}
	if _, err := ParseDialect("google"); err == nil {
		t.Error("no error for an unknown dialect")
	}
}

func TestManyAskAtOnce(t *testing.T) {
	var robots strings.Builder
	robots.WriteString("user-agent: *\n")
	for i := range 2 * maxCompiled {
		fmt.Fprintf(&robots, "disallow: /%d*x$\n", i)
	}
	r := parse(robots.String())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 2 * maxCompiled {
				if v := r.Verdict(fmt.Sprintf("/%d/x", i)); v.Allow {
					t.Errorf("/%d/x is allowed", i)
				}
			}
		})
	}
	all.Wait()
}
