package sitetest

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestSite(t *testing.T) {
	s, err := Parse([]byte(`
-- / --
<a href="{{origin}}/x">{{target}}</a>
-- /auto?q=1 --
-- /moved --
HTTP 301
Location: {{origin}}/

-- /coded --
HTTP 200
Content-Type: none
Test-Charset: windows-1251
Test-Coding: gzip

да
-- /p.png --
HTTP 200
Test-PNG: 3x2

`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct {
		target string
		status int
		body   string
		typ    string
	}{
		{"/", 200, `<a href="` + s.Origin + `/x">/</a>`, "text/html"},
		{"/auto?q=1", 200, "<p id=me>/auto?q=1</p>", "text/html"},
		{"/auto", 404, "not here", "text/html"},
		{"/moved", 301, "", "text/html"},
		{"/coded", 200, "\xe4\xe0", ""},
		{"/p.png", 200, "\x89PNG", "image/png"},
	} {
		resp, err := client.Get(s.Origin + c.target)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body) // the client decodes gzip
		resp.Body.Close()
		if resp.StatusCode != c.status || !strings.Contains(string(body), c.body) ||
			resp.Header.Get("Content-Type") != c.typ {
			t.Errorf("%s: %d %q %q, want %d %q %q", c.target, resp.StatusCode, resp.Header.Get("Content-Type"), body,
				c.status, c.typ, c.body)
		}
	}
	if want := []string{"/", "/auto?q=1", "/auto", "/moved", "/coded", "/p.png"}; !slices.Equal(s.Targets(), want) {
		t.Errorf("requests %v, want %v", s.Targets(), want)
	}
	if r := s.Requests()[0]; r.Begin.IsZero() || r.End.Before(r.Begin) || r.Status != 200 {
		t.Errorf("first request: %+v", r)
	}
}
