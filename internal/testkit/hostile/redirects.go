package hostile

import (
	"fmt"
	"strconv"
	"strings"
)

func redirects() []*Fixture {
	return []*Fixture{
		{Line: 4, Name: "redirect-loop", Attack: "a redirect to itself, and a circle of three",
			Pages: map[string]Answer{"": links("self", "one"), "self": redirect("DIRself"), "one": redirect("DIRtwo"),
				"two": redirect("DIRthree"), "three": redirect("DIRone")},
			Want: map[string]string{"self": failed + "redirect: to itself", "one": failed + "redirect: in a circle",
				"two": failed + "redirect: in a circle", "three": failed + "redirect: in a circle"}, Most: 10},
		{Line: 4, Name: "redirect-chain", Attack: "a redirect to ever new URLs",
			Pages: map[string]Answer{"": links("hop/0"), "hop/*": func(c *Conn) {
				n, _ := strconv.Atoi(strings.TrimPrefix(c.Target, c.Dir+"hop/"))
				c.Reply(301, fmt.Sprintf("Location: %shop/%d", c.Dir, n+1), "")
			}},
			Want: map[string]string{"hop/20": fetched, "hop/21": disregarded + "scope: more than 20 redirects"},
			Most: 30},
		{Line: 4, Name: "redirect-away", Attack: "redirects to another scheme, host and port, with a password",
			Pages: map[string]Answer{"": links("https", "host", "port", "user"), "https": redirect("https://HOST/x"),
				"host": redirect("http://evil.invalid/"), "port": redirect("http://127.0.0.1:1/"),
				"user": redirect("http://u:p@HOSTDIRgood"), "good": good},
			Want:   map[string]string{"https": fetched, "host": fetched, "port": fetched, "good": fetched},
			Counts: map[string]int{"scope: another": 3}},
		{Line: 4, Name: "redirect-denied", Attack: "a redirect to what robots.txt denies",
			Pages: map[string]Answer{"": links("go"), "go": redirect("DIRdenied"), "denied": good},
			Want:  map[string]string{"go": fetched, "denied": disregarded + "robots.txt: line 2"}, Most: 5},
		{Line: 4, Name: "redirect-schemes", Attack: "redirects to file:, javascript:, data: and nowhere",
			Pages: map[string]Answer{"": links("file", "js", "data", "none", "empty"),
				"file": redirect("file:///etc/passwd"), "js": redirect("javascript:alert(1)"),
				"data": redirect("data:,x"),
				"none": func(c *Conn) { c.Reply(302, "", "") }, "empty": redirect("")},
			Want: map[string]string{"file": failed + "http: 302 without a usable Location", "js": failed +
				"http: 302 without", "none": failed + "http: 302 without", "empty": failed + "http: 302 without"}},
		{Line: 4, Name: "redirect-injection", Attack: "a Location with control octets, two Locations, one of 900 KB",
			Pages: map[string]Answer{"": links("bare", "two", "long", "good"), "good": good, "*": good,
				"bare": raw("HTTP/1.1 302 X\r\nLocation: DIRx\rSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"),
				"two":  raw("HTTP/1.1 302 X\r\nLocation: DIRgood\r\nLocation: http://evil.invalid/\r\nContent-Length: 0\r\n\r\n"),
				"long": raw("HTTP/1.1 302 X\r\nLocation: /" + rep("x", 900_000) + "\r\nContent-Length: 0\r\n\r\n")},
			Want: map[string]string{"good": fetched, "long": failed + "http: 302 without"}},
	}
}
