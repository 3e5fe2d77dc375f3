package htmlmeta

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/tdewolff/parse/v2"
	lex "github.com/tdewolff/parse/v2/html"
	"golang.org/x/net/html"

	"curtsy/internal/weburl"
)

// corpora are real pages from Debian packages, which need not be installed. CI installs all of
// them, but not the 270 MB of benchOnly.
var corpora = map[string]string{
	"postgresql-doc-15": "/usr/share/doc/postgresql-doc-15/html",
	"python3.11-doc":    "/usr/share/doc/python3.11/html",
	"gimp-help-ru":      "/usr/share/gimp/2.0/help/ru",
}

const benchOnly, benchOnlyAt = "openjdk-17-doc", "/usr/share/doc/openjdk-17-jre-headless/api"

// corpus reads every step-th page of a corpus.
func corpus(tb testing.TB, name string, step int) [][]byte {
	tb.Helper()
	var files []string
	at := cmp.Or(corpora[name], benchOnlyAt)
	filepath.WalkDir(at, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".html") {
			files = append(files, path)
		}
		return nil
	})
	if len(files) == 0 {
		tb.Skipf("%s is not installed (apt-get install %s)", at, name)
	}
	var pages [][]byte
	for i := 0; i < len(files); i += step {
		body, err := os.ReadFile(files[i])
		if err != nil {
			tb.Fatal(err)
		}
		pages = append(pages, body)
	}
	return pages
}

// corpusStep returns the step between the pages that a test reads.
func corpusStep() int {
	if testing.Short() {
		return 200
	}
	return 10
}

var htmlHeader = http.Header{"Content-Type": {"text/html"}}

// BenchmarkPage compares, on the pages of each corpus, Read with html.Parse plus goquery, and
// the scanner with the tokenizer of x/net and the lexer of tdewolff.
func BenchmarkPage(b *testing.B) {
	for _, name := range append(slices.Sorted(maps.Keys(corpora)), benchOnly) {
		for how, f := range map[string]func([]byte){
			"read": readOne, "parse": parseOne, "scan": scanOne, "tokenize": tokenizeOne, "lex": lexOne,
		} {
			b.Run(name+"/"+how, func(b *testing.B) { benchPages(b, corpus(b, name, 40), f) })
		}
	}
}

func benchPages(b *testing.B, pages [][]byte, f func([]byte)) {
	total := 0
	for _, p := range pages {
		total += len(p)
	}
	b.SetBytes(int64(total / len(pages)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		f(pages[i%len(pages)])
		i++
	}
}

func readOne(p []byte) {
	Read(Page{URL: benchURL, Header: htmlHeader, Body: p}, Options{Agents: []string{"curtsy"}})
}

var benchURL = weburl.MustParse("http://127.0.0.1:8080/api/java.base/java/lang/String.html")

func scanOne(p []byte) {
	s := scanner{src: p}
	for s.next() {
	}
}

func lexOne(p []byte) {
	l := lex.NewLexer(parse.NewInputBytes(bytes.Clone(p))) // the lexer writes into its input
	for t, _ := l.Next(); t != lex.ErrorToken; t, _ = l.Next() {
	}
}

func tokenizeOne(p []byte) {
	z := html.NewTokenizer(bytes.NewReader(p))
	for z.Next() != html.ErrorToken {
		z.TagName()
		for more := true; more; {
			_, _, more = z.TagAttr()
		}
	}
}

// parseOne gets the results of Read from the tree of html.Parse.
func parseOne(p []byte) {
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(p))
	if err != nil {
		panic(err)
	}
	doc.Find("meta[name]").Each(func(_ int, s *goquery.Selection) { s.Attr("content") })
	_ = doc.Find("title").First().Text()
	doc.Find("a[href], area[href], link[href], img[src], script[src], iframe[src], form[action]").Each(func(_ int,
		s *goquery.Selection) {
		for _, key := range []string{"href", "src", "action"} {
			if ref, ok := s.Attr(key); ok {
				benchURL.Resolve(ref)
			}
		}
	})
}

// BenchmarkNames compares the vocabulary with a map for the attribute names of a page; the map
// needs ToLower for names in capitals.
func BenchmarkNames(b *testing.B) {
	list := [][]byte{[]byte("href"), []byte("CLASS"), []byte("data-id"), []byte("src"), []byte("aria-label"), []byte("style")}
	known := map[string]name{}
	for id, s := range attrNames.list {
		known[s] = name(id)
	}
	b.Run("names", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			find(attrNames, list[i%len(list)])
		}
	})
	b.Run("map", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_ = known[string(bytes.ToLower(list[i%len(list)]))]
		}
	})
}
