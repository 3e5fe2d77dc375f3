package mirror_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"curtsy/internal/testkit/sitetest"
	"curtsy/publish/mirror"
)

// filesOf returns the files of URLs, by path and query, from the map.
func filesOf(t *testing.T, files map[string]string, origin string) map[string]string {
	t.Helper()
	var m struct {
		Files []struct{ URL, File string }
	}
	if err := json.Unmarshal([]byte(files[mirror.MapFile]), &m); err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, f := range m.Files {
		named[strings.TrimPrefix(f.URL, origin)] = f.File
	}
	return named
}

// Two URLs with the same payload ask for one name: relative references in the document must
// resolve against each URL.
func TestTwinsAreDistinctWhereTheirLinksAre(t *testing.T) {
	t.Parallel()
	page := "<!DOCTYPE html><title>t</title><a href=\"?x=1\">next</a><a href=/index.html>i</a><a href=/d/index.html>d</a><a href=/d/>d</a><img src=/logo><img src=/logo.png>"
	below := "<!DOCTYPE html><title>t</title><a href=\"?x=1\">next</a>"
	png := "\x89PNG\r\n\x1a\nthe logo"
	s := serve(t, "-- / --\n"+page+"\n-- /index.html --\n"+page+
		"\n-- /?x=1 --\nof the root\n-- /index.html?x=1 --\nof index.html\n"+
		"-- /d/ --\n"+below+"\n-- /d/index.html --\n"+below+
		"\n-- /d/?x=1 --\nof d\n-- /d/index.html?x=1 --\nof the index of d\n"+
		"-- /logo --\nHTTP 200\nContent-Type: image/png\n\n"+png+
		"\n-- /logo.png --\nHTTP 200\nContent-Type: image/png\n\n"+png+"\n")
	files := exported(t, s, crawl(t, s))
	named := filesOf(t, files, s.Origin)
	for page, want := range map[string]string{"/": "of the root", "/index.html": "of index.html", "/d/": "of d",
		"/d/index.html": "of the index of d"} {
		_, link, _ := strings.Cut(files[named[page]], `<a href="`)
		link, _, _ = strings.Cut(link, `"`)
		to := filepath.ToSlash(filepath.Join(filepath.Dir(named[page]), strings.ReplaceAll(link, "%40", "@")))
		if got := strings.TrimSpace(files[to]); !strings.HasSuffix(got, ">"+want) {
			t.Errorf("%s is %s; its link ?x=1 leads to %q, which is %q, want %q", page, named[page], to, got, want)
		}
	}
	if named["/logo"] != "logo.png" || named["/logo.png"] != "logo.png" {
		t.Errorf("one picture is %q and %q", named["/logo"], named["/logo.png"])
	}
}

// Two bodies with one SHA-1 that ask for one name become two files.
func TestTwoBodiesWithOneSHA1AreTwoFiles(t *testing.T) {
	t.Parallel()
	one, two := sitetest.Collision()
	s := serve(t, "-- / --\n<!DOCTYPE html><title>t</title><a href=/x>1</a><a href=/x.pdf>2</a>\n"+
		"-- /x --\nHTTP 200\nContent-Type: application/pdf\n\n"+one+
		"\n-- /x.pdf --\nHTTP 200\nContent-Type: application/pdf\n\n"+two+"\n")
	files := exported(t, s, crawl(t, s))
	named := filesOf(t, files, s.Origin)
	if !strings.HasPrefix(files[named["/x"]], one) || !strings.HasPrefix(files[named["/x.pdf"]], two) {
		t.Errorf("/x is %q, /x.pdf is %q", named["/x"], named["/x.pdf"])
	}
}
