// Package sitetest answers: what did the crawler ask a site for, and when? It
// serves a website written down in a txtar file and records every request.
//
// Each file of the archive is one resource, named by its request target,
// query and escapes included: "/dir/", "/q?x=1", "/a%2Fb". Its content is the
// body, unless it begins with a status line:
//
//	-- /old --
//	HTTP 301
//	Location: /new
//
//	-- /new --
//	<!DOCTYPE html><p>{{target}} on {{origin}}
//
// The type comes from the name's extension, HTML where it has none; a header
// "Content-Type: none" sends none. In bodies and headers {{origin}} is the
// site's own "http://host:port", {{host}} its host, {{target}} the request
// target and {{other NAME}} the origin given by Other. An empty body of an
// HTML page is a page that says its target.
//
// Headers that make a body, and are not sent:
//
//	Test-Charset: windows-1251   the text, written in UTF-8, goes out in that charset
//	Test-BOM: yes                with a byte order mark
//	Test-Coding: gzip            compressed, and so labelled: gzip, br, zstd, deflate
//	Test-PNG: 12x3               a picture of that size
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

// Request is one request that reached the site.
type Request struct {
	Method, Target string
	Header         http.Header
	Begin, End     time.Time // of the exchange, at the server
	Status         int
}

// Site is a running website.
type Site struct {
	Origin string // "http://127.0.0.1:port"

	mu       sync.Mutex
	pages    map[string]page
	others   map[string]string
	requests []Request
	server   *http.Server
}

// Parse reads a site. It is not running yet.
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

// Other names the origin of another site, for {{other NAME}}.
func (s *Site) Other(name, origin string) { s.others[name] = origin }

// Set changes one resource of a running site; "" removes it.
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

// Start serves the site on a loopback address, "127.0.0.1:0" for any port.
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

// Requests are those that were answered so far, in their order.
func (s *Site) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Targets are the targets asked for, in order.
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

// fill puts the site's names into a text.
func (s *Site) fill(r *http.Request) func(string) string {
	pairs := []string{"{{origin}}", s.Origin, "{{host}}", strings.TrimPrefix(s.Origin, "http://"),
		"{{target}}", r.RequestURI}
	for name, origin := range s.others {
		pairs = append(pairs, "{{other "+name+"}}", origin)
	}
	return strings.NewReplacer(pairs...).Replace
}
