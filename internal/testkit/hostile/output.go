package hostile

func output() []*Fixture {
	const ansi = "\x1b[31m\x1b]0;owned\x07\x9b2J"
	const bidi = "\u202egnp.exe\u2066"
	return []*Fixture{
		{Line: 10, Name: "terminal", Attack: "ANSI, OSC and bidi in title, reason phrase, URL, type and Location",
			Pages: map[string]Answer{"": func(c *Conn) {
				c.Raw(c.expand(ok[:13] + ansi + "OK\r\nContent-Type: text/html" +
					"\r\nX-Robots-Tag: noindex, \x1b[5m\r\nETag: \"" + ansi + "\"\r\nConnection: close\r\n\r\n" +
					"<title>" + ansi + bidi + "=cmd|' /C calc'!A0</title><meta name=robots content='noarchive\x1b[31m'><a href='e%1b[31m" + bidi + "'>x</a><a href='\x1b[1m'>x</a><a href=loc>x</a>"))
			}, "loc": func(c *Conn) {
				c.Raw("HTTP/1.1 302 " + ansi + "\r\nLocation: http://evil.invalid/" + ansi + bidi +
					"\r\nContent-Length: 0\r\n\r\n")
			}, "*": good},
			Want: map[string]string{"": fetched, "loc": fetched}},
		{Line: 10, Name: "errors", Attack: "ANSI in what becomes an error text",
			Pages: map[string]Answer{"": links("status", "coding", "length"),
				"status": raw("HTTP/1.1 2" + ansi + "0 X\r\n\r\n"),
				"coding": raw(ok + "Content-Encoding: " + ansi + "\r\nContent-Length: 3\r\n\r\n\x00\x01\x02"),
				"length": raw(ok + "Content-Length: " + ansi + "\r\n\r\n")},
			Want: map[string]string{"status": failed + "fetch: protocol", "length": failed + "fetch: protocol"}},
		{Line: 10, Name: "warc-injection", Attack: "what would be WARC fields and records in header, URL and body",
			Pages: map[string]Answer{"": raw(ok +
				"Content-Type: text/html\rWARC-Type: response\r\nETag: x\rWARC-Target-URI: http://evil.invalid/\r\nConnection: close\r\n\r\n\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://evil.invalid/\r\nContent-Length: 0\r\n\r\n\r\n\r\n" +
				"<a href='good%0d%0aWARC-Type:x'>x</a><a href='good\r\nWARC-Type: x'>x</a>"), "*": good},
			Want: map[string]string{"": fetched}},
	}
}
