package hostile

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Conn is a request and its connection. An answer may write anything; the connection is closed
// afterwards unless the response was complete.
type Conn struct {
	Request
	Server  *Server
	Fixture *Fixture
	Dir     string // the fixture's directory
	Conn    interface {
		io.Writer
		Close() error
		SetDeadline(time.Time) error
	}
	keep bool
}

// Raw writes s unchanged.
func (c *Conn) Raw(s string) bool {
	_, err := io.WriteString(c.Conn, s)
	return err == nil
}

// Reply writes a complete, correct response; header lines are separated by "\n".
func (c *Conn) Reply(status int, header, body string) {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d Whatever\r\n", status)
	for line := range strings.SplitSeq(header, "\n") {
		if line != "" {
			b.WriteString(line + "\r\n")
		}
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\nConnection: keep-alive\r\n\r\n", len(body))
	c.keep = c.Raw(b.String()) && c.Raw(body)
}

// HTML writes a page.
func (c *Conn) HTML(format string, args ...any) {
	c.Reply(200, "Content-Type: text/html; charset=utf-8", fmt.Sprintf(format, args...))
}

// Forever writes s repeatedly, with pauses of every, until the client disconnects or the server
// ends.
func (c *Conn) Forever(s string, every time.Duration) {
	for c.Raw(s) {
		if !c.Wait(every) {
			return
		}
	}
}

// Wait waits for d; false if the server ends before.
func (c *Conn) Wait(d time.Duration) bool {
	if d == 0 {
		select {
		case <-c.Server.done:
			return false
		default:
			return true
		}
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.Server.done:
		return false
	case <-t.C:
		return true
	}
}

// host is the server's "host:port".
func (c *Conn) host() string { return strings.TrimPrefix(c.Server.Origin, "http://") }

// port is the server's port.
func (c *Conn) port() string {
	_, port, _ := strings.Cut(c.host(), ":")
	return port
}

// Common answers.

// html is a page, in which DIR, ORIGIN, HOST and PORT are replaced.
func html(body string) Answer { return typed("text/html; charset=utf-8", body) }

// typed is a body with a media type.
func typed(contentType, body string) Answer {
	return func(c *Conn) { c.Reply(200, "Content-Type: "+contentType, c.expand(body)) }
}

// raw is a verbatim response; the connection is closed afterwards.
func raw(response string) Answer { return func(c *Conn) { c.Raw(c.expand(response)) } }

// redirect redirects to location.
func redirect(location string) Answer {
	return func(c *Conn) { c.Reply(302, "Location: "+c.expand(location), "") }
}

// links is a page that links to each reference.
func links(refs ...string) Answer {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><title>links</title>\n")
	for _, r := range refs {
		fmt.Fprintf(&b, "<a href=\"%s\">x</a>\n", strings.ReplaceAll(r, `"`, "&quot;"))
	}
	return html(b.String())
}

func (c *Conn) expand(s string) string {
	if len(s) > 1<<20 {
		return s
	}
	return strings.NewReplacer("DIR", c.Dir, "ORIGIN", c.Server.Origin, "HOST", c.host(), "PORT", c.port()).Replace(s)
}

// good is a page that must be found in spite of the attack.
func good(c *Conn) { c.HTML("<title>good</title>a good page, %s", c.Target) }
