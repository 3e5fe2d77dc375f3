package htmlmeta

import (
	"net/http"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

func TestLinksOfScripts(t *testing.T) {
	for _, c := range []struct{ says, src, want string }{
		{"imports", `import a from "./a.js"; import {b} from '../b.js';import "/c.js";export * from "./e.js"`,
			"/d/a.js script.import requisite\n/b.js script.import requisite\n/c.js script.import requisite\n/d/e.js script.import requisite"},
		{"dynamic imports", "import('./a.js').then(); import(`./b.js`)",
			"/d/a.js script.import() requisite\n/d/b.js script.import() requisite"},
		{"bare names are those of an import map", `import "vue"; import x from "lib/x"`, ""},
		{"templates with substitutions are no literals", "import(`./${x}.js`)", ""},
		{"minified", `import{a as b}from"./a.js";export{c}from"./c.js"`,
			"/d/a.js script.import requisite\n/d/c.js script.import requisite"},
		{"files beside a module", `new URL("pic.png", import.meta.url); new Worker(new URL('w.js', import.meta.url))`,
			"/d/pic.png script.new URL requisite\n/d/w.js script.new URL requisite"},
		{"a URL of something else", `new URL("pic.png", base)`, "/d/pic.png script.string speculative"},
		{"importScripts", `importScripts("a.js", './b.js')`,
			"/d/a.js script.importScripts requisite\n/d/b.js script.importScripts requisite"},
		{"a worker is relative to the page, which a file does not know", `new Worker("w.js")`,
			"/d/w.js script.new Worker speculative"},
		{"from is a name, too", `Array.from("./a"), x.from("./b"), y = from`, ""},
		{"comments", "// import './a.js'\n/* import './b.js' */", ""},
		{"regular expressions hold no literals", `x = /"/.test(y) ? "a.js" : /["']/; z = a / b / "c.js"`,
			"/d/a.js script.string speculative\n/d/c.js script.string speculative"},
		{"escapes", `"\/x\/a.js" + "\x62.js" + "http:\/\/h\/e?f"`,
			"/x/a.js script.string speculative\n/d/x/a.js script.string speculative\n/d/b.js script.string speculative\n/e?f script.string speculative"},
		{"other sites", `"http://other/a.js" + "//other/b.js"`, ""},
		{"no files", `".js" + "/a/.lean.js" + "text/css" + "a b.js" + "$1.js" + "foo(a.js)" + "*.js" + "Node.js/" + "@site/x.json" + "~blog/x.json" + "/node_modules/x.js"`, ""},
		{"what looks like a regular expression and is none", "x = (/'a\n); import './a.js'",
			"/d/a.js script.import requisite"},
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
		{"a worker", `<script>new Worker("w.js"); navigator.serviceWorker.register('/sw.js')</script>`,
			"/d/w.js script.new Worker requisite\n/sw.js script.register requisite"},
		{"an import map", `<script type="importmap">{"imports":{"a":"./a.js","b/":"/b/","c":"c.js"},"scopes":{"/s/":{"a":"/s/a.js"}}}</script>`, "/d/a.js script.importmap requisite\n/s/a.js script.importmap requisite"},
		{"a base", `<base href=/b/><script>import("./a.js")</script>`, "/b/a.js script.import() requisite"},
		{"literals", `<script>Search.loadIndex("searchindex.js")</script>`,
			"/d/searchindex.js script.string speculative"},
		{"inline JSON", `<script type="application/json">{"concatemoji":"http:\/\/h\/wp-includes\/js\/e.js?ver=6"}</script>`, "/wp-includes/js/e.js?ver=6 script.string speculative"},
		{"JSON-LD says nothing to us", `<script type="application/ld+json">{"logo":"/logo.png"}</script>`, ""},
	} {
		if got := linksOf("text/html", c.src); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.says, got, c.want)
		}
	}
	if got, want := linksOf("text/javascript", `x("d/w.js")`), "/d/w.js script.string speculative"; got != want {
		t.Errorf("beside a directory of the same name: got\n%s\nwant\n%s", got, want)
	}
}

func TestRewriteOfScripts(t *testing.T) {
	for _, c := range []struct{ typ, src, want string }{
		{"text/javascript", `import "/x.js";export * from './y.js'`, `import "./L/x.js";export * from './L/d/y.js'`},
		{"text/javascript", "import(`/x.js?a`); importScripts('z.js')",
			"import(`./L/x.js@a`); importScripts('L/d/z.js')"},
		{"text/javascript", `import "/gone.js"`, `import "data:text/javascript,/*http://h/gone.js*/"`},
		{"text/javascript", `new Worker("/x.js"); f("/y.js"); import "bare"`,
			`new Worker("/x.js"); f("/y.js"); import "bare"`},
		{"text/html", `<script>new Worker("/x.js"); f("/y.js")</script>`,
			`<script>new Worker("L/x.js"); f("/y.js")</script>`},
		{"text/html", `<script type=importmap>{"imports":{"/a.js":"/b.js","c/":"/c/"}}</script>`,
			`<script type=importmap>{"imports":{"/a.js":"./L/b.js","c/":"/c/"}}</script>`},
	} {
		if got := rewriteAs(c.typ, c.src); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// FuzzScript checks that literals lie in order within the source, that rewriting a script
// changes nothing else, and that a script that mayRefer rejects has no references.
func FuzzScript(f *testing.F) {
	for _, s := range []string{"import '", "`${`", "/[/]/", "new URL('x', import.meta.url", "a / b / 'c.js'",
		"importScripts('a','b'", "<!-- '", "'\\u00", "}`", "1a'x.js'", "0x'", "0\x01\x00\x00#", "f('a.JS?x')",
		"'x.min.woff2'", "'\\x2fa.js'", "var up = '../../'; load(up, 'script')", "export * from 'x'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		end := 0
		eachScriptRef(src, func(r scriptRef) bool {
			if r.at.from < end || r.at.to < r.at.from+2 || r.at.to > len(src) || src[r.at.from] != src[r.at.to-1] {
				t.Fatalf("%q: %v after %d", src, r.at, end)
			}
			end = r.at.to
			if found := r.use != asString || isCandidate(r.text) || strings.Contains(r.text, "//"); found &&
				!mayRefer(src) {
				t.Fatalf("%q: %q is passed over", src, r.text)
			}
			return true
		})
		p := Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {"text/javascript"}},
			Body: src}
		Rewrite(p, Rewriting{Ref: testRef})
		Read(p, Options{})
	})
}

// The file names that bundlers and generators assemble, each with what its script contains.
func TestLinksOfGenerators(t *testing.T) {
	for _, c := range []struct{ says, typ, src, want string }{
		{"webpack, names and hashes", "text/javascript",
			`r.u=e=>"js/"+({1:"home"}[e]||e)+"."+{1:"aa",2:"bb"}[e]+".js",r.p="/s/"`,
			"/s/js/home.aa.js script.chunk speculative\n/s/js/2.bb.js script.chunk speculative"},
		{"webpack, styles", "text/javascript", `r.miniCssF=e=>"css/"+e+"."+{3:"cc"}[e]+".css",r.p="/"`,
			"/css/3.cc.css script.chunk speculative"},
		{"webpack without a public path: beside a directory of the same name", "text/javascript",
			`f=e=>"d/chunks/"+e+"-"+{"a-b":"1"}[e]+".js"`, "/d/chunks/a-b-1.js script.chunk speculative"},
		{"webpack, one name", "text/javascript",
			`r.u=e=>"s/c/"+(123===e?"abc":e)+"."+({7:"8e",123:"9f"})[e]+".js",r.p="/_n/"`,
			"/_n/s/c/abc.9f.js script.chunk speculative\n/_n/s/c/7.8e.js script.chunk speculative"},
		{"webpack, one name, the other way round", "text/javascript",
			`r.u=e=>"c/"+(e==="a-b"?"n":e)+"."+{"a-b":"9f"}[e]+".js",r.p="/"`, "/c/n.9f.js script.chunk speculative"},
		{"the end of a name that begins in a form unknown", "text/javascript",
			`r.u=e=>"c/"+f(e)+"."+{7:"9f"}[e]+".js",r.p="/"`, ""},
		{"no name of a chunk", "text/javascript", `x="a"+{1:"b"}[e]+"c"; y={1:"b"}[e]+".txt"`, ""},
		{"Turbopack: a directory that another script of the page has", "text/html",
			`<script src="/_n/static/chunks/a.js"></script><script>push({"otherChunks":["static/chunks/b.js"]})</script>`, "/_n/static/chunks/a.js script.src requisite\n/_n/static/chunks/b.js script.string speculative"},
		{"pages in a menu", "text/javascript", `var menudata={children:[{text:"A",url:"a.html#x"}]}`,
			"/from/a.html script.string speculative"},
		{"Doxygen's tree", "text/javascript",
			"var NAVTREE = [ [ \"C\", \"c.html\", \"c_dup\" ] ];\nvar NAVTREEINDEX =\n[\n\"c.html\"\n];",
			"/from/c.html script.string speculative\n/d/c_dup.js script.Doxygen speculative\n/d/navtreeindex0.js script.Doxygen speculative"},
		{"a registry of modules is no tree of Doxygen's", "text/javascript",
			`register([["a.template.html","1icg3",[3]],["b.html","1m5pb"]])`,
			"/from/a.template.html script.string speculative\n/from/b.html script.string speculative"},
		{"Doxygen's search", "text/javascript",
			`var indexSectionsWithContent = { 0: "a" }; var indexSectionNames = { 0: "all" }; x("y.png")`,
			"/from/y.png script.string speculative\n/d/nomatches.html script.Doxygen speculative\n/d/all_0.js script.Doxygen speculative\n/d/all_0.html script.Doxygen speculative"},
		{"rustdoc", "text/html", `<div id="rustdoc-vars" data-root-path="../" data-resource-suffix="1.63"></div>`,
			"/search1.63.js rustdoc.data-resource-suffix speculative\n/search-index1.63.js rustdoc.data-resource-suffix speculative\n/crates1.63.js rustdoc.data-resource-suffix speculative"},
		{"rustdoc, newer", "text/html", `<meta name="rustdoc-vars" data-root-path="../" data-static-root-path="../static.files/" data-resource-suffix="" data-search-js="search-1.js">`, "/static.files/search-1.js rustdoc.data-search-js speculative\n/search-index.js rustdoc.data-resource-suffix speculative\n/crates.js rustdoc.data-resource-suffix speculative"},
		{"markup that a script writes", "text/html",
			`<script>document.write('<a href="n.html">n</a><img src=x>' + '<a href="' + u)</script>`,
			"/d/n.html script.string speculative"},
		{"markup that a script puts together", "text/html",
			`<script>w('<img src="' + base + 's/m.svg" alt="">'); x('a "b"')</script>`,
			"/d/s/m.svg script.string speculative"},
		{"handlers", "text/html", `<b onclick="location.href='/o.html'">x</b><a href="javascript:window.open('w.html')">w</a><i onclick="go()">`, "/o.html b.onclick speculative\n/d/w.html a.href speculative"},
		{"a menu that leads to pages", "text/html",
			`<select><option value="/m/"><option value="n.html"><option value="1"><option value="a b">`,
			"/m/ option.value speculative\n/d/n.html option.value speculative"},
		{"backgrounds by scripts", "text/html",
			`<div data-bg="b.jpg"></div><div data-background="url('c.png')"></div><div data-bg="dark"></div>`,
			"/d/b.jpg div.data-bg speculative\n/d/c.png div.data-background speculative"},
		{"VitePress", "text/html", `<link rel=modulepreload href="/assets/p.md.X.lean.js">`,
			"/assets/p.md.X.lean.js link.href requisite\n/assets/p.md.X.js link.href speculative"},
		{"Next.js: the data of a page", "text/html",
			`<script id="__NEXT_DATA__" type="application/json">{"buildId":"b1","gsp":true}</script>`,
			"/_next/data/b1/d/p.json script.__NEXT_DATA__ speculative"},
		{"Next.js: a page without data", "text/html",
			`<script id="__NEXT_DATA__" type="application/json">{"buildId":"b1"}</script>`, ""},
		{"chunks of a module are beside it, links beside the page", "text/javascript",
			`x(["../n/0.js","./a.css"]); h({href:"./two.html?a=1"})`,
			"/n/0.js script.string speculative\n/d/a.css script.string speculative\n/from/two.html?a=1 script.string speculative"},
		{"data is as seen from the page", "text/javascript", `fetch("./d.json"); fetch("e.json")`,
			"/from/d.json script.string speculative\n/from/e.json script.string speculative"},
		{"modules by the names that a bundler knows them by", "text/javascript",
			`x({"./src/a.js":()=>import("./a-1.js"),"./p.png":2}); y(b?"c.css":"d.css")`,
			"/d/a-1.js script.import() requisite\n/d/c.css script.string speculative\n/d/d.css script.string speculative"},
		{"what is compared is no URL", "text/javascript",
			`if (src.slice(-9) === "minus.png") f(); "plus.png" == x; url += "more.html"`, ""},
		{"Next.js's names of its own builds", "text/javascript", `a="export-marker.json"; b="index.json"; c="/x.js"`,
			"/x.js script.string speculative"},
		{"Nuxt's list of builds", "text/javascript", `f(u("builds/latest.json"))`,
			"/d/builds/latest.json script.string speculative"},
		{"a table of names below another site's URL", "text/javascript",
			`e={baseURL:"https://o/e/",data:{a:"u/1.png?v8"}}; f="g.png"`, "/from/g.png script.string speculative"},
		{"SvelteKit: the data of a page", "text/html",
			`<script>__sveltekit_1={}; kit.start(app, element, {node_ids: [0], data: [null,{type:"data",data:{}}]})</script>`, "/d/p/__data.json script.router speculative"},
		{"SvelteKit: a page without data", "text/html",
			`<script>__sveltekit_1={}; kit.start(app, element, {node_ids: [0], data: [null,null]})</script>`, ""},
		{"Nuxt: the manifest of its build", "text/html",
			`<script>window.__NUXT__={};window.__NUXT__.config={public:{},app:{baseURL:"/x/",buildId:"94f0-d1",buildAssetsDir:"/_nuxt/",cdnURL:""}}</script>`, "/x/_nuxt/builds/meta/94f0-d1.json script.router speculative"},
		{"Material for MkDocs with versions", "text/html",
			`<script id=__config type="application/json">{"version": {"provider": "mike"}}</script>`,
			"/versions.json script.router speculative"},
		{"what a generator writes for itself", "text/javascript", `a="build-manifest.json"`, ""},
		{"noframes", "text/html", `<frameset><frame src=f.html></frameset><noframes><body><a href=g.html>g</a></noframes>`, "/d/f.html frame.src requisite\n/d/g.html a.href page"},
		{"directories of an import map", "text/html",
			`<script type="importmap">{"imports":{"l/":"/lib/"}}</script><script type=module>import "l/x.js"</script>`,
			"/lib/x.js script.import requisite"},
	} {
		doc := Read(Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {c.typ}},
			Body: []byte(c.src)}, Options{LoadedBy: weburl.MustParse("http://h/from/p")})
		var got []string
		for _, l := range doc.Links {
			got = append(got, strings.TrimPrefix(l.URL.String(), "http://h")+" "+l.Tag+"."+l.Attr+" "+l.Kind.String())
		}
		if s := strings.Join(got, "\n"); s != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.says, s, c.want)
		}
	}
}

func TestRewriteOfHandlers(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`<b onclick="location.href='/o.html'; go('x')">`, `<b onclick="location.href='L/o.html'; go('x')">`},
		{`<a href="javascript:window.open('w.html', 'n')">`, `<a href="javascript:window.open('L/d/w.html', 'n')">`},
		{`<option value="n.html">`, `<option value="L/d/n.html">`},
		{`<option value="1">`, `<option value="1">`},
		{`<div data-bg="b.jpg" onclick="f()">`, `<div data-bg="L/d/b.jpg" onclick="f()">`},
	} {
		out := Rewrite(Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {"text/html"}},
			Body: []byte(c.src)}, Rewriting{Ref: testRef})
		if string(out.Body) != c.want {
			t.Errorf("%s: got %s, want %s", c.src, out.Body, c.want)
		}
	}
}
