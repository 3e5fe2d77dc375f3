package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

// TestSeed004CleanParam: every Clean-param example of the document.
func TestSeed004CleanParam(t *testing.T) {
	for _, c := range []struct{ line, url, want string }{
		{"ref /some_dir/get_book.pl", "www.example.com/some_dir/get_book.pl?ref=site_1&book_id=123",
			"www.example.com/some_dir/get_book.pl?book_id=123"},
		{"ref /some_dir/get_book.pl", "www.example.com/some_dir/get_book.pl?ref=site_3&book_id=123",
			"www.example.com/some_dir/get_book.pl?book_id=123"},
		{"s /forum/showthread.php", "www.example1.com/forum/showthread.php?s=681498b9648949605&t=8243",
			"www.example1.com/forum/showthread.php?t=8243"},
		{"s /forum/showthread.php", "www.example1.com/forum/other.php?s=1", "www.example1.com/forum/other.php?s=1"},
		{"abc /forum/showthread.php", "h/forum/showthread.php?abc=1&ABC=2", "h/forum/showthread.php?ABC=2"},
		{"sid&sort /forum/*.php", "h/forum/a/b.php?sid=1&x=2&sort=3", "h/forum/a/b.php?x=2"},
		{"someTrash&otherTrash", "h/any?otherTrash&someTrash=1", "h/any"},
		{"sid /index.php", "www.example2.com/index.php?page=1&sort=3a&sid=2564126ebdec301c607e5df",
			"www.example2.com/index.php?page=1&sort=3a"},
		{"s&ref /forum*/showthread.php", "www.example1.com/forum_old/showthread.php?s=681498605&t=8243&ref=1311",
			"www.example1.com/forum_old/showthread.php?t=8243"},
		{"s&ref /forum*/showthread.php", "www.example1.com/forum_new/showthread.php?s=1e71c417a&t=8243&ref=9896",
			"www.example1.com/forum_new/showthread.php?t=8243"},
		{"s /forum/index.php", "www.example1.com/forum/index.php?s=1e71c4427317a117a&t=8243",
			"www.example1.com/forum/index.php?t=8243"},
		// Not from the document.
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

// foldHard returns files of Clean-param lines designed to be expensive, each with its most expensive
// query.
func foldHard() map[string]struct{ file, url string } {
	fill := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < maxBytes-maxCleanParam; i++ {
			b.WriteString("Clean-param: " + line(i) + "\n")
		}
		return b.String()
	}
	query := func(name func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < 7000; i++ {
			b.WriteString(name(i) + "&")
		}
		return "http://h/" + strings.Repeat("a/b", 300) + "?" + b.String()
	}
	short := func(i int) string { return fmt.Sprintf("%x", i) }
	var names []string
	for i := range 120 {
		names = append(names, short(i))
	}
	many := strings.Join(names, "&")
	return map[string]struct{ file, url string }{
		"one name 240 times a line": {fill(func(int) string { return strings.Repeat("a&", 240) }),
			query(func(int) string { return "b" })},
		"120 names, no path of ours": {fill(func(i int) string { return many + " /x" + short(i) }), query(short)},
		"120 names, stars": {fill(func(i int) string {
			return many + " /" + strings.Repeat("a*b*", 8) + "x" +
				short(i)
		}), query(short)},
		"a line a name": {fill(short), query(short)},
		"a line a name, stars": {fill(func(i int) string { return short(i) + " /*a*b*" + short(i%16) }),
			query(short)},
		"a line a name, all match": {fill(func(i int) string {
			return short(i) + " /a*b" +
				strings.Repeat("*", i%400) + "a*/"
		}), query(short)},
		"escapes": {fill(func(i int) string { return strings.Repeat("%61%C3%A9&", 40) + short(i) }),
			query(func(int) string { return "%61%c3%a9" })},
	}
}

// TestFoldIsBounded counts the work of folding one URL: a lookup for each of its parameters, and one
// for each name and line that count.
func TestFoldIsBounded(t *testing.T) {
	for name, c := range foldHard() {
		r := Parse([]byte(c.file), Options{})
		if n := len(r.CleanParams()); n == 0 || n > maxCleanParams || r.params.names > maxCleanNames {
			t.Errorf("%s: %d lines count, with %d names", name, n, r.params.names)
		}
		if w := r.Warnings(); len(w) == 0 || len(w) > maxWarnings || !strings.Contains(w[0].Text, "ignored") {
			t.Errorf("%s: warnings %v", name, w)
		}
		u := weburl.MustParse(c.url)
		f := folding{r: r, path: normal(u.Path(), RFC9309)}
		f.fold(u.Query())
		parts := strings.Count(u.Query(), "&") + 1
		if most := parts + maxCleanNames + maxCleanParams; f.steps > most || f.asked > maxAskedFold {
			t.Errorf("%s: %d looks for %d parameters, want %d at most; temoto asked %d times", name, f.steps,
				parts, most, f.asked)
		}
		if n := testing.AllocsPerRun(5, func() { r.Fold(u) }); n > float64(parts+100) {
			t.Errorf("%s: %v allocations for %d parameters", name, n, parts)
		}
	}
}

// TestFoldIsThatOfEachLineInTurn: the lookup gives the same result, and names the same line, as applying
// the lines one after the other.
func TestFoldIsThatOfEachLineInTurn(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	pick := func(from string) string { l := strings.Fields(from); return l[rnd.IntN(len(l))] }
	for range 3000 {
		var file strings.Builder
		for range 1 + rnd.IntN(5) {
			fmt.Fprintf(&file, "Clean-param: %s&%s %s\n", pick("a b c d %61"), pick("a b %C3%A9 e"),
				pick("/ /x /x* /*y * /z"))
		}
		r := Parse([]byte(file.String()), Options{})
		u := weburl.MustParse("http://h" + pick("/ /x /xy /z/y /w") + "?" + pick("a=1 b q %61=2") + "&" +
			pick("c a=3 é q=4") + "&" + pick("e d b=5"))
		query, line := u.Query(), 0
		for _, c := range r.CleanParams() {
			if c.Path != "" && !c.pattern.matches(u.Path()) {
				continue
			}
			rest := slices.DeleteFunc(strings.Split(query, "&"), func(part string) bool {
				name, _, _ := strings.Cut(part, "=")
				return slices.ContainsFunc(c.Names,
					func(n string) bool { return normal(n, RFC9309) == normal(name, RFC9309) })
			})
			if joined := strings.Join(rest, "&"); joined != query {
				if query = joined; line == 0 {
					line = c.Line
				}
			}
		}
		got, by := r.Fold(u)
		if got.Query() != query || (by == nil) != (line == 0) || by != nil && by.Line != line {
			t.Fatalf("%s\nfolds %s to %s by %+v; want the query %q by line %d", file.String(), u, got, by, query, line)
		}
	}
}

func BenchmarkFold(b *testing.B) {
	for name, c := range foldHard() {
		r, u := Parse([]byte(c.file), Options{}), weburl.MustParse(c.url)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Fold(u)
			}
		})
	}
}

// FuzzFold: folding is idempotent, keeps path and origin, and only removes parameters.
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
		if (by == nil) != (u == v) || v.Origin() != u.Origin() || v.Path() != u.Path() ||
			len(v.String()) > len(u.String()) {
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
