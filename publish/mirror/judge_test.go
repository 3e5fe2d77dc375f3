package mirror_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/internal/weburl"
	"curtsy/publish/mirror"
	"curtsy/storage"
)

// A page is judged by what a browser shows of each of its forms.
func TestAPageIsJudgedByWhatItShows(t *testing.T) {
	words := strings.Repeat("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon ", 3)
	for _, c := range []struct {
		name         string
		live         mirror.Seen
		disk, served mirror.Seen
		right        string
		lost         bool
		what         string
	}{
		{"alike", mirror.Seen{Text: words, Pictures: 1}, mirror.Seen{Text: words + " 12:30", Pictures: 1},
			mirror.Seen{}, "disk", false, ""},
		{"in another order of blanks", mirror.Seen{Text: words},
			mirror.Seen{Text: strings.ReplaceAll(words, " ", "\n\n ")}, mirror.Seen{}, "disk", false, ""},
		{"emptied", mirror.Seen{Text: words}, mirror.Seen{}, mirror.Seen{Text: words}, "served", true, "disk text"},
		{"a little is missing", mirror.Seen{Text: words + "phi chi"}, mirror.Seen{Text: words},
			mirror.Seen{Text: words + "phi chi"}, "served", false, "disk text"},
		{"a message more", mirror.Seen{Text: words}, mirror.Seen{Text: words + " This page could not be loaded"},
			mirror.Seen{Text: words}, "served", false, "disk text"},
		{"no picture", mirror.Seen{Text: words, Pictures: 2}, mirror.Seen{Text: words, Pictures: 1},
			mirror.Seen{Text: words, Pictures: 1}, "none", false, "disk pictures,served pictures"},
		{"a request that fails", mirror.Seen{Text: words}, mirror.Seen{Text: words,
			Failed: []string{"file:///x/count.js"}}, mirror.Seen{}, "disk", false, "disk request"},
		{"one that fails on the site, too", mirror.Seen{Text: words, Failed: []string{"http://a/count.js"}},
			mirror.Seen{Text: words, Failed: []string{"file:///x/count.js"}}, mirror.Seen{}, "disk", false,
			"archive request"},
	} {
		got := judged(t, func(v mirror.View, plain bool) (*mirror.Seen, *mirror.Seen) {
			switch {
			case strings.HasPrefix(v.URL, "file:"):
				return &c.disk, nil
			case strings.HasPrefix(v.URL, "http://mirror.localhost/"):
				return &c.served, nil
			}
			return &c.live, nil
		}).Judged[0]
		var what []string
		for _, d := range got.Differs {
			what = append(what, d.Form+" "+d.What)
		}
		if got.Right != c.right || got.Lost != c.lost || strings.Join(what, ",") != c.what {
			t.Errorf("%s: got %+v, want %s %v %s", c.name, got, c.right, c.lost, c.what)
		}
	}
}

// If the scripts of a page remove its text even at the site's own URL, it is compared with its
// text without scripts, and its still form is the page as it was fetched.
func TestScriptsThatTakeTheTextAway(t *testing.T) {
	words := strings.Repeat("alpha beta gamma delta epsilon zeta eta theta iota kappa ", 2)
	broken := mirror.Seen{Text: "This page couldn't load", Failed: []string{"http://a/chunk.js"},
		HTML: []byte("couldn't")}
	got := judged(t, func(_ mirror.View, plain bool) (*mirror.Seen, *mirror.Seen) {
		if plain {
			return &mirror.Seen{Text: words}, nil
		}
		return &broken, nil
	})
	if p := got.Judged[0]; p.Right != "none" || !p.Lost || got.None != 1 || !slices.ContainsFunc(p.Differs,
		func(d mirror.Difference) bool { return d.Form == "archive" && d.What == "text" }) {
		t.Errorf("got %+v", p)
	}
}

// A click on a link must lead where it leads on the site.
func TestLinksAreClickedOn(t *testing.T) {
	for _, c := range []struct {
		name, after string
		missing     bool
		right       string
	}{
		{"it does", "the other page", false, "disk"},
		{"a router shows another", "404", false, "none"},
		{"it is not there", "", true, "none"},
	} {
		got := judged(t, func(v mirror.View, _ bool) (*mirror.Seen, *mirror.Seen) {
			base := v.URL[:strings.LastIndexByte(v.URL, '/')+1]
			if strings.HasSuffix(v.URL, "other.html") {
				return &mirror.Seen{Text: "the other page"}, nil
			}
			s := &mirror.Seen{Text: "the home page", Links: []string{"", base + "other.html"}}
			if v.Press == nil {
				return s, nil
			}
			if c.missing {
				s.Links = nil
			}
			if n := v.Press(s); n != 1 {
				return s, nil
			}
			return s, &mirror.Seen{URL: v.URL, Text: c.after}
		})
		home := got.Judged[0]
		if home.Right != c.right || got.Clicks != 1 || (got.Arrive == 1) != (c.right == "disk") {
			t.Errorf("%s: got %+v of %+v", c.name, home, got)
		}
	}
}

// judged checks the mirror of a small site; look stands for the browser and returns what a page
// shows with or without its scripts.
func judged(t *testing.T, look func(v mirror.View, plain bool) (first, after *mirror.Seen)) *mirror.Opened {
	t.Helper()
	s := serve(t, "-- / --\n<a href=other.html>on</a><script></script>\n-- /other.html --\n<p>the other page\n")
	dir := crawl(t, s)
	out := filepath.Join(t.TempDir(), "out")
	if _, err := export(t, s, dir, out); err != nil {
		t.Fatal(err)
	}
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	o, err := mirror.Browse(t.Context(), out, mirror.Options{Seed: weburl.MustParse(s.Origin + "/")},
		mirror.Browsing{Archive: a, Clicks: 1,
			Look: func(_ context.Context, v mirror.View) (*mirror.Seen, *mirror.Seen, error) {
				plain := false
				if a, err := v.Answer(v.URL, true); err == nil {
					plain = a.Header.Get("Content-Security-Policy") == "script-src 'none'"
				} else if !strings.HasPrefix(v.URL, "file:") {
					t.Errorf("%s: %v", v.URL, err)
				}
				first, after := look(v, plain)
				return first, after, nil
			}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}
