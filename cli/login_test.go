package cli

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// The secrets of the test: none of them may appear in a file or in output.
const (
	apiKey  = "4p1-k3y-0f-anna"
	session = "s3ss10n-0f-anna"
	renewed = "r3n3w3d-by-the-site"
	secret  = "pa55w0rd"
	bearer  = "t0k3n-f0r-r0b0ts"
)

// wiki is a site behind a login. It replaces its cookie in the answer to /renew.
type wiki struct {
	*httptest.Server
	mu       sync.Mutex
	pages    int
	endAfter int    // number of pages until the session ends; 0: it never does
	ending   string // how it ends: login, clear, 401, form
}

func newWiki(t *testing.T) *wiki {
	t.Helper()
	w := &wiki{}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (w *wiki) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rw.Header().Set("Content-Type", "text/html")
	switch {
	case r.URL.Path == "/robots.txt":
		http.NotFound(rw, r)
	case r.URL.Path == "/login":
		io.WriteString(rw, `<form><input type="password" name=p></form>`)
	case !w.knows(r) || w.endAfter > 0 && w.pages >= w.endAfter:
		w.refuse(rw, r)
	default:
		w.pages++
		w.page(rw, r)
	}
}

func (w *wiki) knows(r *http.Request) bool {
	c, _ := r.Cookie("session")
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("anna:"+secret))
	auth := r.Header.Get("Authorization")
	return c != nil && (c.Value == session || c.Value == renewed) || auth == want || auth == "Bearer "+bearer ||
		r.Header.Get("X-Wiki-Key") == apiKey
}

func (w *wiki) refuse(rw http.ResponseWriter, r *http.Request) {
	switch w.ending {
	case "clear":
		http.SetCookie(rw, &http.Cookie{Name: "session", MaxAge: -1})
		io.WriteString(rw, "good bye")
	case "401":
		rw.WriteHeader(http.StatusUnauthorized)
	case "form":
		io.WriteString(rw, `<title>Log in</title><input type="password">`+r.URL.Path)
	default:
		http.Redirect(rw, r, "/login?to="+r.URL.Path, http.StatusFound)
	}
}

func (w *wiki) page(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/renew" {
		http.SetCookie(rw, &http.Cookie{Name: "session", Value: renewed, Path: "/"})
	}
	if r.URL.Path == "/logout" {
		w.endAfter = 1
	}
	fmt.Fprintf(rw, `<title>%s</title><a href="/logout">out</a> <a href="/renew">r</a>`, r.URL.Path)
	if r.URL.Path == "/" {
		for i := range 40 {
			fmt.Fprintf(rw, `<a href="/p%d">p</a>`, i)
		}
	}
}

// crawled runs curtsy in a directory and returns its exit code and output.
func crawled(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Main(args, strings.NewReader(""), &out, &err)
	return code, out.String() + err.String()
}

// leaks lists the files below dir that contain a secret, looking into compressed segments too.
func leaks(t *testing.T, dir string, secrets ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if z, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
			plain, _ := io.ReadAll(z)
			b = append(b, plain...)
		}
		for _, s := range secrets {
			if bytes.Contains(b, []byte(s)) ||
				bytes.Contains(b, []byte(base64.StdEncoding.EncodeToString([]byte("anna:"+s)))) {
				found = append(found, path+" has "+s)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// cookieFile writes a cookies.txt with the session cookie of a site.
func cookieFile(t *testing.T, host string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cookies.txt")
	line := host + "\tFALSE\t/\tTRUE\t0\tsession\t" + session + "\n"
	if err := os.WriteFile(path, []byte("# Netscape HTTP Cookie File\n#HttpOnly_"+line), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func secretFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLogins(t *testing.T) {
	t.Setenv("CURTSY_DELAY", "0s")
	t.Setenv("CURTSY_FETCH_RETRY_BASE", "1ms")
	t.Setenv("CURTSY_POLITENESS_GUESS_SITEMAP", "false") // since requests are counted
	t.Setenv("CURTSY_POLITENESS_USAGE_FILES", "false")
	t.Setenv("WIKI_TOKEN", bearer)
	t.Setenv("NETRC", secretFile(t, "machine 127.0.0.1 login anna password "+secret))
	for name, login := range map[string][]string{
		"cookies": {"--cookies", cookieFile(t, "127.0.0.1")},
		"basic":   {"--basic", secretFile(t, "anna:"+secret)},
		"bearer":  {"--bearer", "env:WIKI_TOKEN"},
		"netrc":   {"--netrc"},
		"header":  {"--header", "x-wiki-key: " + apiKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, dir := newWiki(t), filepath.Join(t.TempDir(), "a")
			code, said := crawled(t, append([]string{"crawl", w.URL + "/", "--archive", dir, "-v"}, login...)...)
			if code != 0 || w.pages != 42 {
				t.Fatalf("exit %d, %d pages\n%s", code, w.pages, said)
			}
			if found := leaks(t, dir, session, renewed, secret, bearer, apiKey); len(found) > 0 {
				t.Errorf("kept: %q", found)
			}
			for _, s := range []string{session, renewed, secret, bearer, apiKey} {
				if strings.Contains(said, s) {
					t.Errorf("said %s:\n%s", s, said)
				}
			}
			if found := leaks(t, dir, "(withheld)"); len(found) == 0 {
				t.Error("no record says that something was withheld")
			}
			// A crawl with a login does not continue without it.
			for _, args := range [][]string{{"resume", dir}, {"update", dir},
				{"crawl", w.URL + "/", "--archive", dir}} {
				if code, said := crawled(t, args...); code != 2 || !strings.Contains(said, "logged in (--"+name) {
					t.Errorf("%q: exit %d, %s", args, code, said)
				}
			}
			if code, said := crawled(t, "resume", dir, "--no-login"); code != 0 {
				t.Errorf("--no-login: exit %d, %s", code, said)
			}
		})
	}
}

func TestALoginThatEnds(t *testing.T) {
	long(t)
	t.Setenv("CURTSY_DELAY", "0s")
	t.Setenv("CURTSY_FETCH_RETRY_BASE", "1ms")
	t.Setenv("CURTSY_POLITENESS_GUESS_SITEMAP", "false") // since requests are counted
	t.Setenv("CURTSY_POLITENESS_USAGE_FILES", "false")
	for _, ending := range []string{"login", "clear", "401", "form"} {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			w, dir := newWiki(t), filepath.Join(t.TempDir(), "a")
			w.endAfter, w.ending = 10, ending
			args := []string{"--cookies", cookieFile(t, "127.0.0.1")}
			code, said := crawled(t, append([]string{"crawl", w.URL + "/", "--archive", dir}, args...)...)
			if code != 3 || !strings.Contains(said, "the login seems to have ended") ||
				!strings.Contains(said, "resume") {
				t.Fatalf("exit %d\n%s", code, said)
			}
			w.mu.Lock()
			w.endAfter = 0
			w.mu.Unlock()
			code, said = crawled(t, append([]string{"resume", dir}, args...)...)
			if code != 0 || !strings.Contains(said, "0 failed") {
				t.Errorf("resumed: exit %d\n%s", code, said)
			}
			if w.pages != 42 {
				t.Errorf("%d pages in all, want 42", w.pages)
			}
		})
	}
}

// A login belongs to one origin: it is sent neither to another host nor to the target of a
// redirect there.
func TestLoginsGoNowhereElse(t *testing.T) {
	t.Setenv("CURTSY_DELAY", "0s")
	t.Setenv("CURTSY_FETCH_RETRY_BASE", "1ms")
	t.Setenv("CURTSY_POLITENESS_GUESS_SITEMAP", "false") // since requests are counted
	t.Setenv("CURTSY_POLITENESS_USAGE_FILES", "false")
	var mu sync.Mutex
	var shown []string
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		shown = append(shown, r.URL.Path+" "+
			r.Header.Get("Cookie")+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		rw.Header().Set("Content-Type", "image/png")
	}))
	defer other.Close()
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(rw, r)
		case "/away.png":
			http.Redirect(rw, r, other.URL+"/redirected.png", http.StatusFound)
		default:
			fmt.Fprintf(rw, `<img src="%s/direct.png"><img src="/away.png">`, other.URL)
		}
	}))
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "a")
	code, said := crawled(t, "crawl", site.URL+"/", "--archive", dir, "--requisites", "any", "--cookies",
		cookieFile(t, "127.0.0.1"), "--basic", secretFile(t, "anna:"+secret), "--header", "X-Api-Key: "+apiKey)
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, said)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(shown) != 3 {
		t.Errorf("asked for %q, want robots.txt and two pictures", shown)
	}
	for _, s := range shown {
		if !strings.HasSuffix(s, " ") {
			t.Errorf("shown to another origin: %q", s)
		}
	}
}

func TestLoginMistakes(t *testing.T) {
	t.Parallel()
	file := secretFile(t, "no colon")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"http://example.org/", "--basic", file}, "over https only"},
		{[]string{"http://127.0.0.1:1/", "--basic", file}, "no colon"},
		{[]string{"http://127.0.0.1:1/", "--basic", "anna:" + secret}, "needs the name of a file"},
		{[]string{"http://127.0.0.1:1/", "--bearer", "env:NOT_SET"}, "is empty"},
		{[]string{"http://127.0.0.1:1/", "--basic", file, "--bearer", file}, "mutually exclusive"},
		{[]string{"http://127.0.0.1:1/", "--cookies", cookieFile(t, "example.org")},
			"has none for 127.0.0.1:1 (1 for other hosts, 0 expired)"},
		{[]string{"http://127.0.0.1:1/", "--cookies", file}, "line 1"},
		{[]string{"http://127.0.0.1:1/", "--header", "Authorization: Basic " + secret}, "--basic FILE"},
		{[]string{"http://example.org/", "--header", "X-Api-Key: " + secret}, "over https only"},
		{[]string{"http://127.0.0.1:1/", "--header", "X-Api-Key=" + secret}, "expected 'Name: value'"},
		{[]string{"http://127.0.0.1:1/", "--ca", file}, "contains no certificate"},
		{[]string{"http://127.0.0.1:1/", "--key", file}, "without --cert"},
	} {
		code, said := crawled(t, append([]string{"crawl", "--archive", filepath.Join(t.TempDir(), "a"), "--contact",
			"a@example.org"}, c.args...)...)
		if code != 2 || !strings.Contains(said, c.want) || strings.Contains(said, secret) {
			t.Errorf("%q: exit %d, %s", c.args, code, said)
		}
	}
}
