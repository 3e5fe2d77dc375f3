package htmlmeta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Doxygen's scripts build the names of files that they load. The third string of [ "Class
// List", "annotated.html", "annotated_dup" ] means annotated_dup.js; the index of the tree is
// in navtreeindex0.js and so on, one per entry of NAVTREEINDEX; the search index is in
// search/all_0.js and so on, one per letter of a section.
var (
	navPart    = regexp.MustCompile(`\[\s*"[^"\n]*",\s*"[^"\n]*\.html[^"\n]*",\s*"(\w+)"\s*\]`)
	navIndex   = regexp.MustCompile(`var NAVTREEINDEX\s*=\s*\[([^\]]*)\]`)
	letters    = regexp.MustCompile(`var indexSectionsWithContent\s*=\s*\{([^}]*)\}`)
	sections   = regexp.MustCompile(`var indexSectionNames\s*=\s*\{([^}]*)\}`)
	sectionRow = regexp.MustCompile(`(\d+):\s*"([^"]*)"`)
)

// addDoxygen adds the names that a Doxygen script builds.
func (s *linkSet) addDoxygen(src []byte, l Link) {
	l.Attr, l.Kind = "Doxygen", Speculative
	if bytes.Contains(src, []byte(`.html`)) {
		for _, m := range navPart.FindAllSubmatch(src, maxChunks) {
			s.add(string(m[1])+".js", l)
		}
	}
	if m := navIndex.FindSubmatch(src); m != nil {
		for i := range min(bytes.Count(m[1], []byte(`"`))/2, maxChunks) {
			s.add(fmt.Sprintf("navtreeindex%d.js", i), l)
		}
	}
	initials, names := letters.FindSubmatch(src), sections.FindSubmatch(src)
	if initials == nil || names == nil {
		return
	}
	of := map[string]string{}
	for _, m := range sectionRow.FindAllSubmatch(names[1], maxChunks) {
		of[string(m[1])] = string(m[2])
	}
	s.add("nomatches.html", l)
	for _, m := range sectionRow.FindAllSubmatch(initials[1], maxChunks) {
		for i := range min(utf8.RuneCount(m[2]), 0x100) {
			name := fmt.Sprintf("%s_%x", of[string(m[1])], i)
			s.add(name+".js", l)
			s.add(name+".html", l)
		}
	}
}

// rustdocVars matches the element that tells rustdoc's scripts where its files are.
var (
	rustdocVars = regexp.MustCompile(`<(?:div|meta)[^>]*"rustdoc-vars"[^>]*>`)
	rustdocVar  = regexp.MustCompile(`data-([a-z-]+)="([^"]*)"`)
)

// addRustdoc adds the scripts of rustdoc's search, settings and list of crates.
func (s *linkSet) addRustdoc(src []byte) {
	if !bytes.Contains(src, []byte("rustdoc-vars")) {
		return
	}
	tag := rustdocVars.Find(src)
	of := map[string]string{}
	for _, m := range rustdocVar.FindAllSubmatch(tag, 32) {
		of[string(m[1])] = string(m[2])
	}
	l := Link{Tag: "rustdoc", Kind: Speculative}
	root, suffix, files := of["root-path"], of["resource-suffix"], of["static-root-path"] // files: in newer versions
	add := func(attr, ref string) {
		l.Attr = "data-" + attr
		s.add(ref, l)
	}
	index := root + "search-index" + suffix + ".js"
	for _, name := range []string{"search-js", "settings-js", "settings-css", "theme-light-css", "theme-dark-css",
		"theme-ayu-css", "search-index-js"} {
		switch v := of[name]; {
		case v == "":
		case name == "search-index-js":
			index = v
		case strings.Contains(v, "/"):
			add(name, v)
		default:
			add(name, files+v)
		}
	}
	if of["search-js"] == "" {
		add("resource-suffix", root+"search"+suffix+".js")
	}
	add("resource-suffix", index)
	add("resource-suffix", root+"crates"+suffix+".js")
}

// nextData matches the data element of a page made with Next.js's Pages Router.
var (
	nextData  = regexp.MustCompile(`(?s)<script id="__NEXT_DATA__"[^>]*>(.*?)</script>`)
	nextProps = []byte(`"gsp":true`)
)

// addNextData adds the data that Next.js's router requests when a link to the page is followed:
// for /blog/one _next/data/BUILD/blog/one.json, for / index.json.
func (s *linkSet) addNextData(src []byte) {
	if !bytes.Contains(src, nextProps) {
		return
	}
	m := nextData.FindSubmatch(src)
	var said struct {
		Build  string `json:"buildId"`
		Prefix string `json:"assetPrefix"`
	}
	if m == nil || json.Unmarshal(m[1], &said) != nil || said.Build == "" || strings.Contains(said.Build, "/") {
		return
	}
	name := strings.TrimSuffix(strings.TrimSuffix(s.base.Path(), "/"), ".html")
	if name == "" {
		name = "/index"
	}
	s.add(said.Prefix+"/_next/data/"+said.Build+name+".json", Link{Tag: "script", Attr: "__NEXT_DATA__",
		Kind: Speculative})
}

// sveltePage matches the start script of a SvelteKit page that has server data.
var sveltePage = regexp.MustCompile(`\.start\([\w$]+,\s*[\w$]+,\s*\{[^{}]*\bdata:\s*\[[^\]{]*\{\s*type:\s*"data"`)

// nuxtPage matches the configuration of a Nuxt page.
var nuxtPage = regexp.MustCompile(`baseURL:"([^"]*)",buildId:"([\w-]+)",buildAssetsDir:"/?([^"]*)"`)

// addRouterData adds what client-side routers request in addition to the page: SvelteKit's page
// data, Nuxt's build manifest, without which it shows an error, and the version list of
// Material for MkDocs.
func (s *linkSet) addRouterData(src []byte) {
	l := Link{Tag: "script", Attr: "router", Kind: Speculative}
	if bytes.Contains(src, []byte("__sveltekit")) && sveltePage.Match(src) {
		name := strings.TrimSuffix(s.base.Path(), "/") + "/__data.json"
		if page, html := strings.CutSuffix(s.base.Path(), ".html"); html {
			name = page + ".html__data.json"
		}
		s.add(name, l)
	}
	if bytes.Contains(src, []byte("__NUXT__")) {
		if m := nuxtPage.FindSubmatch(src); m != nil {
			s.add(fmt.Sprintf("%s%sbuilds/meta/%s.json", m[1], m[3], m[2]), l)
		}
	}
	if bytes.Contains(src, []byte(`"provider": "mike"`)) {
		s.add("../versions.json", l)
	}
}
