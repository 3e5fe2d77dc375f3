package htmlmeta

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxSpeculative is the most candidates of a document.
const maxSpeculative = 200

// maxCandidate is the maximum length of a candidate in bytes.
const maxCandidate = 300

// candidateTypes are the file extensions of candidates.
var candidateTypes = setOf(`.html .htm .js .mjs .json .css .svg .wasm .png .jpg .jpeg .gif .webp .avif .ico
	.woff .woff2 .ttf .otf`)

// unfetched are file names in the scripts of generators and libraries that no page loads under
// that name: build files (Next.js), names appended to another path (SvelteKit, Material for
// MkDocs; see addRouterData), symbols (React), an index of version 6 (Storybook), lists of
// parts (Prism).
var unfetched = setOf(`_devPagesManifest.json _devMiddlewareManifest.json
	_clientMiddlewareManifest.js __data.json versions.json react.test.json stories.json prism-core.js`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// isCandidate reports whether a string literal of a script looks like a file name: it has one
// of the extensions and no characters that paths do not have.
func isCandidate(text string) bool {
	if len(text) < 4 || len(text) > maxCandidate {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"'`\\<>{}()[]|^$*;,", c) >= 0 {
			return false
		}
	}
	bare, _, _ := strings.Cut(text, "#")
	bare, _, _ = strings.Cut(bare, "?")
	name := path.Base(bare)
	ext := strings.ToLower(path.Ext(name))
	if unfetched[name] {
		return false
	}
	if name[0] == '.' || strings.HasSuffix(bare, "/") || strings.Contains(bare, "..."+ext) {
		return false
	}
	// build files that the generator reads itself, and module names of bundlers
	if name == bare && strings.HasSuffix(bare, "-manifest.json") {
		return false
	}
	if text[0] == '@' || text[0] == '~' || strings.Contains(text, "node_modules/") {
		return false
	}
	return candidateTypes[ext]
}

// speculate adds the URLs that a literal may mean: see addBeside.
func (s *linkSet) speculate(text string, l Link) {
	if s.speculative >= maxSpeculative {
		return
	}
	l.Kind = Speculative
	absolute := hasPrefixFold(text, "http://") || hasPrefixFold(text, "https://") || strings.HasPrefix(text, "//")
	if absolute {
		if u, err := s.resolve(text); err == nil && u.Origin() == s.base.Origin() {
			s.speculative++
			s.addURL(u, l)
		}
		return
	}
	if !isCandidate(text) || foreignScheme(text) {
		return
	}
	have := len(s.list)
	if s.inPage && text[0] == '/' {
		s.add(text, l)
	} else {
		s.addBeside(text, l)
	}
	if len(s.list) > have {
		s.speculative++
	}
}

// addScript adds the links of a script file or script element.
func (s *linkSet) addScript(src []byte, tag string, inPage bool) {
	if !mayRefer(src) {
		return
	}
	s.inPage = inPage
	elsewhere, bare := basedElsewhere(src),
		bytes.Contains(src, []byte(`"export-marker.json"`)) // Next.js's list of its build files
	eachScriptRef(src, func(ref scriptRef) bool {
		l := Link{Tag: tag, Attr: ref.attr, Kind: Requisite}
		switch {
		case elsewhere.from <= ref.at.from && ref.at.to <= elsewhere.to, ref.use == asString && isNoURL(src, ref),
			bare && !strings.Contains(ref.text, "/"):
		case ref.use == asModule && ref.attr != "import" && ref.attr != "import()", ref.use == asPage && inPage:
			s.add(ref.text, l)
		case ref.use == asModule:
			if text := s.mapped(ref.text); isSpecifier(text) {
				s.add(text, l)
			}
		default:
			s.speculate(ref.text, l)
			s.addWritten(ref.text, l)
		}
		return !s.capped
	})
	s.addChunks(src, Link{Tag: tag})
	if !inPage {
		s.addDoxygen(src, Link{Tag: tag})
	}
}

// tableElsewhere matches a table of file names relative to the URL of another site, such as
// docsify's 1,800 emoji.
var tableElsewhere = regexp.MustCompile(`baseURL:\s*"(?:https?:)?//[^"]*",\s*\w+:\s*\{[^{}]*\}`)

// basedElsewhere returns where a script has such a table; an empty span at its end if it has
// none.
func basedElsewhere(src []byte) span {
	if at := tableElsewhere.FindIndex(src); at != nil {
		return span{at[0], at[1]}
	}
	return span{len(src), len(src)}
}

// isNoURL reports whether a literal is compared or appended to another string, is displayed
// text, or is the key of an object and names a script, as bundlers identify modules
// ({"./src/lamp.js": () => import("./lamp-4f3a.js")}).
func isNoURL(src []byte, ref scriptRef) bool {
	behind := bytes.TrimLeft(src[ref.at.to:min(len(src), ref.at.to+64)], asciiBlank)
	before := bytes.TrimRight(src[max(0, ref.at.from-64):ref.at.from], asciiBlank)
	if bytes.HasSuffix(before, []byte("==")) || bytes.HasSuffix(before, []byte("+=")) ||
		bytes.HasPrefix(behind, []byte("==")) {
		return true
	}
	if bytes.HasSuffix(before, []byte("null,")) && bytes.Contains(before, []byte("createElement(")) {
		return true // React: the text of an element
	}
	name, _, _ := strings.Cut(ref.text, "?")
	module := strings.HasSuffix(name, "js") || strings.HasPrefix(ref.text, "./")
	return module && bytes.HasPrefix(behind, []byte(":")) && (bytes.HasSuffix(before, []byte("{")) ||
		bytes.HasSuffix(before, []byte(",")))
}

// referring are the words of which a script must contain one, unless it has a candidate, for
// addScript to find anything. A backslash may be part of an escaped form of any of them.
var referring = [...][]byte{[]byte("import"), []byte("from"), []byte("Worker"), []byte("URL"), []byte("register"),
	[]byte("//"), []byte(`\`)}

// mayRefer returns false if addScript would find nothing. It costs a tenth of addScript, and
// most scripts in pages only set a few variables.
func mayRefer(src []byte) bool {
	for _, word := range referring {
		if bytes.Contains(src, word) {
			return true
		}
	}
	for rest := src; ; {
		i := bytes.IndexByte(rest, '.')
		if i < 0 {
			return false
		}
		rest = rest[i:]
		end := 1
		for end < len(rest) && end <= len(".woff2") && (isLetter(rest[end]) || '0' <= rest[end] && rest[end] <= '9') {
			end++
		}
		if candidateTypes[strings.ToLower(string(rest[:end]))] {
			return true
		}
		rest = rest[1:]
	}
}

// addScriptText adds the links of a script element.
func (s *linkSet) addScriptText(src []byte, typ string) {
	script, isMap := scriptType(typ)
	switch {
	case script:
		s.addScript(src, "script", true)
	case isMap:
		s.imports = importPrefixes(src)
		eachImport(src, func(to string) { s.add(to, Link{Tag: "script", Attr: "importmap", Kind: Requisite}) })
	}
}

// mapped resolves a module name by the longest matching prefix of the page's import map.
func (s *linkSet) mapped(name string) string {
	best := ""
	for prefix := range s.imports {
		if len(prefix) > len(best) && strings.HasPrefix(name, prefix) {
			best = prefix
		}
	}
	if best == "" {
		return name
	}
	return s.imports[best] + name[len(best):]
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
