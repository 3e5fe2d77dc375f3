package cli

import (
	"regexp"
	"testing"

	"curtsy/internal/near"
)

func TestNearestIsWhatWasMeant(t *testing.T) {
	names := []string{"crawl", "resume", "status", "explain", "verify", "mirror", "list", "links", "demo", "max-pages"}
	for _, c := range []struct{ word, want string }{
		{"crwal", "crawl"}, {"crwl", "crawl"}, {"Crawl", "crawl"}, {"stauts", "status"}, {"lst", "list"},
		{"link", "links"},
		{"exp", "explain"}, {"max-page", "max-pages"}, {"maxpages", "max-pages"}, {"frobnicate", ""},
		{"x", ""}, {"", ""},
	} {
		if got := near.Name(c.word, names); got != c.want {
			t.Errorf("near.Name(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestAGlobBecomesTheExpressionThatMeansTheSame(t *testing.T) {
	for _, c := range []struct{ glob, yes, no string }{
		{"*.html", "http://h/a/b.html", "http://h/a.html?x"},
		{"**/docs/*", "http://h/docs/x", "http://h/doc/"},
		{"*/img?.png", "http://h/img1.png", "http://h/img.png"},
	} {
		re := regexp.MustCompile(globExpression(c.glob))
		if !re.MatchString(c.yes) || re.MatchString(c.no) {
			t.Errorf("%s became %s", c.glob, re)
		}
	}
}
