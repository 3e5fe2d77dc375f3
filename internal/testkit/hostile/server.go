package hostile

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server serves fixtures on loopback, on raw sockets, since net/http cannot produce most of the
// attacks.
//
// "/" links to every fixture and at the end to "/last", a good page. Between fixtures there is
// another good page, so that failures of a fixture are not attributed to the whole host.
type Server struct {
	Origin   string
	fixtures []*Fixture
	listener net.Listener
	done     chan struct{}
	all      sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]bool
	requests map[string]int // by target
	improper []string       // requests that sent what they must not
	total    int
}

// Start serves fixtures on the given loopback address.
func Start(address string, fixtures ...*Fixture) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{Origin: "http://" + l.Addr().String(), fixtures: fixtures, listener: l,
		done: make(chan struct{}), conns: map[net.Conn]bool{}, requests: map[string]int{}}
	s.all.Go(s.accept)
	return s, nil
}

// Close closes the server and all connections, and waits for its goroutines.
func (s *Server) Close() {
	close(s.done)
	s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
}

// Requests returns the number of requests by target.
func (s *Server) Requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := make(map[string]int, len(s.requests))
	for k, v := range s.requests {
		m[k] = v
	}
	return m
}

// Improper lists requests that sent credentials, a referrer or a body, or requested a page of
// another host.
func (s *Server) Improper() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.improper)
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.all.Go(func() { s.serve(c) })
	}
}

// serve answers the requests of a connection until an answer closes it.
func (s *Server) serve(c net.Conn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	in := bufio.NewReader(c)
	for {
		c.SetDeadline(time.Now().Add(30 * time.Second))
		r, err := readRequest(in)
		if err != nil {
			return
		}
		conn := &Conn{Conn: c, Request: *r, Server: s}
		s.note(conn)
		s.answer(conn)
		if !conn.keep {
			return
		}
	}
}

// Request is a request as received.
type Request struct {
	Method, Target, Host string
	Header               []string // lines
}

func readRequest(in *bufio.Reader) (*Request, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	r := &Request{}
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return nil, fmt.Errorf("no request line: %q", line)
	}
	r.Method, r.Target = fields[0], fields[1]
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			return r, nil
		}
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Host") {
			r.Host = strings.TrimSpace(value)
		}
		if len(r.Header) < 1000 {
			r.Header = append(r.Header, line)
		}
	}
}

// Field returns the value of a header field.
func (r *Request) Field(name string) string {
	for _, line := range r.Header {
		if n, v, _ := strings.Cut(line, ":"); strings.EqualFold(n, name) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// note counts a request, and records what it must not have sent.
func (s *Server) note(c *Conn) {
	f, _ := s.fixtureOf(c.Target)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	if len(s.requests) < 100_000 {
		s.requests[c.Target]++
	}
	bad := func(format string, args ...any) {
		if len(s.improper) < 100 {
			s.improper = append(s.improper, fmt.Sprintf("%.200s: %s", c.Target, fmt.Sprintf(format, args...)))
		}
	}
	if c.Method != "GET" {
		bad("method %s", c.Method)
	}
	if c.Host != strings.TrimPrefix(s.Origin, "http://") {
		bad("Host: %.200s", c.Host)
	}
	for _, name := range []string{"Authorization", "Referer", "Proxy-Authorization", "Content-Length",
		"Transfer-Encoding"} {
		if v := c.Field(name); v != "" {
			bad("%s: %.100s", name, v)
		}
	}
	if cookie := c.Field("Cookie"); cookie != "" && (f == nil || !f.Cookies) {
		bad("Cookie: %.100s", cookie)
	}
	if size := len(strings.Join(c.Header, "\r\n")); size > 32<<10 {
		bad("%d bytes of header", size)
	}
}

// fixtureOf returns the fixture for a target, and the rest of the target.
func (s *Server) fixtureOf(target string) (*Fixture, string) {
	for _, f := range s.fixtures {
		if rest, ok := strings.CutPrefix(target, f.Dir()); ok {
			return f, rest
		}
	}
	return nil, ""
}

func (s *Server) answer(c *Conn) {
	switch {
	case c.Target == "/robots.txt":
		s.robots(c)
	case c.Target == "/":
		s.index(c)
	case c.Target == "/last", strings.HasPrefix(c.Target, "/good/"):
		c.HTML("<title>good</title>a good page, %s", c.Target)
	default:
		f, rest := s.fixtureOf(c.Target)
		if f == nil {
			c.Reply(404, "", "<title>not found</title>")
			return
		}
		c.Fixture, c.Dir = f, f.Dir()
		f.answer(rest)(c)
	}
}

// answer returns the answer for a target below the fixture's directory.
func (f *Fixture) answer(rest string) Answer {
	if a, ok := f.Pages[rest]; ok {
		return a
	}
	best, answer := -1, Answer(func(c *Conn) { c.Reply(404, "", "<title>not found</title>") })
	for name, a := range f.Pages {
		if prefix, ok := strings.CutSuffix(name, "*"); ok && len(prefix) > best && strings.HasPrefix(rest, prefix) {
			best, answer = len(prefix), a
		}
	}
	return answer
}

func (s *Server) robots(c *Conn) {
	var b strings.Builder
	b.WriteString("User-agent: *\nDisallow: /*/denied\n")
	for _, f := range s.fixtures {
		if f.Robots != nil {
			c.Fixture, c.Dir = f, f.Dir()
			f.Robots(c)
			return
		}
		for _, target := range f.Sitemaps {
			fmt.Fprintf(&b, "Sitemap: %s%s%s\n", s.Origin, f.Dir(), target)
		}
	}
	c.Reply(200, "Content-Type: text/plain", b.String())
}

func (s *Server) index(c *Conn) {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><title>hostile</title>\n")
	for i, f := range s.fixtures {
		fmt.Fprintf(&b, "<a href=%q>%s</a> <a href=\"/good/%c%c\">a good one</a>\n", f.Dir(), f.Name,
			'a'+i/26, 'a'+i%26)
	}
	b.WriteString("<a href=\"/last\">last</a>\n")
	c.HTML("%s", b.String())
}
