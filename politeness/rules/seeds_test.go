package rules

import (
	"strings"
	"testing"
	"time"
)

// says is a URL and the verdict that an example gives.
type says struct {
	url   string
	allow bool
}

const (
	yes = true
	no  = false
)

// example is an example from a seed document; blank lines are as there.
type example struct {
	name   string
	robots string
	agent  string
	say    []says
}

func run(t *testing.T, d Dialect, examples []example) {
	for _, x := range examples {
		t.Run(x.name, func(t *testing.T) {
			r := Parse([]byte(x.robots), Options{Agents: []string{x.agent}, Dialect: d})
			for _, s := range x.say {
				if v := r.Verdict(s.url); v.Allow != s.allow {
					t.Errorf("%s for %s: allowed = %v by line %d %q; want %v", s.url, x.agent, v.Allow, v.Line,
						v.Rule, s.allow)
				}
			}
		})
	}
}

func TestSeed000Slides(t *testing.T) {
	groups := "user-agent: a\ndisallow: /c\n\nuser-agent: b\ndisallow: /d\n\nuser-agent: e\nuser-agent: f\ndisallow: /g\n"
	all := "# all robots may\nUser-agent: *\nDisallow:\n"
	asp := "User-agent: googlebot\n\nDisallow: /*asp$\n"
	run(t, RFC9309, []example{
		{"groups: a", groups, "a", []says{{"/c", no}, {"/d", yes}, {"/g", yes}}},
		{"groups: b", groups, "b", []says{{"/c", yes}, {"/d", no}}},
		{"groups: e and f share rules, e", groups, "e", []says{{"/g", no}, {"/c", yes}}},
		{"groups: e and f share rules, f", groups, "f", []says{{"/g", no}, {"/d", yes}}},
		{"all robots may crawl", all, "bot", []says{{"/", yes}, {"/x", yes}}},
		{"no robot may crawl", "User-agent: *\nDisallow: /\n", "bot",
			[]says{{"/", no}, {"/x", no}, {"/robots.txt", yes}}},
		{"two folders and what is under them", "User-agent: *\n\nDisallow: /myfolder/\n\nDisallow: /mytest/\n", "bot",
			[]says{{"/myfolder/", no}, {"/myfolder/a/b", no}, {"/mytest/x", no}, {"/myfolder", yes}}},
		{"all but GoogleBot: GoogleBot", "User-agent: googlebot\n\nDisallow:\n\nUser-agent: *\n\nDisallow: /\n",
			"GoogleBot", []says{{"/", yes}}},
		{"all but GoogleBot: another", "User-agent: googlebot\n\nDisallow:\n\nUser-agent: *\n\nDisallow: /\n", "bot",
			[]says{{"/", no}}},
		{"/scripts without page.php", "User-agent: *\n\nDisallow: /scripts/\n\nAllow: /scripts/page.php\n", "bot",
			[]says{{"/scripts/x", no}, {"/scripts/page.php", yes}}},
		{"URLs that hold “page”", "User-agent: googlebot\n\nDisallow: /*page\n", "googlebot",
			[]says{{"/a/page.html", no}, {"/a", yes}}},
		{"all asp files: /pretty-wasp is excluded", asp, "googlebot", []says{{"/pretty-wasp", no}}},
		{"all asp files: /login.asp is excluded", asp, "googlebot", []says{{"/login.asp", no}}},
		{"all asp files: a query after it is not", asp, "googlebot", []says{{"/login.asp?forgotton-password=1", yes}}},
	})
	t.Run("line ends CR, CRLF and LF", func(t *testing.T) {
		for _, end := range []string{"\r", "\r\n", "\n"} {
			r := Parse([]byte(strings.ReplaceAll(groups, "\n", end)), Options{Agents: []string{"b"}})
			if v := r.Verdict("/d"); v.Allow || v.Line != 5 {
				t.Errorf("end %q: %+v; want a denial by line 5", end, v)
			}
		}
	})
	t.Run("crawl-delay of 1 to 10 seconds", func(t *testing.T) {
		for text, want := range map[string]time.Duration{"1": time.Second, "10": 10 * time.Second} {
			d, _, ok := Parse([]byte("User-agent: *\nCrawl-delay: "+text), Options{}).CrawlDelay()
			if !ok || d != want {
				t.Errorf("Crawl-delay: %s is %v, %v", text, d, ok)
			}
		}
	})
	t.Run("sitemap belongs to no group", func(t *testing.T) {
		s := Parse([]byte("User-agent: *\nDisallow:\n\nSitemap: http://www.example.com/sitemap.xml\n"),
			Options{Agents: []string{"x"}}).Sitemaps()
		if len(s) != 1 || s[0].URL != "http://www.example.com/sitemap.xml" || s[0].Line != 4 {
			t.Errorf("sitemaps = %v", s)
		}
	})
}

func TestSeed001RussianStandard(t *testing.T) {
	robots := "User-agent: *\nDisallow: /news\n\n# about /news\nUser-agent: StackRambler\nUser-agent: Aport\nDisallow: /eng\nDisallow: /news\n\nUser-agent: Yandex\nDisallow:\n#Yandex may all\n"
	run(t, Classic1994, []example{
		{"a partial path", "User-agent: *\nDisallow: /path/to\n", "bot",
			[]says{{"/path/to/file1.html", no}, {"/path/to/file2.html", no}, {"/path/file3.html", yes}}},
		{"print pages of a script", "User-agent: *\nDisallow: /index.php?action=print\n", "bot", []says{
			{"/index.php?action=print&id=1", no}, {"/index.php?action=view&id=1", yes},
			{"/index.php?id=1&action=print", yes}, {"/?action=print&id=1", yes}}},
		{"example file: others", robots, "bot", []says{{"/news", no}, {"/eng", yes}}},
		{"example file: StackRambler", robots, "StackRambler", []says{{"/news", no}, {"/eng/", no}, {"/", yes}}},
		{"example file: Aport", robots, "Aport", []says{{"/news", no}, {"/eng/", no}}},
		{"example file: Yandex", robots, "Yandex", []says{{"/news", yes}, {"/eng", yes}}},
		{"PDF files in a folder", "User-agent: *\nDisallow: /pdf/\n", "bot",
			[]says{{"/pdf/a.pdf", no}, {"/a.pdf", yes}}},
	})
	run(t, RFC9309, []example{
		{"PDF files by Google's pattern", "User-agent: Googlebot\nDisallow: *.pdf$\n#no PDF\n", "Googlebot",
			[]says{{"/x/a.pdf", no}, {"/a.pdf?b", yes}}},
		{"the example file as it stands, without blank lines", strings.ReplaceAll(robots, "\n\n", "\n"), "Aport",
			[]says{{"/news", no}, {"/eng/", no}, {"/", yes}}},
	})
}

func TestSeed003BogBOS(t *testing.T) {
	run(t, Classic1994, []example{
		{"the main server", "User-Agent: *\nDisallow:\n", "bot", []says{{"/", yes}, {"/x", yes}}},
		{"robots.lat.txt of a copy in another charset", "User-Agent: *\nDisallow: /\n", "bot",
			[]says{{"/", no}, {"/x", no}}},
		{"an empty file", "", "bot", []says{{"/", yes}}},
		{"coded octets are decoded", "User-agent: *\nDisallow: /%7ejoe\n", "bot",
			[]says{{"/~joe/", no}, {"/%7Ejoe/", no}}},
		{"some robots: several names in a line", "User-agent: foo bar\nDisallow: /x\n", "bar", []says{{"/x", no}}},
		{"some robots: several paths in a line", "User-agent: *\nDisallow: /x /y\n", "bot",
			[]says{{"/x", no}, {"/y", no}, {"/z", yes}}},
		{"no patterns", "User-agent: *\nDisallow: /*.gif$\n", "bot", []says{{"/a.gif", yes}, {"/*.gif$", no}}},
	})
	if got := Classic1994.MaxAge(); got != 7*24*time.Hour {
		t.Errorf("kept for %v; want 7 days", got)
	}
}

func TestSeed004Yandex(t *testing.T) {
	three := "User-agent: YandexBot # the main robot only\nDisallow: /*id=\nUser-agent: Yandex # all of Yandex\nDisallow: /*sid= # but the main one\nUser-agent: * # not for Yandex\nDisallow: /cgi-bin\n"
	obsolete := "User-agent: Yandex\nAllow: /obsolete/private/*.html$\nDisallow: /*.php$\nDisallow: /*/private/\nDisallow: /*/old/*.zip$\n"
	y := func(lines ...string) string { return "User-agent: Yandex\n" + strings.Join(lines, "\n") + "\n" }
	run(t, Yandex, []example{
		{"choice of group: YandexBot", three, "YandexBot", []says{{"/a?id=1", no}, {"/cgi-bin", yes}}},
		{"choice of group: another of Yandex", three, "YandexImages", []says{{"/a?sid=1", no}, {"/a?id=1", yes},
			{"/cgi-bin", yes}}},
		{"choice of group: others", three, "bot", []says{{"/cgi-bin", no}, {"/a?id=1", yes}}},
		{"the whole site", y("Disallow: / # all of it"), "Yandex", []says{{"/", no}, {"/x", no}}},
		{"/cgi-bin", y("Disallow: /cgi-bin # and what begins with it"), "Yandex",
			[]says{{"/cgi-bin", no}, {"/cgi-bin/x", no}, {"/cgi", yes}}},
		{"all but /cgi-bin", y("Allow: /cgi-bin", "Disallow: /"), "Yandex", []says{{"/cgi-bin/x", yes}, {"/x", no}}},
		{"sorted by length: /catalog", y("Allow: /catalog", "Disallow: /"), "Yandex",
			[]says{{"/catalog", yes}, {"/x", no}}},
		{"sorted by length: /catalog/auto", y("Allow: /", "Allow: /catalog/auto", "Disallow: /catalog"), "Yandex",
			[]says{{"/catalog", no}, {"/catalog/auto", yes}, {"/", yes}}},
		{"an empty Disallow is Allow: /", y("Disallow:"), "Yandex", []says{{"/", yes}}},
		{"an empty Allow is not counted", y("Allow:"), "Yandex", []says{{"/", yes}}},
		{"/cgi-bin/*.aspx and /*private", y("Disallow: /cgi-bin/*.aspx", "Disallow: /*private"), "Yandex",
			[]says{{"/cgi-bin/example.aspx", no}, {"/cgi-bin/private/test.aspx", no}, {"/private", no},
				{"/cgi-bin/private", no}}},
		{"a * at the end is the same without", y("Disallow: /cgi-bin*"), "Yandex",
			[]says{{"/cgi-bin", no}, {"/cgi-binx", no}}},
		{"a $ at the end", y("Disallow: /example$"), "Yandex", []says{{"/example", no}, {"/example.html", yes}}},
		{"no $ at the end", y("Disallow: /example"), "Yandex", []says{{"/example", no}, {"/example.html", no}}},
		{"a $ does not cancel a *", y("Disallow: /example$", "Disallow: /example*$"), "Yandex",
			[]says{{"/example", no}, {"/example.html", no}}},
		{"Allow and Disallow alike", y("Allow: /", "Disallow: /"), "Yandex", []says{{"/", yes}, {"/x", yes}}},
		{"/private*html", y("Disallow: /private*html"), "Yandex",
			[]says{{"/private*html", no}, {"/private/test.html", no}, {"/private/html/test.aspx", no}}},
		{"/private$", y("Disallow: /private$"), "Yandex", []says{{"/private", no}, {"/private$test", yes}}},
		{"no blank line before a group", "User-agent: *\nDisallow: /\nUser-agent: Yandex\nAllow: /\n", "Yandex",
			[]says{{"/", yes}}},
		{"comments instead of a blank line",
			"User-agent: *\nDisallow: /\n# 1...\n# 2...\nUser-agent: Yandex\nAllow: /\n", "Yandex", []says{{"/", yes}}},
		{"only /archive", y("Allow: /archive", "Disallow: /"), "Yandex", []says{{"/archive/x", yes}, {"/x", no}}},
		{"/obsolete/private/*.html$ among denials", obsolete, "Yandex", []says{{"/obsolete/private/a.html", yes},
			{"/a.php", no}, {"/x/private/b", no}, {"/a/old/b.zip", no}}},
		{"/add.php?*user=", y("Disallow: /add.php?*user="), "Yandex",
			[]says{{"/add.php?a=1&user=2", no}, {"/add.php?a", yes}}},
		{"YandexCalendar", "User-agent: YandexCalendar\nDisallow: /\n", "YandexCalendar", []says{{"/", no}}},
		{"YandexMobileBot", "User-agent: YandexMobileBot\nDisallow: /private/*.txt$\n", "YandexMobileBot",
			[]says{{"/private/a.txt", no}, {"/private/a.txt?", yes}}},
		{"over 32 KB is Disallow:", y("Disallow: /") + strings.Repeat("# padding\n", 3300), "Yandex",
			[]says{{"/", yes}}},
	})
	run(t, Classic1994, []example{
		{"without extensions: Allow is ignored", y("Allow: /", "Disallow: /"), "Yandex", []says{{"/", no}}},
		{"without extensions: /private*html is literal", y("Disallow: /private*html"), "Yandex",
			[]says{{"/private*html", no}, {"/private/test.html", yes}}},
		{"without extensions: /private$ is literal", y("Disallow: /private$"), "Yandex",
			[]says{{"/private$test", no}, {"/private", yes}}},
		{"without extensions: no blank line, no group", "User-agent: *\nDisallow: /\nUser-agent: Yandex\nAllow: /\n",
			"Yandex", []says{{"/", no}}},
	})
	t.Run("Crawl-delay of 2 and 4.5 seconds, Crawl-delay splits groups", func(t *testing.T) {
		text := []byte("User-agent: Yandex\nCrawl-delay: 2 # two\nUser-agent: *\nDisallow: /search\nCrawl-delay: 4.5 # and a half\n")
		for agent, want := range map[string]time.Duration{"Yandex": 2 * time.Second, "bot": 4500 * time.Millisecond} {
			r := Parse(text, Options{Agents: []string{agent}, Dialect: Yandex})
			if d, _, ok := r.CrawlDelay(); !ok || d != want {
				t.Errorf("%s: %v, %v; want %v", agent, d, ok, want)
			}
			if v := r.Verdict("/search"); v.Allow != (agent == "Yandex") {
				t.Errorf("%s: /search allowed = %v", agent, v.Allow)
			}
		}
	})
	t.Run("Host and what is ignored", func(t *testing.T) {
		for value, ok := range map[string]bool{
			"www.glavnoye-zerkalo.ru": yes, "www.myhost.ru": yes, "domen.myhost.ru": yes, "www.myhost-.com": no,
			"www.-myhost.com":       no,
			"www.myhost.com:100000": no, "www.my_host.com": no, ".my-host.com:8000": no, "my-host.com.": no,
			"my..host.com":         no,
			"www.myhost.com:8080/": no, "213.180.194.129": no, "www.firsthost.ru,www.secondhost.com": no,
			"www.firsthost.ru www.secondhost.com": no,
		} {
			if _, _, got := Parse([]byte("User-agent: *\nHost: "+value), Options{Dialect: Yandex}).Host(); got != ok {
				t.Errorf("Host: %s counts = %v; want %v", value, got, ok)
			}
		}
		h, line, _ := Parse([]byte("Host: myhost.ru # used\nUser-agent: *\nHost: www.myhost.ru # not used"),
			Options{}).Host()
		if h != "myhost.ru" || line != 1 {
			t.Errorf("host = %s of line %d", h, line)
		}
	})
	t.Run("sitemap lines", func(t *testing.T) {
		s := Parse([]byte(y("Allow: /", "sitemap: http://example.com/site_structure/my_sitemaps1.xml",
			"sitemap: http://example.com/site_structure/my_sitemaps2.xml")), Options{Dialect: Yandex}).Sitemaps()
		if len(s) != 2 || s[1].Line != 4 {
			t.Errorf("sitemaps = %v", s)
		}
	})
}
