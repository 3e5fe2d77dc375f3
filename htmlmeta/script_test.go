package htmlmeta

import (
	"net/http"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

func TestLinksOfScripts(t *testing.T) {
	for _, c := range []struct{ says, src, want string }{
		{"imports", `import a from "./a.js"; import {b} from '../b.js';import "/c.js";export * from "./e.js"`, "/d/a.js script.import requisite\n/b.js script.import requisite\n/c.js script.import requisite\n/d/e.js script.import requisite"},
		{"dynamic imports", "import('./a.js').then(); import(`./b.js`)", "/d/a.js script.import() requisite\n/d/b.js script.import() requisite"},
		{"bare names are those of an import map", `import "vue"; import x from "lib/x"`, ""},
		{"templates with substitutions are no literals", "import(`./${x}.js`)", ""},
		{"minified", `import{a as b}from"./a.js";export{c}from"./c.js"`, "/d/a.js script.import requisite\n/d/c.js script.import requisite"},
		{"files beside a module", `new URL("pic.png", import.meta.url); new Worker(new URL('w.js', import.meta.url))`, "/d/pic.png script.new URL requisite\n/d/w.js script.new URL requisite"},
		{"a URL of something else", `new URL("pic.png", base)`, "/d/pic.png script.string speculative"},
		{"importScripts", `importScripts("a.js", './b.js')`, "/d/a.js script.importScripts requisite\n/d/b.js script.importScripts requisite"},
		{"a worker is relative to the page, which a file does not know", `new Worker("w.js")`, "/d/w.js script.new Worker speculative"},
		{"from is a name, too", `Array.from("./a"), x.from("./b"), y = from`, ""},
		{"comments", "// import './a.js'\n/* import './b.js' */", ""},
		{"regular expressions hold no literals", `x = /"/.test(y) ? "a.js" : /["']/; z = a / b / "c.js"`, "/d/a.js script.string speculative\n/d/c.js script.string speculative"},
		{"escapes", `"\/x\/a.js" + "\x62.js" + "http:\/\/h\/e?f"`, "/x/a.js script.string speculative\n/d/x/a.js script.string speculative\n/d/b.js script.string speculative\n/e?f script.string speculative"},
		{"other sites", `"http://other/a.js" + "//other/b.js"`, ""},
		{"no files", `".js" + "/a/.lean.js" + "text/css" + "a b.js" + "$1.js" + "foo(a.js)" + "x.html" + "*.js"`, ""},
		{"what looks like a regular expression and is none", "x = (/'a\n); import './a.js'", "/d/a.js script.import requisite"},
		{"a broken script", "import './a.js'; '", "/d/a.js script.import requisite"},
		{"no script at all", "<html>\x00 ` ${ import", ""},
	} {
		if got := linksOf("text/javascript", c.src); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.says, got, c.want)
		}
	}
}

func TestLinksOfScriptElements(t *testing.T) {
	for _, c := range []struct{ says, src, want string }{
		{"a module", `<script type=module>import "./a.js"</script>`, "/d/a.js script.import requisite"},
		{"a worker", `<script>new Worker("w.js"); navigator.serviceWorker.register('/sw.js')</script>`, "/d/w.js script.new Worker requisite\n/sw.js script.register requisite"},
		{"an import map", `<script type="importmap">{"imports":{"a":"./a.js","b/":"/b/","c":"c.js"},"scopes":{"/s/":{"a":"/s/a.js"}}}</script>`, "/d/a.js script.importmap requisite\n/s/a.js script.importmap requisite"},
		{"a base", `<base href=/b/><script>import("./a.js")</script>`, "/b/a.js script.import() requisite"},
		{"literals", `<script>Search.loadIndex("searchindex.js")</script>`, "/d/searchindex.js script.string speculative"},
		{"inline JSON", `<script type="application/json">{"concatemoji":"http:\/\/h\/wp-includes\/js\/e.js?ver=6"}</script>`, "/wp-includes/js/e.js?ver=6 script.string speculative"},
		{"JSON-LD says nothing to us", `<script type="application/ld+json">{"logo":"/logo.png"}</script>`, ""},
	} {
		if got := linksOf("text/html", c.src); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.says, got, c.want)
		}
	}
	if got, want := linksOf("text/javascript", `x("d/w.js")`), "/d/d/w.js script.string speculative\n/d/w.js script.string speculative"; got != want {
		t.Errorf("beside a directory of the same name: got\n%s\nwant\n%s", got, want)
	}
}

func TestRewriteOfScripts(t *testing.T) {
	for _, c := range []struct{ typ, src, want string }{
		{"text/javascript", `import "/x.js";export * from './y.js'`, `import "./L/x.js";export * from './L/d/y.js'`},
		{"text/javascript", "import(`/x.js?a`); importScripts('z.js')", "import(`./L/x.js@a`); importScripts('L/d/z.js')"},
		{"text/javascript", `import "/gone.js"`, `import "data:text/javascript,/*http://h/gone.js*/"`},
		{"text/javascript", `new Worker("/x.js"); f("/y.js"); import "bare"`, `new Worker("/x.js"); f("/y.js"); import "bare"`},
		{"text/html", `<script>new Worker("/x.js"); f("/y.js")</script>`, `<script>new Worker("L/x.js"); f("/y.js")</script>`},
		{"text/html", `<script type=importmap>{"imports":{"/a.js":"/b.js","c/":"/c/"}}</script>`, `<script type=importmap>{"imports":{"/a.js":"./L/b.js","c/":"/c/"}}</script>`},
	} {
		if got := rewriteAs(c.typ, c.src); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// FuzzScript: literals lie in order within the source, and rewriting a script
// changes nothing else. What mayRefer passes over has nothing to find.
func FuzzScript(f *testing.F) {
	for _, s := range []string{"import '", "`${`", "/[/]/", "new URL('x', import.meta.url", "a / b / 'c.js'", "importScripts('a','b'", "<!-- '", "'\\u00", "}`", "1a'x.js'", "0x'", "0\x01\x00\x00#", "f('a.JS?x')", "'x.min.woff2'", "'\\x2fa.js'", "var up = '../../'; load(up, 'script')", "export * from 'x'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		end := 0
		eachScriptRef(src, func(r scriptRef) bool {
			if r.at.from < end || r.at.to < r.at.from+2 || r.at.to > len(src) || src[r.at.from] != src[r.at.to-1] {
				t.Fatalf("%q: %v after %d", src, r.at, end)
			}
			end = r.at.to
			if found := r.use != asString || isCandidate(r.text) || strings.Contains(r.text, "//"); found && !mayRefer(src) {
				t.Fatalf("%q: %q is passed over", src, r.text)
			}
			return true
		})
		p := Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {"text/javascript"}}, Body: src}
		Rewrite(p, Rewriting{Ref: testRef})
		Read(p, Options{})
	})
}
