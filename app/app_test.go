package app

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// open starts a page over a temporary folder; command answers its commands.
func open(t *testing.T, command func([]string, Hooks) Outcome) (*Server, *httptest.Server) {
	t.Helper()
	folder := t.TempDir()
	site := httptest.NewUnstartedServer(nil)
	s, err := New(Options{Folder: folder, Page: site.Listener.Addr().String(), Files: "127.0.0.1:1", Version: "test",
		Formats: []string{"wacz"}, Command: command, Quote: func(s string) string { return s }})
	if err != nil {
		t.Fatal(err)
	}
	site.Config.Handler = s.Page()
	site.Start()
	t.Cleanup(func() {
		site.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, site
}

// entered returns a client that has logged in through the address with the key.
func entered(t *testing.T, s *Server) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	a, err := c.Get(s.First("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != http.StatusOK || a.Request.URL.RawQuery != "" {
		t.Fatalf("the first address: %d at %s, want the shelf without a key", a.StatusCode, a.Request.URL)
	}
	return c
}

func read(t *testing.T, a *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWhoMayAsk(t *testing.T) {
	s, site := open(t, func([]string, Hooks) Outcome { return Outcome{} })
	in := entered(t, s)
	host := strings.TrimPrefix(site.URL, "http://")
	port := host[strings.LastIndex(host, ":"):]
	for _, c := range []struct {
		says         string
		method, at   string
		host, origin string
		site         string
		stranger     bool // without a cookie
		want         int
	}{
		{says: "a page", at: "/", want: 200},
		{says: "a page by its own name, where the cookie of 127.0.0.1 is not good", at: "/", host: Name + port,
			stranger: true, want: 403},
		{says: "a stranger's name leads here", at: "/", host: "evil.example" + port, want: 421},
		{says: "another port's name", at: "/", host: Name + ":1", want: 421},
		{says: "no cookie", at: "/", stranger: true, want: 403},
		{says: "a wrong key", at: "/?key=WRONG", stranger: true, want: 403},
		{says: "a page of another site reads", at: "/", site: "cross-site", want: 403},
		{says: "a form of ours", method: "POST", at: "/language", origin: site.URL, want: 200},
		{says: "a form of another site", method: "POST", at: "/language", origin: "http://evil.example", want: 403},
		{says: "a form of an opaque origin", method: "POST", at: "/language", origin: "null", want: 403},
		{says: "a form from nowhere", method: "POST", at: "/language", want: 403},
		{says: "a form of a browser that says so without Origin", method: "POST", at: "/language",
			site: "same-origin", want: 200},
		{says: "a form without a cookie", method: "POST", at: "/language", origin: site.URL, stranger: true, want: 403},
		{says: "another method", method: "DELETE", at: "/", origin: site.URL, want: 405},
		{says: "reading changes nothing", at: "/language", want: 404},
		{says: "no archive", at: "/a/none", want: 404},
		{says: "no name of an archive", at: "/a/..%2f..%2fetc", want: 404},
		{says: "style without a cookie", at: "/static/style.css", stranger: true, want: 200},
		{says: "no file of the program", at: "/static/head.html", want: 404},
	} {
		method := c.method
		if method == "" {
			method = http.MethodGet
		}
		r, err := http.NewRequest(method, site.URL+c.at, strings.NewReader("language=en"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		r.Host = c.host
		client := in
		if c.stranger {
			client = http.DefaultClient
		}
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != c.want {
			t.Errorf("%s: answered %d, want %d", c.says, a.StatusCode, c.want)
		}
		if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") ||
			strings.Contains(p, "unsafe") {
			t.Errorf("%s: the policy is %q", c.says, p)
		}
	}
}

func TestNamesOfArchives(t *testing.T) {
	for name, want := range map[string]bool{
		"example.org": true, "127.0.0.1_8080": true, "a-b_c": true, "": false, ".": false, "..": false,
		"../x": false, "a/b": false,
		`a\b`: false, ".hidden": false, "-flag": false, "exports": false, "сайт": false, "a b": false, "end.": false,
		"nul\x00":                false,
		strings.Repeat("a", 101): false,
	} {
		if got := isName(name); got != want {
			t.Errorf("isName(%q) = %v, want %v", name, got, want)
		}
	}
	for address, want := range map[string]string{
		"https://example.org/a": "example.org", "example.org": "example.org-2", "http://[::1]:80/": "1_80",
		"http://bücher.example/": "b_cher.example",
		"://":                    "archive", "http://.../": "archive", "http://exports/": "archive",
	} {
		taken := func(name string) bool { return name == "example.org" && address == "example.org" }
		if got := nameFor(address, taken); got != want || !isName(got) {
			t.Errorf("nameFor(%q) = %q, want %q", address, got, want)
		}
	}
}

// A symbolic link that leads out of the folder is not an archive: it is neither shown nor
// deleted.
func TestALinkOutOfTheFolderIsNoArchive(t *testing.T) {
	s, site := open(t, func([]string, Hooks) Outcome { return Outcome{} })
	in := entered(t, s)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "crawl.db"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(s.o.Folder, "away")); err != nil {
		t.Skip(err)
	}
	a, err := in.Get(site.URL + "/a/away")
	read(t, a, err)
	if a.StatusCode != http.StatusNotFound {
		t.Errorf("answered %d, want 404", a.StatusCode)
	}
	a, err = in.Get(site.URL + "/")
	if strings.Contains(read(t, a, err), "away") {
		t.Error("the shelf shows it")
	}
}

func TestOnlyOnePageOpensAFolder(t *testing.T) {
	s, _ := open(t, nil)
	if _, err := New(s.o); err == nil {
		t.Error("a second page was opened on the folder")
	}
}

// post submits a form with the headers that a browser sends for a page of this origin.
func post(t *testing.T, c *http.Client, at string, form url.Values) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+u.Host)
	a, err := c.Do(r)
	return a, read(t, a, err)
}
