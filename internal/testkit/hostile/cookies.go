package hostile

import (
	"fmt"
	"strings"
)

func cookies() []*Fixture {
	set := func(lines ...string) Answer {
		return func(c *Conn) {
			b := "Content-Type: text/html"
			for _, l := range lines {
				b += "\nSet-Cookie: " + l
			}
			c.Reply(200, b, "<title>c</title><a href=good>x</a>")
		}
	}
	return []*Fixture{
		{Line: 9, Name: "cookies-off", Attack: "cookies, with cookies off (the default)",
			Pages: map[string]Answer{"": set("a=b", "c=d; Path=/"), "good": good},
			Want:  map[string]string{"good": fetched}},
		{Line: 9, Name: "super-cookies", Attack: "cookies for com, for another host, with a trailing dot, for an IP's end, with controls", Cookies: true,
			Pages: map[string]Answer{"": set("a=b; Domain=com", "c=d; Domain=evil.invalid", "e=f; Domain=127.0.0.1.",
				"g=h; Domain=.0.0.1", "i=j; Domain=0.1", "k=\x01l", "=m", "n"), "good": func(c *Conn) {
				for _, bad := range []string{"a=b", "c=d", "g=h", "i=j"} {
					if strings.Contains(c.Field("Cookie"), bad) {
						c.Reply(500, "", "a cookie that is not mine: "+c.Field("Cookie"))
						return
					}
				}
				good(c)
			}}, Want: map[string]string{"good": fetched}},
		{Line: 9, Name: "cookie-flood", Attack: "9,000 cookies of 100 bytes; what comes back must stay small",
			Cookies: true,
			Pages: map[string]Answer{"": func(c *Conn) {
				var b strings.Builder
				b.WriteString("Content-Type: text/html")
				for i := range 9000 {
					fmt.Fprintf(&b, "\nSet-Cookie: c%d=%s", i, rep("x", 80))
				}
				c.Reply(200, b.String(), "<title>c</title><a href=good>x</a>")
			}, "good": good}, Want: map[string]string{"good": fetched}},
	}
}
