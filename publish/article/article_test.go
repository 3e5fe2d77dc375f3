package article_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish/article"
)

func page(body string) htmlmeta.Page {
	return htmlmeta.Page{URL: weburl.MustParse("http://h/"),
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(body)}
}

// texts returns the blocks of the article of a page.
func texts(body string) (list []string) {
	for _, b := range article.Blocks(page(body), htmlmeta.ReadText(page(body), 1<<20)) {
		list = append(list, b.Shown(""))
	}
	return list
}

const (
	says = `<meta property="og:type" content="article">`
	side = `<div class=sidebar><ul><li><a href=/1>Other news of the day</a><li><a href=/2>Read this as well</a></ul></div>`
)

func TestBlocks(t *testing.T) {
	para := "<p>" + strings.Repeat("A lamp that smokes wants air, and whoever trims its wick, trims it straight. ", 5)
	story := "<h1>Lamps</h1><div class=story>" + strings.Repeat(para, 4) + "<p data-nosnippet>SECRET</div>"
	for _, c := range []struct {
		says, body string
		list       bool // whether the other teasers are among the blocks
	}{
		{"an article by Open Graph", says + story + side, false},
		{"by JSON-LD", `<script type="application/ld+json">{"@type": "NewsArticle"}</script>` + story + side, false},
		{"by microdata", `<div itemscope itemtype="https://schema.org/BlogPosting">` + story + "</div>" + side, false},
		{"no article", story + side, true},
		{"a list that calls itself one", says + story + strings.Repeat("<ul><li><a href=/x>"+
			strings.Repeat("The title of a page ", 20)+"</a></ul>", 9) + side, true},
	} {
		got := texts(c.body)
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "A lamp that smokes") }) ||
			slices.Contains(got, "SECRET") {
			t.Errorf("%s: %q", c.says, got)
		}
		if slices.Contains(got, "Other news of the day") != c.list {
			t.Errorf("%s: the list: %v, want %v: %q", c.says, !c.list, c.list, got)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add("<h1>a</h1><p>b" + side)
	f.Add("<table><tr><td>a<p>b</table><br><br>c<form>d")
	f.Fuzz(func(t *testing.T, body string) {
		p := page(says + body)
		all := htmlmeta.ReadText(p, 1<<20)
		if got := article.Blocks(p, all); len(got) > len(all) {
			t.Errorf("%d of %d blocks", len(got), len(all))
		}
	})
}
