package mirror_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish/mirror"
	"curtsy/storage"
)

// An SVG with an element after its root; a page uses one of its symbols.
func TestExportOfASpriteWithATagBehindItsRoot(t *testing.T) {
	t.Parallel()
	s := serve(t, `
-- / --
<!DOCTYPE html><title>start</title><svg><use href="/s.svg#a"/></svg>
-- /s.svg --
HTTP 200
Content-Type: image/svg+xml

<svg xmlns="http://www.w3.org/2000/svg"><symbol id="a"></symbol></svg><path id="x"/>
`)
	files := exported(t, s, crawl(t, s))
	if got := files["index.html"]; !strings.Contains(got, `<use href="#sprite1-a"/>`) ||
		!strings.Contains(got, `<symbol id="sprite1-a">`) || strings.Contains(got, "sprite1-x") {
		t.Errorf("index.html: %s", got)
	}
}

// The file of the symbol holds a picture, is in another directory and behind a redirect.
func TestExportOfASpriteWithAPicture(t *testing.T) {
	t.Parallel()
	s := serve(t, `
-- / --
<!DOCTYPE html><title>start</title><a href="/deep/page">p</a>
-- /deep/page --
<!DOCTYPE html><title>page</title><svg><use href="/s.svg#a"/></svg>
-- /s.svg --
HTTP 301
Location: /art/sprite.svg

-- /art/sprite.svg --
HTTP 200
Content-Type: image/svg+xml

<svg xmlns="http://www.w3.org/2000/svg"><symbol id="a"><image href="dot.png" width="9" height="9"/></symbol></svg>
-- /art/dot.png --
HTTP 200
Content-Type: image/png

\x89PNG
`)
	files := exported(t, s, crawl(t, s))
	if got := files["deep/page.html"]; !strings.Contains(got, `<use href="#sprite1-a"/>`) ||
		!strings.Contains(got, `<image href="../art/dot.png"`) {
		t.Errorf("deep/page.html: %s", got)
	}
}

// A document that makes the rewriter panic is listed in the report; the others are written as
// usual.
func TestExportGoesOnAfterAPanic(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	a, err := storage.OpenRead(crawl(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	o := mirror.Options{Seed: weburl.MustParse(s.Origin + "/"), Complete: true}
	o.SetRewrite(func(p htmlmeta.Page, r htmlmeta.Rewriting) htmlmeta.Rewritten {
		if p.URL.Path() == "/a" {
			panic("index out of range")
		}
		return htmlmeta.Rewrite(p, r)
	})
	out := filepath.Join(t.TempDir(), "out")
	r, err := mirror.Export(context.Background(), a, out, o)
	r, err = proved(t, out, mirror.Options{}, r, err)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	files := tree(t, out)
	if !strings.Contains(files["index.html"], `<a href="a.html">`) ||
		!strings.Contains(files["a.html"], `<a href="/">home</a>`) {
		t.Errorf("index.html: %s, a.html: %s", files["index.html"], files["a.html"])
	}
	if !incomplete(files, s.Origin+"/a") || !strings.Contains(files[mirror.ReportFile],
		"internal error: index out of range") {
		t.Error("the report does not name /a")
	}
}

// The export of a single page has no report: what cannot be rewritten is an error, whether it
// is the page, one of its style sheets, or the page again when its parts are inlined.
func TestSingleOfWhatPanics(t *testing.T) {
	t.Parallel()
	s := serve(t, wholePages)
	a, err := storage.OpenRead(crawl(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, bad := range []string{"/", "/a.css", "/index.html"} {
		o := mirror.Options{Seed: weburl.MustParse(s.Origin + "/"), Complete: true}
		o.SetRewrite(func(p htmlmeta.Page, r htmlmeta.Rewriting) htmlmeta.Rewritten {
			if p.URL.Path() == bad {
				panic("index out of range")
			}
			return htmlmeta.Rewrite(p, r)
		})
		body, _, err := mirror.Single(a, o.Seed, filepath.Join(t.TempDir(), "near"), o)
		if err == nil || len(body) > 0 || !strings.Contains(err.Error(), "internal error: index out of range") {
			t.Errorf("%s panics: %d octets, %v", bad, len(body), err)
		}
		out := filepath.Join(t.TempDir(), "out")
		if _, err := mirror.ExportSingle(context.Background(), a, out, o); err != nil {
			t.Errorf("%s panics: %v", bad, err)
		} else if files := tree(t, out); !strings.Contains(files[mirror.ReportFile], "internal error") ||
			files["a.css"] == "" && bad == "/index.html" {
			t.Errorf("%s panics: the report does not say so, or what pages are made of is gone", bad)
		}
	}
}
