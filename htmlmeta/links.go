package htmlmeta

import (
	"hash/maphash"
	"strings"

	"golang.org/x/net/html"

	"curtsy/internal/weburl"
)

// MaxLinks is how many links of one document are read. Only traps have more.
const MaxLinks = 100_000

// maxValue is how long the source of an attribute with one URL may be, in
// bytes: a URL has at most weburl.MaxLength, which entities make longer.
const maxValue = 8 * weburl.MaxLength

// LinkKind is what a link is for.
type LinkKind uint8

const (
	Navigation LinkKind = iota // another page: a, area, refresh, rel=next
	Requisite                  // part of this page: pictures, styles, scripts, frames
	Alternate                  // this page again: canonical, other languages, feeds
	Form                       // where a form is sent to
	Hint                       // something for the browser: preconnect, pingback
	// Speculative is what a literal in a script may name. It may not be there,
	// and then nothing is broken.
	Speculative
)

func (k LinkKind) String() string {
	return [...]string{"page", "requisite", "alternate", "form", "hint", "speculative"}[k]
}

// Link is one link of a document.
type Link struct {
	URL weburl.URL
	// Tag and Attr say where it stands. Links of response headers are of tag
	// "header"; those of a style sheet, of tag "style" (in the page) or
	// "css" (a file) and attribute "url()" or "@import".
	Tag, Attr string
	Rel       string // lower case, one blank between words
	Feed      bool   // a link element says that it is RSS or Atom
	Kind      LinkKind
	// NoFollow: the author does not vouch for it (nofollow, ugc, sponsored).
	// A URL that also has a link without it is not NoFollow.
	NoFollow bool
}

// Skipped counts references that are no links to follow, by the reason.
type Skipped struct {
	Scheme  int `json:"scheme,omitempty"`   // mailto:, javascript:, data:
	TooLong int `json:"too_long,omitempty"` // over weburl.MaxLength
	Invalid int `json:"invalid,omitempty"`  // no URL; or relative to nothing
}

// IsCanonical says whether the link names the page that this one is a copy of.
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
	plain       []int             // links to pages that are named without a fragment
	speculative int               // candidates in scripts
	inPage      bool              // they are in the page itself
	imports     map[string]string // directories of the page's import map, by prefix
	skip        Skipped
	odd         []Odd
}

// add resolves a reference and adds it; what else is known of the link is in l.
func (s *linkSet) add(ref string, l Link) {
	ref, _, part := strings.Cut(strings.Trim(ref, asciiBlank), "#")
	if ref == "" && l.Kind != Navigation && l.Kind != Form {
		return // a part of this document, or nothing at all
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

// addURL adds a link unless its URL is known, for the same kind. It gives its place, or -1.
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

// at is where in the list the link of a URL is.
func (s *linkSet) at(u weburl.URL, kind LinkKind) (int, bool) {
	return s.known.find(s.hash(u, kind), func(i int) bool { return s.list[i].Kind == kind && s.list[i].URL == u })
}

func (s *linkSet) hash(u weburl.URL, kind LinkKind) uint64 {
	return maphash.String(s.seed, u.String()) + uint64(kind)
}

// foreignScheme says whether ref plainly has a scheme other than http and https.
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
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// nofollow says whether one of rel's words asks not to follow.
func (s *linkSet) nofollow(rel string) bool {
	if rel == "" || s.opts.IgnoreRelNofollow {
		return false
	}
	return hasWord(rel, "nofollow") || hasWord(rel, "ugc") || hasWord(rel, "sponsored")
}

// relWords folds a rel attribute: lower case, one blank between words.
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

// hasWord says whether word is one of the words of a folded list.
func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, " ") {
		if w == word {
			return true
		}
	}
	return false
}

// linkKind says what a link element or header is by its rel: of several words,
// what draws the page counts before what is the page again, that before what
// is for machines, and that before other pages.
func linkKind(rel, as string) LinkKind {
	if rel == "" {
		return Hint // without a rel it means nothing, whatever a rev says
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

// relKind is the kind of one word of a rel (HTML §4.6.6, and the registry of
// microformats.org that it refers to).
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

// addNode adds the links of an element, as the table says.
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
			if whole, lean := strings.CutSuffix(a.Val, ".lean.js"); lean { // VitePress: the page as a router loads it
				l.Kind = Speculative
				s.add(whole+".js", l)
			}
		case srcset:
			s.addCandidates(a.Val, l)
		case cssStyle:
			s.addCSS([]byte(a.Val), l)
		case document:
			r.readInner(a.Val)
		case refresh:
			s.addRefresh(n, a.Val, l)
		case param:
			s.addParam(n, a.Val, l)
		case archives:
			s.addArchives(n, a.Val, l)
		}
	}
}

// addFormPage adds the page that a form leads to which is sent by GET: its
// action without what is filled in.
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

func (s *linkSet) addCandidates(v string, l Link) {
	eachCandidate(v, func(url span) bool {
		s.add(v[url.from:url.to], l)
		return !s.capped
	})
}

// addCSS adds the references of CSS; l.Attr "" is named by the reference.
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

// addParam adds a param of an object or applet that is a URL by its name.
func (s *linkSet) addParam(n *html.Node, v string, l Link) {
	switch strings.ToLower(strings.Trim(attrOf(n, "name"), asciiBlank)) {
	case "movie", "src", "url", "href", "data", "file", "filename", "source", "image":
		s.add(v, l)
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
