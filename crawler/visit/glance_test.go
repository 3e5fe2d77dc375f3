package visit

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// FuzzHeadOnly: reading only the head of a page gives the same metadata as reading all of it, except
// links.
func FuzzHeadOnly(f *testing.F) {
	text := "<body><h1>Words</h1><p>" + strings.Repeat("enough of them to be a page ", 80)
	for _, page := range []string{
		"<html lang=en><head><meta charset=utf-8><title>T</title><meta name=robots content=noindex></head>" +
			text + "<a href=x>y</a>",
		"<title>T</title><link rel=canonical href=/c><meta charset=koi8-r>" + text + "<header><title>other</title></header>",
		"<script>var s='<body>'</script><meta name=robots content=noarchive>" + text,
		"<!-- <body> --><base href=/b/><title>T</title>" + text,
		text + "<svg><title>not it</title></svg><META name=robots content=none>",
		text + "<div lang=fr><a rel=license href=l>", text + "<iframe srcdoc='<meta name=robots content=noindex>'>",
	} {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		p := htmlmeta.Page{URL: weburl.MustParse("http://h/"), Body: []byte(page),
			Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
		if !isRest(p) {
			return
		}
		all := htmlmeta.Read(p, htmlmeta.Options{})
		p.Body = headOf(htmlmeta.HTML, p.Body)
		head := htmlmeta.Read(p, htmlmeta.Options{})
		if head.Title != all.Title || head.Lang != all.Lang || head.Canonical != all.Canonical ||
			head.Charset != all.Charset || head.Base != all.Base || !reflect.DeepEqual(head.Directives, all.Directives) {
			t.Errorf("the head says %q %q %s %+v, all of it %q %q %s %+v", head.Title, head.Lang, head.Canonical,
				head.Directives, all.Title, all.Lang, all.Canonical, all.Directives)
		}
	})
}
