//go:build linux

package search_test

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/catalog"
	"curtsy/publish/search"
	"curtsy/storage"
)

// archives opens the archives pg, openjdk and gimp below $CURTSY_TEST_SEARCH_ARCHIVES, which
// .ci/e2e/94-search.sh makes.
func archives(t *testing.T) map[string]*opened {
	t.Helper()
	base := os.Getenv("CURTSY_TEST_SEARCH_ARCHIVES")
	if base == "" {
		t.Skip("CURTSY_TEST_SEARCH_ARCHIVES is not set: .ci/e2e/94-search.sh runs this")
	}
	all := map[string]*opened{}
	for _, name := range []string{"pg", "openjdk", "gimp", "debian-ru", "debian-de"} {
		a, err := storage.OpenRead(filepath.Join(base, name))
		if err != nil {
			t.Log(err)
			continue
		}
		t.Cleanup(func() { a.Close() })
		c, err := catalog.Open(t.Context(), a, catalog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s, err := search.Open(t.Context(), c, a, search.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		all[name] = &opened{s, a, c}
	}
	return all
}

type opened struct {
	*search.Searcher
	a *storage.Archive
	c *catalog.Catalog
}

// reciprocal returns 1/rank of the first page whose URL ends so.
func (o *opened) reciprocal(t *testing.T, query, suffix string) float64 {
	t.Helper()
	return o.first(t, query, func(url string) bool { return strings.HasSuffix(url, suffix) })
}

// first returns 1/rank of the first wanted page among ten.
func (o *opened) first(t *testing.T, query string, wanted func(url string) bool) float64 {
	t.Helper()
	hits, err := o.Search(t.Context(), search.Query{Text: query, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits.Hits {
		if wanted(h.URL) {
			return 1 / float64(h.Rank)
		}
	}
	return 0
}

// figure prints one figure and whether it meets its bound.
func figure(t *testing.T, name string, value, least float64) {
	t.Helper()
	fmt.Printf("figure %s %.3f\n", name, value)
	if value < least {
		t.Errorf("%s is %.3f, want %.3f", name, value, least)
	}
}

// TestKnownItems searches for pages that are known to exist.
func TestKnownItems(t *testing.T) {
	all := archives(t)
	for _, set := range []struct {
		file  string
		least float64
	}{{"known-en", 0.98}, {"known-ru", 0.93}} {
		f, err := os.Open("testdata/" + set.file + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		sum, n := 0.0, 0
		for lines := bufio.NewScanner(f); lines.Scan(); {
			part := strings.Split(lines.Text(), "\t")
			o := all[part[1]]
			if o == nil {
				continue
			}
			r := o.reciprocal(t, part[0], part[2])
			if r < 1 {
				fmt.Printf("  %s: %.2f\n", part[0], r)
			}
			sum, n = sum+r, n+1
		}
		f.Close()
		if n > 0 {
			figure(t, set.file, sum/float64(n), set.least)
		}
	}
}

// TestQuestions searches for questions in three languages. The answers were marked before
// measuring, by parts of their URLs.
func TestQuestions(t *testing.T) {
	all := archives(t)
	text, err := os.ReadFile("testdata/questions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var sum, n, first, ten float64
	for line := range strings.Lines(string(text)) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		o := all[part[1]]
		if o == nil {
			continue
		}
		answers := strings.Split(part[2], "|")
		r := o.first(t, part[0], func(url string) bool {
			return slices.ContainsFunc(answers, func(a string) bool { return strings.Contains(url, a) })
		})
		if n++; r < 1 {
			fmt.Printf("  %s: %.2f\n", part[0], r)
		}
		sum += r
		first += float64(int(r))
		ten += math.Ceil(r)
	}
	if n > 0 {
		fmt.Printf("figure questions %v: hit@1 %.3f, hit@10 %.3f\n", n, first/n, ten/n)
		figure(t, "questions", sum/n, 0.45)
	}
}

// page is a document of an archive.
type doc struct{ url, title string }

func (o *opened) docs(t *testing.T) (list []doc) {
	t.Helper()
	rows, err := o.c.DB().Query(`SELECT url, title FROM docs WHERE title <> '' ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var d doc
		if err := rows.Scan(&d.url, &d.title); err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// TestTitles searches for 300 pages by their titles.
func TestTitles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sum, n := 0.0, 0
	for name, o := range archives(t) {
		docs := o.docs(t)
		for range map[string]int{"openjdk": 200, "pg": 60, "gimp": 40}[name] {
			d := docs[random.IntN(len(docs))]
			sum, n = sum+o.reciprocal(t, d.title, d.url), n+1
		}
	}
	figure(t, "titles", sum/float64(n), 0.95)
}

// TestPhrases searches for phrases from a block of a page: all must be found.
func TestPhrases(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	found, n := 0.0, 0
	for _, o := range archives(t) {
		docs := o.docs(t)
		for n0 := n; n < n0+60; {
			d := docs[random.IntN(len(docs))]
			phrase := o.phrase(t, d.url, random)
			if phrase == "" {
				continue
			}
			n++
			hits, err := o.Search(t.Context(), search.Query{Text: `"` + phrase + `"`, Limit: search.MaxLimit})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(hits.Hits, func(h search.Hit) bool { return h.URL == d.url }) ||
				len(hits.Hits) == search.MaxLimit {
				found++
			} else {
				fmt.Printf("  %q of %s: not among %d\n", phrase, d.url, len(hits.Hits))
			}
		}
	}
	figure(t, "phrases", found/float64(n), 1)
}

// phrase returns some words of a block of a page, with punctuation.
func (o *opened) phrase(t *testing.T, url string, random *rand.Rand) string {
	t.Helper()
	list, err := o.c.Captures(t.Context(), weburl.FromCanonical(url))
	if err != nil || len(list) == 0 {
		t.Fatal(url, err)
	}
	v, err := o.a.Visit(list[len(list)-1].Ref)
	if err != nil {
		t.Fatal(err)
	}
	b, err := publish.OpenBody(o.a, v)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var body strings.Builder
	if _, err := bufio.NewReader(b).WriteTo(&body); err != nil {
		t.Fatal(err)
	}
	blocks := htmlmeta.ReadText(htmlmeta.Page{Header: b.Header, Body: []byte(body.String())}, 1<<20)
	if len(blocks) == 0 {
		return ""
	}
	words := strings.Fields(strings.ReplaceAll(blocks[random.IntN(len(blocks))].Text, `"`, " "))
	if len(words) < 4 {
		return ""
	}
	from := random.IntN(len(words) - 3)
	phrase := strings.Join(words[from:from+3+random.IntN(min(4, len(words)-from-2))], " ")
	if len(phrase) > 300 || strings.ContainsAny(phrase, "“”„«»") {
		return ""
	}
	return phrase
}

// spent returns the processor time of this thread, which, unlike wall time, does not depend on
// the load of the machine.
func spent() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestLatency runs 200 mixed queries in one process: one to three words of titles, phrases and
// prefixes.
func TestLatency(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took, cpu, whole []time.Duration
	for name, o := range archives(t) {
		docs := o.docs(t)
		for i := range map[string]int{"openjdk": 160, "pg": 25, "gimp": 15}[name] {
			words := strings.Fields(docs[random.IntN(len(docs))].title)
			query := words[random.IntN(len(words))]
			switch i % 5 {
			case 1:
				query += " " + words[random.IntN(len(words))]
			case 2:
				query = `"` + strings.Join(words[:min(2, len(words))], " ") + `"`
			case 3:
				query = string([]rune(query)[:min(5, len([]rune(query)))]) + "*"
			case 4:
				query = strings.Join(words[:min(3, len(words))], " ")
			}
			began, before := time.Now(), spent()
			if _, err := o.Ranked(t.Context(), search.Query{Text: query}); err != nil {
				t.Fatal(err)
			}
			took, cpu = append(took, time.Since(began)), append(cpu, spent()-before)
			if d := cpu[len(cpu)-1]; d > 60*time.Millisecond {
				fmt.Printf("  %v: %s\n", d.Round(time.Millisecond), query)
			}
			began = time.Now()
			if _, err := o.Search(t.Context(), search.Query{Text: query}); err != nil {
				t.Fatal(err)
			}
			whole = append(whole, time.Since(began))
		}
	}
	for name, list := range map[string][]time.Duration{"rank": took, "rank-cpu": cpu, "with-snippets": whole} {
		slices.Sort(list)
		fmt.Printf("figure %s p50 %v p99 %v\n", name, list[len(list)/2].Round(time.Microsecond),
			list[len(list)*99/100].Round(time.Microsecond))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("figure heap %d MB\n", m.HeapInuse>>20)
}
