package hostile

import (
	"fmt"
	"time"
)

const ok = "HTTP/1.1 200 OK\r\n"

func responses() []*Fixture {
	one := func(name, attack, response, want string) *Fixture {
		return &Fixture{Line: 5, Name: name, Attack: attack, Pages: map[string]Answer{"": raw(response)},
			Want: map[string]string{"": want}}
	}
	with := func(name, attack string, a Answer, want string) *Fixture {
		return &Fixture{Line: 5, Name: name, Attack: attack, Pages: map[string]Answer{"": a},
			Want: map[string]string{"": want}}
	}
	const cut = failed + "fetch: cut off by the server"
	slow := 50 * time.Millisecond
	return []*Fixture{
		with("million-fields", "a million header lines", func(c *Conn) {
			c.Raw(ok)
			for range 1000 {
				if !c.Raw(rep("a: b\r\n", 1000)) {
					return
				}
			}
			c.Raw("\r\n")
		}, failed+"fetch: too-large-head"),
		one("20000-fields", "20,000 header lines", ok+rep("a: b\r\n", 20_000)+"\r\n", failed+"fetch: too-large-head"),
		one("megabyte-field", "a header line of 2 MB", ok+"A: "+rep("x", 2<<20), failed+"fetch: too-large-head"),
		one("folded", "folded and nameless header lines",
			ok+"Content-Type: text/html;\r\n charset=utf-8\r\n: x\r\nno colon\r\nContent-Length: 1\r\n\r\nx", fetched),
		one("nul", "NUL and control octets in the header",
			ok+"X: a\x00b\x01\r\nContent-Type: text/\x00html\r\nContent-Length: 1\r\n\r\nx", fetched),
		one("two-lengths", "two different Content-Lengths", ok+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
			failed+"fetch: protocol"),
		one("negative-length", "a Content-Length below zero", ok+"Content-Length: -1\r\n\r\n",
			failed+"fetch: protocol"),
		one("huge-length", "a Content-Length of 2^62 and five bytes",
			ok+"Content-Length: 4611686018427387904\r\n\r\nhello", cut),
		one("smuggling", "Content-Length with chunks, and a second response behind",
			ok+"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"+ok+"\r\nevil", fetched),
		one("bad-chunks", "a chunk size that is no number", ok+"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n",
			cut),
		one("cut-chunk", "a chunk that is cut", ok+"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", cut),
		one("huge-chunk", "a chunk of 2^64 bytes", ok+"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\nx\r\n",
			cut),
		with("endless-chunk-extension", "a chunk extension that never ends", func(c *Conn) {
			c.Raw(ok + "Transfer-Encoding: chunked\r\n\r\n1;")
			c.Forever(rep("x", 1000), 0)
		}, cut),
		with("endless-trailer", "trailers that never end", func(c *Conn) {
			c.Raw(ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n")
			c.Forever("a: b\r\n", 0)
		}, cut),
		with("tiny-chunks", "300,000 chunks of one byte", func(c *Conn) {
			c.Raw(ok + "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
			for range 300 {
				if !c.Raw(rep("1;"+rep("e", 20)+"\r\nx\r\n", 1000)) {
					return
				}
			}
			c.Raw("0\r\n\r\n")
		}, fetched),
		one("nothing", "0 bytes", "", failed+"fetch: disconnect"),
		one("half-a-head", "a head that is cut", ok+"Content-Le", failed+"fetch: disconnect"),
		one("short-body", "a body shorter than it says", ok+"Content-Length: 100\r\n\r\nhello", cut),
		one("long-body", "a body longer than it says",
			ok+"Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello, and more", fetched),
		slowly(with("silence", "accepts and says nothing", func(c *Conn) { c.Wait(20 * time.Second) },
			failed+"fetch: timeout")),
		slowly(with("slow-head", "a head, one byte at a time",
			func(c *Conn) { c.Raw(ok + "X: "); c.Forever("x", slow) }, failed+"fetch: timeout")),
		slowly(with("slow-body", "a body, one byte at a time", func(c *Conn) {
			c.Raw(ok + "Content-Type: text/html\r\nContent-Length: 1000000\r\n\r\n<a href=never>")
			c.Forever("x", slow)
		}, failed+"fetch: timed out before the end of the body")),
		slowly(with("stalled-body", "a body that stops", func(c *Conn) {
			c.Raw(ok + "Content-Type: text/html\r\nContent-Length: 1000000\r\n\r\nhello")
			c.Wait(20 * time.Second)
		}, failed+"fetch: timed out before the end of the body")),
		{Line: 5, Name: "endless-body", Attack: "a body that never ends, as fast as it can", Heavy: true,
			Pages: map[string]Answer{"": func(c *Conn) {
				c.Raw(ok + "Content-Type: text/html\r\n\r\n")
				c.Forever(rep("x<b>", 16<<10), 0)
			}}, Want: map[string]string{"": fetched}},
		with("interim-flood", "1xx responses without end",
			func(c *Conn) { c.Forever("HTTP/1.1 100 Continue\r\n\r\n", 0) }, failed+"fetch: protocol"),
		one("early-hints", "a 103 before the response", "HTTP/1.1 103 Early Hints\r\nLink: </evil>\r\n\r\n"+ok+
			"Content-Length: 1\r\n\r\nx", fetched),
		one("switching", "101 without being asked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
			failed+"fetch: protocol"),
		one("no-content", "204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", fetched),
		one("garbage", "garbage before the status line", "\x00\xffgarbage\r\n"+ok+"\r\n", failed+"fetch: protocol"),
		one("http09", "no head at all", "<html>hello</html>", failed+"fetch: protocol"),
		one("status-000", "a status of 000", "HTTP/1.1 000 ?\r\n\r\n", failed+"fetch: protocol"),
		one("status-999", "a status of 999", "HTTP/1.1 999 Request Denied\r\nContent-Length: 0\r\n\r\n",
			failed+"http: 999"),
		{Line: 5, Name: "retry-after", Attack: "Retry-After: negative, past, garbage, on 404s",
			Pages: map[string]Answer{"": links("a", "b", "c", "good"), "good": good,
				"a": func(c *Conn) { c.Reply(404, "Retry-After: -5", "") },
				"b": func(c *Conn) { c.Reply(404, "Retry-After: Mon, 01 Jan 1990 00:00:00 GMT", "") },
				"c": func(c *Conn) { c.Reply(404, "Retry-After: "+rep("soon", 1000), "") }},
			Want: map[string]string{"good": fetched, "a": failed + "http: 404"}},
		{Line: 5, Name: "retry-after-huge", Attack: "429 with a Retry-After of 10^18 seconds; bounded by politeness.max_retry_after", Pages: map[string]Answer{"": links("busy", "good"), "good": good,
			"busy": func(c *Conn) { c.Reply(429, fmt.Sprintf("Retry-After: %d", int64(1e18)), "busy") }},
			Want: map[string]string{"good": fetched, "busy": failed + "http: 429"}},
		with("reused-poison", "a second, unasked response on the kept connection", func(c *Conn) {
			c.Raw(ok + "Content-Type: text/html\r\nContent-Length: 2\r\n\r\nhi" + ok + "Content-Length: 4\r\n\r\nevil")
			c.Wait(200 * time.Millisecond)
		}, fetched),
	}
}
