//go:build unix

package cli

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/app"
)

// appTest is the page of the app command over a folder, running the real commands.
type appTest struct {
	*testing.T
	*http.Client
	folder, at string
}

func newAppTest(t *testing.T) *appTest {
	page := httptest.NewUnstartedServer(nil)
	files := httptest.NewUnstartedServer(nil)
	folder := t.TempDir()
	s, err := app.New(app.Options{Folder: folder, Page: page.Listener.Addr().String(),
		Files:   files.Listener.Addr().String(),
		Formats: []string{"wacz"}, Command: runHosted, Quote: quoted})
	if err != nil {
		t.Fatal(err)
	}
	page.Config.Handler, files.Config.Handler = s.Page(), s.Files()
	page.Start()
	files.Start()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Go(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		page.Close()
		files.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &appTest{T: t, Client: &http.Client{Jar: jar}, folder: folder, at: page.URL}
	a.see(strings.TrimPrefix(s.First("127.0.0.1"), page.URL))
	return a
}

// see returns the text of a page.
func (a *appTest) see(path string) string {
	a.Helper()
	r, err := a.Get(a.at + path)
	return a.body(r, err)
}

func (a *appTest) body(r *http.Response, err error) string {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		a.Fatal(err)
	}
	return string(b)
}

// send submits a form and returns the address and text of the page that it leads to.
func (a *appTest) send(path string, form url.Values) (at, text string) {
	a.Helper()
	r, err := http.NewRequest(http.MethodPost, a.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		a.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", a.at)
	answer, err := a.Do(r)
	text = a.body(answer, err)
	return answer.Request.URL.Path, text
}

// until waits until a page says something.
func (a *appTest) until(path, want string) string {
	a.Helper()
	for range 600 {
		if text := a.see(path); strings.Contains(text, want) {
			return text
		}
		time.Sleep(20 * time.Millisecond)
	}
	a.Fatalf("%s does not come to say %q:\n%s", path, want, a.see(path))
	return ""
}

func TestThePageArchivesASite(t *testing.T) {
	word := "elephants"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "User-agent: *\nDisallow: /closed/\n")
		case "/":
			fmt.Fprintf(w, "<link rel=icon href=/i.png><title>A \"site\" <script>alert(1)</script></title><a href=/b>b</a> <a href=/closed/x>x</a> <a href=/none>n</a><p>It is about %s.", word)
		case "/i.png":
			w.Header().Set("Content-Type", "image/png")
			_ = png.Encode(w, &image.Paletted{Pix: make([]uint8, 64), Stride: 8, Rect: image.Rect(0, 0, 8, 8),
				Palette: color.Palette{color.NRGBA{R: 255, A: 255}}})
		case "/b":
			fmt.Fprint(w, "<title>B</title><p>Something else.")
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	a := newAppTest(t)
	at, _ := a.send("/look", url.Values{"url": {site.URL}})
	text := a.until(at, "What its owner says")
	for _, want := range []string{"<code>/closed/</code>", "A &#34;site&#34; &lt;script&gt;",
		"curtsy crawl " + site.URL} {
		if !strings.Contains(text, want) {
			t.Errorf("the look does not say %q:\n%s", want, text)
		}
	}
	if _, text = a.send(at, url.Values{"name": {"../x"}}); !strings.Contains(text, "A name has letters") {
		t.Errorf("a bad name: %s", text)
	}
	if _, text = a.send(at, url.Values{"name": {"site"}, "include": {"("}}); !strings.Contains(text, "scope.include") ||
		!strings.Contains(text, `value="("`) {
		t.Errorf("a bad pattern: %s", text)
	}
	if at, text = a.send(at, url.Values{"name": {"site"}, "delay": {"1ms"}, "make": {"wacz"}}); at != "/a/site" {
		t.Fatalf("the crawl did not start: at %s:\n%s", at, text)
	}
	a.until("/a/site", ">site.wacz</a>")
	if text = a.see("/"); !strings.Contains(text, "Pages: 2") || !strings.Contains(text, "finished") ||
		strings.Contains(text, "<script>alert") {
		t.Errorf("the shelf: %s", text)
	}
	picture, err := png.Decode(strings.NewReader(a.see("/a/site/picture")))
	if err != nil || picture.Bounds().Dx() != 48 ||
		color.NRGBAModel.Convert(picture.At(24, 24)) != (color.NRGBA{R: 255, A: 255}) {
		t.Errorf("the picture of the site: %v, %v in its middle, want its icon", err, picture.At(24, 24))
	}
	for path, want := range map[string]string{
		"/search?q=elephant":                     "A &#34;site&#34;",
		"/search?q=--limit%3D0":                  "Pages found: 0",
		"/a/site/skipped?rule=robots.txt":        "/closed/x</a>",
		"/a/site/explain?url=" + "%2Fclosed%2Fx": "line 2",
		"/a/site/broken":                         "/none</span>",
		"/a/site/audit":                          "title",
		"/a/site/delete":                         "Type the name",
	} {
		if text = a.see(path); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", path, want, text)
		}
	}
	text = a.see("/a/site")
	_, rest, _ := strings.Cut(text, `<a href="http://127.0.0.1:`)
	link, _, _ := strings.Cut(rest, `"`)
	r, err := a.Get("http://127.0.0.1:" + link)
	if zip := a.body(r, err); !strings.HasPrefix(zip, "PK") ||
		r.Header.Get("Content-Disposition") != `attachment; filename="site.wacz"` {
		t.Errorf("the file that was made: %q, %s", r.Header, link)
	}
	r, err = a.Get("http://127.0.0.1:" + strings.Replace(link, "site.wacz", "..%2fsite%2fcrawl.db", 1))
	if a.body(r, err); r.StatusCode != http.StatusNotFound {
		t.Errorf("a file out of exports: %d", r.StatusCode)
	}
	word = "camels"
	a.send("/a/site/update", nil)
	a.until("/a/site", "The round has ended")
	if text = a.see("/a/site/changes"); !strings.Contains(text, "camels") {
		t.Errorf("the change is not told: %s", text)
	}
	if text = a.see("/a/site/browse"); !strings.Contains(text, site.URL) || strings.Contains(text, "curtsy app") {
		t.Errorf("serve: %s", text)
	}
	for tag, want := range map[string]string{"bg-BG": "Отвори началната страница", "ru": "Открыть начальную страницу",
		"de": "Open the start page"} {
		q, err := http.NewRequest(http.MethodGet, a.at+"/a/site/browse", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Accept-Language", tag)
		r, err = a.Do(q)
		if text = a.body(r, err); !strings.Contains(text, want) {
			t.Errorf("serve in %s does not say %q:\n%s", tag, want, text)
		}
	}
	a.send("/a/site/verify", nil)
	a.until("/a/site", "0 problems")
	a.send("/a/site/delete", url.Values{"name": {"site"}})
	if _, err := os.Stat(filepath.Join(a.folder, "site")); err == nil {
		t.Error("it is still there")
	}
}

// The list of archives opens them read-only, and is fast with many.
func TestAShelfOfFifty(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>Page %s</title><a href=/b>b</a>", r.URL.Path)
	}))
	defer site.Close()
	a := newAppTest(t)
	first := filepath.Join(a.folder, "n0")
	curtsy(t, "crawl", site.URL, "--archive", first, "--delay", "0", "--no-report").run(t, exitDone)
	for n := 1; n < 50; n++ {
		if err := os.CopyFS(filepath.Join(a.folder, fmt.Sprintf("n%d", n)), os.DirFS(first)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(a.folder, "n7", "crawl.db"), []byte("no longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		var b strings.Builder
		err := filepath.Walk(a.folder, func(path string, st os.FileInfo, err error) error {
			if err == nil && !st.IsDir() {
				fmt.Fprintln(&b, path, st.ModTime(), st.Size())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before, began := state(), time.Now()
	text := a.see("/")
	t.Logf("first page of 50 archives: %s; the second: %s", time.Since(began),
		func() time.Duration { began = time.Now(); a.see("/"); return time.Since(began) }())
	if n := strings.Count(text, `<li class="card">`); n != 50 || strings.Count(text, "Page /") != 49 ||
		strings.Count(text, ">damaged<") != 1 {
		t.Errorf("%d archives, %d titles, %d damaged:\n%s", n, strings.Count(text, "Page /"),
			strings.Count(text, ">damaged<"), text)
	}
	if after := state(); after != before {
		t.Errorf("reading changed something:\n%s\nbefore:\n%s", after, before)
	}
	if text := a.see("/a/n7"); !strings.Contains(text, `action="/a/n7/repair"`) {
		t.Errorf("no way to repair what is damaged: %s", text)
	}
	a.send("/a/n7/repair", nil)
	a.until("/a/n7", "The repair has ended")
	if text := a.see("/?filter=n7"); strings.Contains(text, ">damaged<") || !strings.Contains(text, "1 of 50") {
		t.Errorf("after the repair: %s", text)
	}
}
