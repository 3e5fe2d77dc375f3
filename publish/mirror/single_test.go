package mirror_test

import (
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/publish/mirror"
)

const wholePages = `
-- / --
<!DOCTYPE html><title>start</title><link rel=stylesheet href=/a.css><link rel=manifest href=/app.webmanifest><script src=/run.js></script>
<script type=module src=/mod/main.js></script><img src=/p.png srcset="/p.png 1x, /q.png 2x"><iframe src=/frame></iframe>
<a href=/two#part>two</a> <a href=/q.png>q</a> <a href="#here">here</a> <a href="/">again</a> <a href=/hidden>h</a>
-- /two --
<!DOCTYPE html><meta http-equiv=refresh content="60; url=/"><title>two</title><link rel=stylesheet href=/a.css>
-- /frame --
<!DOCTYPE html><title>frame</title><img src=/p.png><a href=/two>two</a><iframe src=/frame></iframe>
-- /a.css --
HTTP 200
Content-Type: text/css

@import "/b.css"; @font-face { src: url(/f.woff2) } body { background: url("/p.png") }
-- /b.css --
HTTP 200
Content-Type: text/css

@import "/a.css"; h1 { color: red }
-- /f.woff2 --
HTTP 200
Content-Type: font/woff2

wOF2 the font
-- /p.png --
HTTP 200
Content-Type: image/png

PNG one
-- /q.png --
HTTP 200
Content-Type: image/png

PNG two
-- /run.js --
HTTP 200
Content-Type: text/javascript

"classic"
-- /mod/main.js --
HTTP 200
Content-Type: text/javascript

import "./deep.js"; "main"
-- /mod/deep.js --
HTTP 200
Content-Type: text/javascript

"deep"
-- /app.webmanifest --
HTTP 200
Content-Type: application/manifest+json

{"name":"x"}
-- /hidden --
HTTP 200
X-Robots-Tag: noarchive
Content-Type: text/html

<title>hidden</title>SECRET
`

var dataURL = regexp.MustCompile(`data:([a-z/0-9+]+);base64,([A-Za-z0-9+/=]+)`)

// unpacked shows a page with its data: URLs as {type body}, including nested ones.
func unpacked(page string) string {
	return dataURL.ReplaceAllStringFunc(page, func(u string) string {
		m := dataURL.FindStringSubmatch(u)
		body, err := base64.StdEncoding.DecodeString(m[2])
		if err != nil {
			return "BROKEN"
		}
		return "{" + m[1] + " " + unpacked(string(body)) + "}"
	})
}

func TestAPageIsWholeInOneFile(t *testing.T) {
	t.Parallel()
	s := serve(t, wholePages)
	a := crawltest.Open(t, crawl(t, s))
	o := mirror.Options{Seed: weburl.MustParse(s.Origin + "/"), Complete: true}
	body, left, err := mirror.Single(a, o.Seed, t.TempDir()+"/near", o)
	if err != nil || len(left) > 0 {
		t.Fatalf("left out %v, error %v", left, err)
	}
	page := unpacked(string(body))
	for text, want := range map[string]bool{
		"{font/woff2 wOF2 the font": true, "h1 { color: red }": true, "{text/javascript \"classic\"": true,
		`import "{text/javascript "deep"`:                    true,
		"{image/png PNG one\n} 1x, {image/png PNG two\n} 2x": true, "{text/html <!DOCTYPE html>": true,
		`href="#here"`: true, `href="#"`: true,
		`href="` + s.Origin + `/two#part"`: true, `href="` + s.Origin + `/two"`: true, "saved by curtsy: " +
			s.Origin + "/ -->": true,
		"default-src data: blob:": true, "self": false, "BROKEN": false, "SECRET": false, "mirror.invalid": false,
		`rel=manifest href`: false,
	} {
		if strings.Contains(page, text) != want {
			t.Errorf("the page has %q: %v, want %v\n%s", text, !want, want, page)
		}
	}
	for path, why := range map[string]string{"/hidden": "noarchive", "/p.png": "it is image/png",
		"/nowhere": "the archive does not have it"} {
		_, _, err := mirror.Single(a, weburl.MustParse(s.Origin+path), t.TempDir()+"/near", o)
		if !errors.Is(err, mirror.ErrNoPage) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", path, err, why)
		}
	}
}

func TestAMirrorOfWholePages(t *testing.T) {
	t.Parallel()
	s := serve(t, wholePages)
	dir, out := crawl(t, s), t.TempDir()+"/out"
	a := crawltest.Open(t, dir)
	o := mirror.Options{Seed: weburl.MustParse(s.Origin + "/"), Complete: true}
	var before map[string]string
	for range 2 { // the second time it replaces its own file
		r, err := mirror.ExportSingle(t.Context(), a, out, o)
		if r, err = proved(t, out, o, r, err); err != nil || len(r.Problems) > 0 || r.Pages != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		files := tree(t, out)
		var names []string
		for name := range files {
			names = append(names, name)
		}
		slices.Sort(names)
		want := []string{"frame.html", "index.html", mirror.MapFile, mirror.ReportFile, "q.png", "two.html"}
		if !slices.Equal(names, want) {
			t.Errorf("files %q, want %q", names, want)
		}
		if page := unpacked(files["index.html"]); !strings.Contains(page, `href=two.html#part`) &&
			!strings.Contains(page, `href="two.html#part"`) || !strings.Contains(page, "wOF2") {
			t.Errorf("index.html is %s", page)
		}
		if page := files["two.html"]; !strings.Contains(page, "60; url=index.html") {
			t.Errorf("two.html is %s", page)
		}
		if before != nil && before["index.html"] != files["index.html"] {
			t.Error("the second export is another")
		}
		before = files
	}
}
