package htmlmeta

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"curtsy/internal/weburl"
)

// MaxLinks is the most links read of a document. Only crawler traps have more.
const MaxLinks = 100_000

// maxValue is the maximum length in bytes of an attribute with one URL: a URL has at most
// weburl.MaxLength, and character references make it longer.
const maxValue = 8 * weburl.MaxLength

// LinkKind is the purpose of a link.
type LinkKind uint8

const (
	Navigation LinkKind = iota // another page: a, area, refresh, rel=next
	Requisite                  // part of this page: images, styles, scripts, frames
	Alternate                  // this page in another form: canonical, other languages, feeds
	Form                       // the target of a form
	Hint                       // a hint for the browser: preconnect, pingback
	// Speculative is a possible file name in a script. If it does not exist, nothing is broken.
	Speculative
)

func (k LinkKind) String() string {
	return [...]string{"page", "requisite", "alternate", "form", "hint", "speculative"}[k]
}

// Link is a link of a document.
type Link struct {
	URL weburl.URL
	// Tag and Attr say where the link is. Links of response headers have the tag "header";
	// those of CSS have the tag "style" (in the page) or "css" (a file) and the attribute
	// "url()" or "@import".
	Tag, Attr string
	Rel       string // lower case, words separated by one blank
	Feed      bool   // a link element with the type of RSS or Atom
	Kind      LinkKind
	// NoFollow means that all links to the URL are marked nofollow, ugc or sponsored.
	NoFollow bool
}

// Skipped counts references that are not followed, by reason.
type Skipped struct {
	Scheme  int `json:"scheme,omitempty"`   // mailto:, javascript:, data:
	TooLong int `json:"too_long,omitempty"` // over weburl.MaxLength
	Invalid int `json:"invalid,omitempty"`  // not a URL, or relative without a base
}

// IsCanonical reports whether the link is a canonical link.
func (l *Link) IsCanonical() bool { return hasWord(l.Rel, "canonical") }

func isFeedType(typ string) bool {
	typ = strings.ToLower(typ)
	return strings.Contains(typ, "rss+xml") || strings.Contains(typ, "atom+xml")
}

// linkSet collects links, each URL once for each kind.
type linkSet struct {
	base        weburl.URL
	code        textCode
	opts        Options
	list        []Link
	known       indexSet
	seed        maphash.Seed
	capped      bool
	plain       []int             // indexes of links to pages that occur without a fragment
	speculative int               // number of candidates in scripts
	inPage      bool              // the current script is in the page, not a file
	imports     map[string]string // directories of the page's import map, by prefix
	skip        Skipped
	odd         []Odd
}

// add resolves a reference and adds it; l holds the rest of the link.
func (s *linkSet) add(ref string, l Link) {
	ref, _, part := strings.Cut(strings.Trim(ref, asciiBlank), "#")
	if ref == "" && l.Kind != Navigation && l.Kind != Form {
		return // a part of this document, or empty
	}
	if foreignScheme(ref) {
		s.skipped(ref, l, nil)
		return
	}
	u, err := s.resolve(ref)
	if err != nil {
		s.skipped(ref, l, err)
		return
	}
	if at := s.addURL(u, l); !part && at >= 0 && l.Kind == Navigation {
		s.plain = append(s.plain, at)
	}
}

func (s *linkSet) resolve(ref string) (weburl.URL, error) {
	if s.code.enc != nil && !strings.HasPrefix(s.code.name, "utf-16") && !isASCII(ref) {
		return s.base.ResolveIn(ref, s.code.enc)
	}
	return s.base.Resolve(ref)
}

// addURL adds a link unless its URL is known for the same kind. It returns the index in the
// list, or -1.
func (s *linkSet) addURL(u weburl.URL, l Link) int {
	at, known := s.at(u, l.Kind)
	if known {
		s.list[at].NoFollow = s.list[at].NoFollow && l.NoFollow
		return at
	}
	if len(s.list) >= MaxLinks {
		s.capped = true
		return -1
	}
	s.known.insert(s.hash(u, l.Kind), len(s.list))
	l.URL = u
	s.list = append(s.list, l)
	return len(s.list) - 1
}

// at returns the index of a URL's link.
func (s *linkSet) at(u weburl.URL, kind LinkKind) (int, bool) {
	return s.known.find(s.hash(u, kind), func(i int) bool { return s.list[i].Kind == kind && s.list[i].URL == u })
}

func (s *linkSet) hash(u weburl.URL, kind LinkKind) uint64 {
	return maphash.String(s.seed, u.String()) + uint64(kind)
}

// foreignScheme reports whether ref has a scheme other than http and https.
func foreignScheme(ref string) bool {
	for i := 0; i < len(ref); i++ {
		switch c := ref[i]; {
		case isLetter(c):
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return !strings.EqualFold(ref[:i], "http") && !strings.EqualFold(ref[:i], "https")
		default:
			return false
		}
	}
	return false
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// nofollow reports whether a rel asks not to follow the link.
func (s *linkSet) nofollow(rel string) bool {
	if rel == "" || s.opts.IgnoreRelNofollow {
		return false
	}
	return hasWord(rel, "nofollow") || hasWord(rel, "ugc") || hasWord(rel, "sponsored")
}

// relWords normalizes a rel attribute: lower case, words separated by one blank.
func relWords(s string) string {
	if s == "" || isPlainWord(s) {
		return s
	}
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}

func isPlainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 'a' || 'z' < c) && c != '-' {
			return false
		}
	}
	return true
}

// hasWord reports whether a normalized list has a word.
func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, " ") {
		if w == word {
			return true
		}
	}
	return false
}

// linkKind returns the kind of a link element or header by its rel. With several words,
// Requisite takes precedence over Alternate, that over Hint, and that over Navigation.
func linkKind(rel, as string) LinkKind {
	if rel == "" {
		return Hint // without rel it has no meaning, whatever rev says
	}
	kind := Navigation
	for w := range strings.SplitSeq(rel, " ") {
		switch k := relKind(w, as); {
		case k == Requisite:
			return Requisite
		case k == Alternate, k == Hint && kind == Navigation:
			kind = k
		}
	}
	return kind
}

// relKind returns the kind for one word of a rel (HTML §4.6.6, and the microformats.org
// registry to which it refers).
func relKind(word, as string) LinkKind {
	switch word {
	case "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image",
		"mask-icon", "fluid-icon", "manifest", "preload", "modulepreload", "image_src":
		return Requisite
	case "prefetch", "subresource":
		if as != "" && as != "document" {
			return Requisite
		}
	case "canonical", "alternate", "shortlink", "amphtml", "search", "self", "profile", "https://api.w.org/":
		return Alternate
	case "dns-prefetch", "preconnect", "pingback", "webmention", "hub", "edituri", "wlwmanifest":
		return Hint
	}
	return Navigation
}

// addNode adds the links of an element, according to the table of places.
func (s *linkSet) addNode(n *html.Node, r *reader) {
	row := &placeOf[find(tagNames, n.Data)]
	rel := relWords(attrOf(n, "rel"))
	for i := range n.Attr {
		a := &n.Attr[i]
		id := row[find(attrNames, a.Key)]
		if id == 0 {
			continue
		}
		p := &places[id-1]
		l := Link{Tag: n.Data, Attr: p.attr, Rel: rel, Kind: p.kind, NoFollow: s.nofollow(rel)}
		switch p.form {
		case background, handler, choice:
			s.addCode(p.form, a.Val, l)
		case oneURL:
			if hasJavaScript(a.Val) {
				s.addCode(handler, a.Val, l)
			}
			s.add(a.Val, l)
			if n.Data == "form" && l.Kind == Form {
				s.addFormPage(n, a.Val, l)
			}
		case linkHref:
			l.Kind = linkKind(rel, strings.ToLower(attrOf(n, "as")))
			l.Feed = isFeedType(attrOf(n, "type"))
			s.add(a.Val, l)
			if whole, lean := strings.CutSuffix(a.Val, ".lean.js"); lean {
				l.Kind = Speculative // VitePress: the page as its router loads it
				s.add(whole+".js", l)
			}
		case srcset:
			eachCandidate(a.Val, func(url span) bool {
				s.add(a.Val[url.from:url.to], l)
				return !s.capped
			})
		case cssStyle:
			s.addCSS([]byte(a.Val), l)
		case document:
			r.readInner(a.Val)
		case refresh:
			s.addRefresh(n, a.Val, l)
		case param:
			if isURLParam(attrOf(n, "name")) {
				s.add(a.Val, l)
			}
		case archives:
			s.addArchives(n, a.Val, l)
		}
	}
}

// addFormPage adds the action of a GET form, without query, as a page.
func (s *linkSet) addFormPage(n *html.Node, action string, l Link) {
	method := strings.Trim(attrOf(n, "method"), asciiBlank)
	if action = strings.Trim(action, asciiBlank); action == "" || method != "" && !strings.EqualFold(method, "get") {
		return
	}
	action, _, _ = strings.Cut(action, "#")
	l.Kind = Navigation
	if action, _, _ = strings.Cut(action, "?"); action != "" {
		s.add(action, l)
	}
}

// addCSS adds the references of CSS. If l.Attr is "", it is set for each reference.
func (s *linkSet) addCSS(src []byte, l Link) {
	if !mayHoldURL(src) {
		return
	}
	named := l.Attr != ""
	eachCSSRef(src, func(ref cssRef) bool {
		if !named {
			l.Attr = "url()"
			if ref.imported {
				l.Attr = "@import"
			}
		}
		s.add(ref.url, l)
		return !s.capped
	})
}

func (s *linkSet) addRefresh(n *html.Node, v string, l Link) {
	if !strings.EqualFold(strings.Trim(attrOf(n, "http-equiv"), asciiBlank), "refresh") {
		return
	}
	if url, ok := parseRefresh(v); ok {
		s.add(v[url.from:url.to], l)
	}
}

// addArchives adds an applet's files, which are relative to its codebase.
func (s *linkSet) addArchives(n *html.Node, v string, l Link) {
	base := s.base
	if code := attrOf(n, "codebase"); code != "" {
		if u, err := s.base.Resolve(strings.TrimSuffix(code, "/") + "/"); err == nil {
			s.base = u
		}
	}
	for file := range strings.SplitSeq(v, ",") {
		if strings.Trim(file, asciiBlank) != "" && !s.capped {
			s.add(file, l)
		}
	}
	s.base = base
}

func attrOf(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val
		}
	}
	return ""
}
