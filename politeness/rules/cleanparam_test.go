package rules

import (
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

// TestSeed004CleanParam: every Clean-param example of the document.
func TestSeed004CleanParam(t *testing.T) {
	for _, c := range []struct{ line, url, want string }{
		{"ref /some_dir/get_book.pl", "www.example.com/some_dir/get_book.pl?ref=site_1&book_id=123", "www.example.com/some_dir/get_book.pl?book_id=123"},
		{"ref /some_dir/get_book.pl", "www.example.com/some_dir/get_book.pl?ref=site_3&book_id=123", "www.example.com/some_dir/get_book.pl?book_id=123"},
		{"s /forum/showthread.php", "www.example1.com/forum/showthread.php?s=681498b9648949605&t=8243", "www.example1.com/forum/showthread.php?t=8243"},
		{"s /forum/showthread.php", "www.example1.com/forum/other.php?s=1", "www.example1.com/forum/other.php?s=1"},
		{"abc /forum/showthread.php", "h/forum/showthread.php?abc=1&ABC=2", "h/forum/showthread.php?ABC=2"},
		{"sid&sort /forum/*.php", "h/forum/a/b.php?sid=1&x=2&sort=3", "h/forum/a/b.php?x=2"},
		{"someTrash&otherTrash", "h/any?otherTrash&someTrash=1", "h/any"},
		{"sid /index.php", "www.example2.com/index.php?page=1&sort=3a&sid=2564126ebdec301c607e5df", "www.example2.com/index.php?page=1&sort=3a"},
		{"s&ref /forum*/showthread.php", "www.example1.com/forum_old/showthread.php?s=681498605&t=8243&ref=1311", "www.example1.com/forum_old/showthread.php?t=8243"},
		{"s&ref /forum*/showthread.php", "www.example1.com/forum_new/showthread.php?s=1e71c417a&t=8243&ref=9896", "www.example1.com/forum_new/showthread.php?t=8243"},
		{"s /forum/index.php", "www.example1.com/forum/index.php?s=1e71c4427317a117a&t=8243", "www.example1.com/forum/index.php?t=8243"},
		// ours
		{"a", "h/?a", "h/"},
		{"a", "h/?b=a&xa=1&a=2&a=3", "h/?b=a&xa=1"},
		{"a", "h/?x&&a=1&", "h/?x&&"},
		{"a /x$", "h/x?a=1", "h/x?a=1"},
		{"a x y", "h/x?a=1", "h/x?a=1"},
	} {
		r := Parse([]byte("Clean-param: "+c.line), Options{Dialect: Yandex})
		u, want := weburl.MustParse("http://"+c.url), weburl.MustParse("http://"+c.want)
		got, by := r.Fold(u)
		if got != want || (by == nil) != (u == want) || by != nil && by.Line != 1 {
			t.Errorf("Clean-param: %s folds %s to %s (%+v); want %s", c.line, u, got, by, want)
		}
	}
}

// FuzzFold: folding is stable, keeps path and origin, and only drops.
func FuzzFold(f *testing.F) {
	f.Add("sid&sort /forum/*.php", "http://h/forum/a.php?sid=1&x=2&sort=3")
	f.Add("a", "http://h/?a&%61=1&b")
	f.Add("a&&b *", "http://h/?&&&")
	f.Fuzz(func(t *testing.T, line, url string) {
		u, err := weburl.Parse(url)
		if err != nil {
			return
		}
		r := Parse([]byte("Clean-param: "+line+"\nClean-param: b /x"), Options{})
		v, by := r.Fold(u)
		if (by == nil) != (u == v) || v.Origin() != u.Origin() || v.Path() != u.Path() || len(v.String()) > len(u.String()) {
			t.Fatalf("%q folds %s to %s by %v", line, u, v, by)
		}
		if again, by := r.Fold(v); again != v || by != nil {
			t.Fatalf("%s folds to %s and that to %s", u, v, again)
		}
		for part := range strings.SplitSeq(v.Query(), "&") {
			if !strings.Contains(u.Query(), part) {
				t.Fatalf("%s has %q, which %s has not", v, part, u)
			}
		}
	})
}
