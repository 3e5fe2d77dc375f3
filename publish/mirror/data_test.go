package mirror_test

import (
	"strings"
	"testing"
)

// mirror-data.js contains what scripts fetch, and workers with what they load, but not what a
// browser loads by itself or a page links to.
func TestDataOfScripts(t *testing.T) {
	t.Parallel()
	s := serve(t, `
-- / --
<!DOCTYPE html><title>start</title><a href="/linked.json">l</a><script src="/js/main.js"></script><script>new Worker("js/search-worker.js")</script>
-- /js/main.js --
HTTP 200
Content-Type: text/javascript

fetch("index.json?v=1"); f("bad.json"); h("p.html")
-- /js/search-worker.js --
HTTP 200
Content-Type: text/javascript

importScripts("lib.js")
-- /js/lib.js --
HTTP 200
Content-Type: text/javascript

lib = 1
-- /index.json?v=1 --
HTTP 200
Content-Type: application/json

{"a": "</script>"}
-- /linked.json --
HTTP 200
Content-Type: application/json

{"linked": 1}
`)
	files := exported(t, s, crawl(t, s))
	want := strings.ReplaceAll(`curtsyData({
"index@v=1.json":["application/json","{\"a\": \"\u003c/script\u003e\"}\n"],
"index.json?v=1":"index@v=1.json",
"js/lib.js":["text/javascript","lib = 1\n"],
"js/search-worker.js":["text/javascript","importScripts(\"lib.js\")\n"]
})
`, "\r", "")
	if got := files["mirror-data.js"]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
