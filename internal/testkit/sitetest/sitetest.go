// Package sitetest serves a website described in a txtar file and records every request.
//
// Each file of the archive is a resource, named by its request target, including query and
// escapes: "/dir/", "/q?x=1", "/a%2Fb". Its content is the body, unless it begins with a status
// line:
//
//	-- /old --
//	HTTP 301
//	Location: /new
//
//	-- /new --
//	<!DOCTYPE html><p>{{target}} on {{origin}}
//
// The media type follows from the extension; without one it is HTML. The header "Content-Type:
// none" sends none. In bodies and headers {{origin}} is the site's "http://host:port", {{host}}
// its host, {{target}} the request target and {{other NAME}} the origin given to Other. An HTML
// page with an empty body shows its target.
//
// These headers modify the body and are not sent:
//
//	Test-Charset: windows-1251   send the UTF-8 text in that charset
//	Test-BOM: yes                with a byte order mark
//	Test-Coding: gzip            with this Content-Encoding: gzip, br, zstd, deflate
//	Test-PNG: 12x3               an image of that size
//	Test-Base64: yes             the body is base64
package sitetest

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"
)

// Request is a request received by the site.
type Request struct {
	Method, Target string
	Header         http.Header
	Begin, End     time.Time // of the exchange, at the server
	Status         int
}

// Site is a website for tests.
type Site struct {
	Origin string // "http://127.0.0.1:port"

	mu       sync.Mutex
	pages    map[string]page
	others   map[string]string
	requests []Request
	server   *http.Server
}

// Parse parses a site. Start starts it.
func Parse(text []byte) (*Site, error) {
	s := &Site{pages: map[string]page{}, others: map[string]string{}}
	for _, f := range txtar.Parse(text).Files {
		p, err := parsePage(f.Name, string(f.Data))
		if err != nil {
			return nil, err
		}
		s.pages[f.Name] = p
	}
	return s, nil
}

// Other sets the origin of another site for {{other NAME}}.
func (s *Site) Other(name, origin string) { s.others[name] = origin }

// Set changes a resource of a running site; "" removes it.
func (s *Site) Set(target, content string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if content == "" {
		delete(s.pages, target)
		return nil
	}
	p, err := parsePage(target, content)
	s.pages[target] = p
	return err
}

// Start serves the site on a loopback address; use "127.0.0.1:0" for any port.
func (s *Site) Start(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s.Origin = "http://" + l.Addr().String()
	s.server = &http.Server{Handler: s}
	go s.server.Serve(l)
	return nil
}

// Close stops the site.
func (s *Site) Close() error { return s.server.Close() }

// Requests returns the requests answered so far, in order.
func (s *Site) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Targets returns the requested targets, in order.
func (s *Site) Targets() []string {
	var list []string
	for _, r := range s.Requests() {
		list = append(list, r.Target)
	}
	return list
}

// ServeHTTP answers a request and records it.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	s.mu.Lock()
	p, ok := s.pages[r.RequestURI]
	s.mu.Unlock()
	if !ok {
		p = page{status: http.StatusNotFound, header: http.Header{"Content-Type": {"text/html"}},
			body: "<!DOCTYPE html><title>404</title>not here"}
	}
	status := p.write(w, r, s.fill(r))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{r.Method, r.RequestURI, r.Header.Clone(), begin, time.Now(), status})
}

// fill returns a function that replaces the placeholders in a text.
func (s *Site) fill(r *http.Request) func(string) string {
	pairs := []string{"{{origin}}", s.Origin, "{{host}}", strings.TrimPrefix(s.Origin, "http://"),
		"{{target}}", r.RequestURI}
	for name, origin := range s.others {
		pairs = append(pairs, "{{other "+name+"}}", origin)
	}
	return strings.NewReplacer(pairs...).Replace
}
