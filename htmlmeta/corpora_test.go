package htmlmeta

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"curtsy/internal/weburl"
)

// treeLinks finds the URLs of the plain places of the table in the tree that html.Parse makes,
// with scripting off.
func treeLinks(tb testing.TB, src []byte, page weburl.URL) []string {
	root, err := html.ParseWithOptions(bytes.NewReader(src), html.ParseOptionEnableScripting(false))
	if err != nil {
		tb.Fatal(err)
	}
	doc := goquery.NewDocumentFromNode(root)
	base := page
	if href, ok := doc.Find("base[href]").First().Attr("href"); ok {
		if u, err := page.Resolve(href); err == nil {
			base = u
		}
	}
	var found []string
	for _, p := range places {
		if p.form != oneURL && p.form != linkHref || strings.Contains(p.attr, ":") {
			continue
		}
		doc.Find(p.tag + "[" + p.attr + "]").Each(func(_ int, s *goquery.Selection) {
			ref, _, _ := strings.Cut(strings.Trim(s.AttrOr(p.attr, ""), asciiBlank), "#")
			if ref == "" && p.kind != Navigation && p.kind != Form {
				return
			}
			if u, err := base.Resolve(ref); err == nil {
				found = append(found, u.String())
			}
		})
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// within reports whether all elements of a are in b; both are sorted.
func within(a, b []string) bool {
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); !ok {
			return false
		}
	}
	return true
}

func allLinks(d Document) []string {
	var found []string
	for _, l := range d.Links {
		found = append(found, l.URL.String())
	}
	slices.Sort(found)
	return found
}

// plainLinks returns those links of d that treeLinks must find, too.
func plainLinks(d Document) []string {
	var found []string
	for _, l := range d.Links {
		if l.Attr != "style" && !strings.Contains(l.Attr, "srcset") && l.Tag != "style" && l.Tag != "meta" &&
			l.Tag != "param" {
			found = append(found, l.URL.String())
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestLinksOnCorpora checks that Read finds the links, titles and metas of real pages that
// goquery finds in the whole tree.
func TestLinksOnCorpora(t *testing.T) {
	for name := range corpora {
		t.Run(name, func(t *testing.T) {
			links := 0
			for _, src := range corpus(t, name, corpusStep()) {
				d := Read(Page{URL: benchURL, Header: htmlHeader, Body: src}, Options{})
				all, got, want := allLinks(d), plainLinks(d), treeLinks(t, src, benchURL)
				if !within(got, want) || !within(want, all) {
					t.Fatalf("%.200q:\n got %q\n all %q\nwant %q", src, got, all, want)
				}
				links += len(want)
			}
			t.Logf("%d links", links)
		})
	}
}
