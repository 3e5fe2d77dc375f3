package hostile

import "fmt"

// Prefixes of the values of Want.
const (
	fetched     = "fetched"
	unknown     = "unknown"
	disregarded = "disregarded: "
	failed      = "failed: "
)

func urls() []*Fixture {
	return []*Fixture{
		{Line: 2, Name: "userinfo", Attack: "user and password in a link",
			Pages: map[string]Answer{"": links("http://user:secret@HOSTDIRgood"), "good": good},
			Want:  map[string]string{"good": fetched}},
		{Line: 2, Name: "authority-confusion",
			Attack: "`;@\\#` and empty parts that make parsers disagree about the host",
			Pages: map[string]Answer{"": links(`http://HOST;@evil.invalid/`, `http://evil.invalid\@HOSTDIRbackslash`,
				`http://HOST#@evil.invalid/`,
				`http://evil.invalid#@HOST/`, `http:///evil.invalid/`, `http:\\evil.invalid\x`, `//evil.invalid/`,
				`/\evil.invalid/`, `\\evil.invalid`,
				`http://HOST%2eevil.invalid/`, `http://evil.invalid:80:90/`, `http://[::1/`, `http://]/`, `http://:80/`,
				`http://@/`, `good`), "good": good},
			Want: map[string]string{"good": fetched}},
		{Line: 2, Name: "controls", Attack: "tabs, line ends and control octets in links",
			Pages: map[string]Answer{"": links("go\t\nod", "\x01\x02lead", "a\x00b", "e\x1b[31mred", "x\x7fy",
				"cr\rlf\nX-Injected: yes", "good%0d%0aX-Injected:%20yes"), "good": good, "*": good},
			Want: map[string]string{"good": fetched}},
		{Line: 2, Name: "numeric-hosts", Attack: "this machine as an octal, hex, decimal, IPv4-mapped, zoned or dotted host",
			Pages: map[string]Answer{"": links("http://0177.0.0.1:PORTDIRoctal", "http://2130706433:PORTDIRdecimal",
				"http://0x7f.1:PORTDIRhex",
				"http://[::ffff:127.0.0.1]:PORTDIRmapped", "http://[fe80::1%25lo]:PORTDIRzoned",
				"http://127.0.0.1.:PORTDIRdotted", "http://localhost:PORTDIRname", "good"), "*": good},
			// WHATWG: the first three are 127.0.0.1 itself; the others are other hosts.
			Want: map[string]string{"good": fetched, "octal": fetched, "decimal": fetched, "hex": fetched,
				"mapped": unknown, "name": unknown}},
		{Line: 2, Name: "host-escapes", Attack: "`%2f`, `%00`, IDN and over-long labels in the host",
			Pages: map[string]Answer{"": links("http://127.0.0.1%2fevil/", "http://a%00b.invalid/",
				"http://xn--a.invalid/", "http://ＨＯＳＴ.invalid/", "http://"+rep("a", 300)+".invalid/",
				"http://пример.invalid/", "http://a..b.invalid/", "http://-.invalid/", "good"), "good": good},
			Want: map[string]string{"good": fetched}},
		{Line: 2, Name: "megabyte-url", Attack: "a link of 1 MB, one of 8,000 bytes",
			Pages: map[string]Answer{"": links(rep("x", 1<<20-20), rep("y", 8000), "good"), "good": good, "*": good},
			Want:  map[string]string{"good": fetched, rep("y", 8000): disregarded + "trap: length"}},
		{Line: 2, Name: "parameters", Attack: "10,000 parameters in one link",
			Pages: map[string]Answer{"": links("p?"+rep("a=1&amp;", 10_000), "good"), "good": good, "*": good},
			Want:  map[string]string{"good": fetched}},
		{Line: 2, Name: "dot-segments", Attack: "100,000 `..` segments, plain and escaped",
			Pages: map[string]Answer{"": links(rep("../", 100_000)+"etc/passwd", rep("%2e%2e/", 1000)+"etc/shadow",
				rep("..%2f", 100)+"x", "a/../good"), "good": good, "*": good},
			Want: map[string]string{"good": fetched}},
		{Line: 2, Name: "escapes", Attack: "bad escapes and octets that are no UTF-8",
			Pages: map[string]Answer{"": links("%", "%z", "%zz", "%2", "a%00b", "\xff\xfe", "caf\xe9", "%ff%fe",
				"good"), "good": good, "*": good},
			Want: map[string]string{"good": fetched}},
		{Line: 2, Name: "schemes", Attack: "javascript:, data:, file:, blob:, ftp: and unknown schemes",
			Pages: map[string]Answer{"": links("javascript:alert(1)", "JaVaScRiPt:x",
				"data:text/html,<a href=/evil>x</a>", "file:///etc/passwd", "blob:http://HOST/1-2", "ftp://HOST/x",
				"gopher://HOST:70/_x",
				"view-source:http://HOST/x", "about:blank", "x:", "good"), "good": good},
			Want: map[string]string{"good": fetched}},
		{Line: 2, Name: "many-links", Attack: "a page with 200,000 different links", Heavy: true, Most: 300_000,
			Pages: map[string]Answer{"": func(c *Conn) {
				b := []byte("<title>many</title><a href=good>good</a>")
				for i := range 200_000 {
					b = fmt.Appendf(b, "<a href='http://other%d.invalid/%x'>", i%1000, i)
				}
				c.Reply(200, "Content-Type: text/html", string(b))
			}, "good": good},
			Want: map[string]string{"good": fetched}},
	}
}

func addresses() []*Fixture {
	inside := []string{"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/x.png", "http://192.168.1.1/x.png",
		"http://172.16.0.1/x.png", "http://100.64.0.1/x.png",
		"http://[::1]:PORT/x.png", "http://[fd00::1]/x.png", "http://[fe80::1]/x.png", "http://0.0.0.0:PORT/x.png",
		"http://168.63.129.16/x.png", "http://[::ffff:10.0.0.1]/x.png", "http://[64:ff9b::a00:1]/x.png"}
	images := ""
	for _, u := range inside {
		images += "<img src='" + u + "'>"
	}
	return []*Fixture{
		{Line: 3, Name: "private-links", Attack: "links to private, metadata and link-local addresses",
			Pages: map[string]Answer{"": links(append(inside, "good")...), "good": good},
			Want:  map[string]string{"good": fetched}, Counts: map[string]int{"scope: another": len(inside)}},
		{Line: 3, Name: "private-redirects", Attack: "redirects to private and metadata addresses",
			Pages: map[string]Answer{"": links("a", "b", "c", "good"), "good": good, "a": redirect(inside[0]),
				"b": redirect("http://[::1]:PORT/x"), "c": redirect("http://localhost:PORT/x")},
			Want: map[string]string{"good": fetched, "a": fetched}, Counts: map[string]int{"scope: another": 3}},
		{Line: 3, Name: "private-requisites", Attack: "pictures at private addresses, with `scope.requisites: any`",
			Requisites: true,
			Pages:      map[string]Answer{"": html("<title>x</title>" + images + "<a href=good>x</a>"), "good": good},
			Want:       map[string]string{"good": fetched}},
	}
}
