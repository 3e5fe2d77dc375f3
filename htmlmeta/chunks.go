package htmlmeta

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"curtsy/internal/weburl"
)

// maxChunks is the most chunk names generated for one bundler runtime.
const maxChunks = 2000

// The runtimes of webpack and similar bundlers build the names of chunks from tables:
//
//	r.u=e=>"assets/js/"+({17:"home"}[e]||e)+"."+{17:"33a64d89"}[e]+".js", r.p="/docs/"
//
// A table with a single entry is written (17===e?"home":e), which is read as {17:"home"}[e]||e.
var (
	loneName = regexp.MustCompile(`\((?:(\d+|"[\w$./~-]+")===[\w$]+|[\w$]+===(\d+|"[\w$./~-]+"))` +
		`\?("[^"\\{}]*"):([\w$]+)\)`)
	chunkName = regexp.MustCompile(`"[\w./~-]*"(?:\+(?:"[\w./~-]*"|[\w$]+|\(*\{[^{}]*\}\)?\[[\w$]+\]` +
		`(?:\|\|[\w$]+)?\)?))+\+"[\w.~-]*\.(?:js|mjs|css)"`)
	chunkPart  = regexp.MustCompile(`"([^"]*)"|\(*\{([^{}]*)\}\)?\[[\w$]+\](\|\|[\w$]+)?\)?|([\w$]+)`)
	chunkPair  = regexp.MustCompile(`"?([\w$./~-]+)"?:"([^"\\]*)"`)
	publicPath = regexp.MustCompile(`\.p\s*=\s*"([^"\\]*)"`)
)

// addChunks adds the chunk names that a bundler's runtime builds.
func (s *linkSet) addChunks(src []byte, l Link) {
	if !bytes.Contains(src, []byte("}[")) && !bytes.Contains(src, []byte("})[")) {
		return
	}
	l.Attr, l.Kind = "chunk", Speculative
	src = loneName.ReplaceAll(src, []byte("({${1}${2}:${3}}[${4}]||${4})"))
	public := ""
	if m := publicPath.FindSubmatch(src); m != nil {
		public = string(m[1])
	}
	added := 0
	for _, at := range chunkName.FindAllIndex(src, 16) {
		if at[0] > 0 && src[at[0]-1] == '+' {
			continue // the tail of an expression whose head is not matched
		}
		for _, name := range chunkNames(string(src[at[0]:at[1]])) {
			if added++; added > maxChunks {
				return
			}
			if public == "" {
				s.addBeside(name, l)
			} else {
				s.add(public+name, l)
			}
		}
	}
}

// chunkNames evaluates such an expression for each id of its tables.
func chunkNames(expr string) []string {
	type part struct {
		text  string // a literal, or the fallback for an id that the table lacks
		table map[string]string
		id    bool // the id itself
	}
	var parts []part
	var ids map[string]string
	for _, m := range chunkPart.FindAllStringSubmatch(expr, -1) {
		p := part{text: m[1], id: m[4] != ""}
		if m[2] != "" {
			p.table, p.id = map[string]string{}, m[3] != ""
			for _, pair := range chunkPair.FindAllStringSubmatch(m[2], -1) {
				p.table[pair[1]] = pair[2]
			}
			if ids == nil || !p.id {
				ids = p.table // a table of hashes has all chunks, a table of names may not
			}
		}
		parts = append(parts, p)
	}
	names := make([]string, 0, len(ids))
	for _, id := range sortedKeys(ids) {
		var b strings.Builder
		for _, p := range parts {
			if v, ok := p.table[id]; ok {
				b.WriteString(v)
			} else if p.id {
				b.WriteString(id)
			} else {
				b.WriteString(p.text)
			}
		}
		names = append(names, b.String())
	}
	return names
}

// addBeside adds what a script names. Since the base of the name is unknown, it tries: the
// directory in the script's own path, or in that of another script of the page, that has the
// name's first segment; otherwise the script itself and the page that loaded it.
func (s *linkSet) addBeside(text string, l Link) {
	rest := strings.TrimPrefix(text, "/")
	first, _, deep := strings.Cut(rest, "/")
	switch dir := "/" + first + "/"; {
	case rest != text && !deep:
		s.add(text, l)
		return
	case rest != text:
		s.add(text, l)
		if s.below(s.base, dir, rest, l) {
			return
		}
		if s.besideScript(text) {
			s.add(rest, l) // relative to a base that the script prepends
		}
		return
	case first == "." || first == "..":
		s.addDotted(text, l)
		return
	case deep && s.below(s.base, dir, rest, l):
		return
	case deep && s.belowScripts(dir, rest, l):
		return
	}
	beside := s.besideScript(text)
	if beside {
		s.add(text, l)
	}
	if !beside || deep && text != nuxtBuild {
		s.addFromPage(text, l)
	}
}

// nuxtBuild is a name that Nuxt's scripts append to their directory.
const nuxtBuild = "builds/latest.json"

// besideScript reports whether a name in a script may be relative to the script: chunks,
// styles, fonts. Browsers resolve other files against the page.
func (s *linkSet) besideScript(name string) bool {
	if s.inPage || s.opts.LoadedBy.IsZero() || name == nuxtBuild {
		return true
	}
	name, _, _ = strings.Cut(name, "?")
	name, _, _ = strings.Cut(name, "#")
	switch strings.ToLower(path.Ext(name)) {
	case ".js", ".mjs", ".css", ".wasm", ".woff", ".woff2", ".ttf", ".otf":
		return true
	}
	return false
}

// addDotted adds a literal that begins with dots: names of scripts are relative to the script,
// links to the page.
func (s *linkSet) addDotted(text string, l Link) {
	if s.besideScript(text) {
		s.add(text, l)
		return
	}
	s.addFromPage(text, l)
}

// addFromPage adds a reference relative to the page that loaded the script.
func (s *linkSet) addFromPage(text string, l Link) {
	via := s.opts.LoadedBy
	if via.IsZero() || s.inPage {
		return
	}
	if u, err := via.Resolve(text); err == nil {
		s.addURL(u, l)
	}
}

// below adds rest below the last directory named dir in a URL's path, if there is one.
func (s *linkSet) below(u weburl.URL, dir, rest string, l Link) bool {
	i := strings.LastIndex(u.Path(), dir)
	if i < 0 {
		return false
	}
	if at, err := u.Resolve(u.Path()[:i+1] + rest); err == nil {
		s.addURL(at, l)
	}
	return true
}

// belowScripts is below for the scripts that the page has loaded so far.
func (s *linkSet) belowScripts(dir, rest string, l Link) bool {
	for i := range s.list {
		if have := &s.list[i]; have.Tag == "script" && have.Attr == "src" && have.URL.Origin() == s.base.Origin() &&
			s.below(have.URL, dir, rest, l) {
			return true
		}
	}
	return false
}
