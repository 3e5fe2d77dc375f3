package htmlmeta

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Block is a paragraph, a heading, a cell: a stretch of text that stands by
// itself.
type Block struct {
	Text string // blanks are single
	Head bool   // h1, h2 or h3
	// Hidden are parts of Text, from and to in octets, that must not be shown in
	// results (data-nosnippet, noindex). They belong to the text all the same.
	Hidden [][2]int
}

// Shown is the text without what its author keeps from results, in the place of which
// gap stands.
func (b *Block) Shown(gap string) string {
	if len(b.Hidden) == 0 {
		return b.Text
	}
	var shown strings.Builder
	at := 0
	for _, h := range b.Hidden {
		from, to := min(h[0], len(b.Text)), min(h[1], len(b.Text)) // the text may have been cut
		shown.WriteString(b.Text[at:max(at, from)])
		if at < to {
			shown.WriteString(gap)
		}
		at = max(at, to)
	}
	shown.WriteString(b.Text[at:])
	return strings.TrimSpace(shown.String())
}

// ReadText reads the text of a page: what a person reads in it, without scripts,
// navigation, banners and forms; of plain text, its paragraphs; of all else,
// nothing. It ends at max octets. Like Read it never fails.
func ReadText(p Page, max int) []Block { return readText(p, max, true) }

// ReadWholeText is ReadText with navigation, banners and forms.
func ReadWholeText(p Page, max int) []Block { return readText(p, max, false) }

func readText(p Page, max int, frugal bool) []Block {
	r := readers.Get().(*reader)
	defer r.free()
	code, body, kind, asXML := textAndKind(p)
	if kind != HTML {
		return r.plainText(p.Header, body, code, max)
	}
	if !code.known() {
		body = r.scanAll(body, &code, asXML)
	}
	r.setCode(code)
	read := func(frugal bool) ([]Block, int) {
		t := &textReader{textRules: textRules{frugal: frugal}, r: r, src: body, max: max}
		t.read(asXML)
		return t.blocks, t.total
	}
	if frugal {
		return mostlyText(read)
	}
	blocks, _ := read(false)
	return blocks
}

// mostlyText gives what a page says without what stands beside its text; all of it where
// that is next to nothing: some sites put all of a page into a form, or into an aside. read
// says how many octets of text it gives.
func mostlyText[T any](read func(frugal bool) (T, int)) T {
	text, length := read(true)
	if length < fewestOctets {
		if all, longer := read(false); longer > 2*length {
			return all
		}
	}
	return text
}

// fewestOctets is what a page has if its text is not where it is left out.
const fewestOctets = 120

// plainText reads text/plain: an empty line ends a paragraph.
func (r *reader) plainText(h http.Header, body []byte, code textCode, max int) (blocks []Block) {
	switch t := mediaType(h); {
	case t != "text/plain" && t != "text/markdown", isBinary(body):
		return nil
	case !code.known():
		code = detect(body)
	}
	r.setCode(code)
	t := &textReader{r: r, max: max}
	for part := range bytes.SplitSeq(body, []byte("\n")) {
		if len(bytes.TrimSpace(part)) == 0 {
			t.flush()
		}
		t.append(append(r.decode(nil, part, false), '\n'))
	}
	t.flush()
	return t.blocks
}

// What an element is to the text of a page.
type role uint16

const (
	isBlock  role = 1 << iota // it stands by itself
	isVoid                    // it has no content
	isNever                   // its content is never text
	isAside                   // its content is beside the text
	isMargin                  // beside the text, unless within main or article
	isMain
	isHead
	isLoose // another of its name ends it
	isQuiet // its content is not shown in results (Yandex)
)

var roleOf = func() map[string]role {
	m := map[string]role{}
	for names, r := range map[string]role{
		"address article blockquote body caption center dd details dialog div dl dt fieldset figcaption figure " +
			"h4 h5 h6 hgroup html legend li main menu ol optgroup p pre search section summary table tbody td " +
			"tfoot th thead tr ul": isBlock,
		"br hr wbr img input meta link area base col embed source track param": isVoid,
		"script style template noscript svg math select button textarea title iframe object noembed noframes " +
			"canvas audio video datalist head": isNever,
		"nav form":            isAside,
		"header footer aside": isMargin | isBlock,
		"main article":        isMain,
		"h1 h2 h3":            isHead | isBlock,
		"p li dt dd td th tr": isLoose,
		"noindex":             isQuiet,
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] |= r
		}
	}
	m["hr"] |= isBlock
	return m
}()

// textRules say which elements hold text.
type textRules struct {
	frugal bool // leave out what is beside the text
	main   int  // how many elements with the main text are open
}

// element is what one with the role of its name is to the text.
func (t *textRules) element(what role) textElement {
	beside := what&isAside != 0 || what&isMargin != 0 && t.main == 0
	return textElement{block: what&isBlock != 0, main: what&isMain != 0, head: what&isHead != 0,
		quiet: what&isQuiet != 0, never: what&isNever != 0 || t.frugal && beside}
}

// addAttribute takes in what an attribute of an element says.
func addAttribute[T string | []byte](t *textRules, el *textElement, name, value T) {
	switch n := len(name); {
	case n == 4 && equalFold(name, "role"):
		switch strings.ToLower(string(value)) {
		case "navigation", "banner", "contentinfo", "search", "complementary":
			el.never = el.never || t.frugal && t.main == 0
		case "main":
			el.main = true
		}
	case n == 6 && equalFold(name, "hidden"):
		el.never = true
	case n == 11 && equalFold(name, "aria-hidden"):
		el.never = el.never || strings.EqualFold(string(value), "true")
	case n == 14 && equalFold(name, "data-nosnippet"):
		el.quiet = true
	}
}

// textReader follows the elements that matter to the text, and gathers it.
type textReader struct {
	textRules
	r   *reader
	src []byte
	max int

	stack  []textElement
	never  int // how many of the stack are left out
	heads  int
	hidden int

	buf    []byte
	spans  [][2]int
	head   bool
	blank  bool
	blocks []Block
	total  int
}

// textElement is an open element that matters.
type textElement struct {
	name  string
	never bool
	main  bool
	head  bool
	quiet bool // data-nosnippet, or Yandex's <noindex>
	block bool
}

func (t *textReader) read(xml bool) {
	s := scanner{src: t.src, xml: xml, every: true}
	at := 0
	for s.next() && t.total < t.max {
		tag := &s.tag
		t.markup(at, tag.all.from)
		at = tag.all.to
		if tag.end {
			t.close(tag)
			continue
		}
		t.open(tag)
		if !tag.text.empty() && s.pos >= tag.text.to {
			at = tag.text.to
		}
	}
	t.markup(at, len(t.src))
	t.flush()
}

// open takes in a start tag.
func (t *textReader) open(tag *tag) {
	raw := tag.name.of(t.src)
	var low [16]byte
	name := low[:copy(low[:], raw)]
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			name[i] = c | 0x20
		}
	}
	what := roleOf[string(name)]
	if len(raw) > len(low) {
		what = 0
	}
	switch {
	case string(name) == "br":
		t.append([]byte(" "))
		return
	case what&isBlock != 0:
		t.flush()
	}
	if what&isVoid != 0 {
		return
	}
	if n := len(t.stack); n > 0 && (what&isLoose != 0 && t.stack[n-1].name == string(name) || what&isBlock != 0 &&
		t.stack[n-1].name == "p") {
		t.pop(n - 1)
	}
	el := t.element(what)
	for i := range tag.attrs {
		addAttribute(&t.textRules, &el, tag.attrs[i].name.of(t.src), tag.attrs[i].value.of(t.src))
	}
	if what == 0 && !el.never && !el.main && !el.quiet || tag.selfEnd && t.never > 0 || len(t.stack) == maxOpen {
		return
	}
	el.name = strings.ToLower(string(raw))
	t.push(el)
}

// maxOpen bounds how deep elements are followed.
const maxOpen = 512

func (t *textReader) push(el textElement) {
	t.stack = append(t.stack, el)
	t.count(el, 1)
}

func (t *textReader) count(el textElement, by int) {
	if el.never {
		t.never += by
	}
	if el.main {
		t.main += by
	}
	if el.head {
		t.heads += by
	}
	if el.quiet {
		t.hidden += by
	}
}

// pop closes the elements from n on.
func (t *textReader) pop(n int) {
	for _, el := range t.stack[n:] {
		if el.block {
			t.flush()
		}
		t.count(el, -1)
	}
	t.stack = t.stack[:n]
}

// close takes in an end tag.
func (t *textReader) close(tag *tag) { t.closeNamed(tag.name.of(t.src)) }

func (t *textReader) closeNamed(name []byte) {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if el := &t.stack[i]; len(el.name) == len(name) && equalFold(name, el.name) {
			t.pop(i)
			return
		}
	}
}

// markup takes in what lies between two tags: text, and comments.
func (t *textReader) markup(from, to int) {
	if t.never > 0 || from >= to {
		return
	}
	text := t.src[from:to]
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 || i+1 >= len(text) || !strings.ContainsRune("!?/", rune(text[i+1])) {
			break
		}
		t.raw(text[:i])
		end := 0
		switch rest := text[i:]; {
		case bytes.HasPrefix(rest, []byte("<!--")):
			end = commentEnd(text, i+4)
			t.comment(rest[:end-i])
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			end = indexFrom(text, i+9, "]]>")
		default:
			end = indexFrom(text, i+2, ">")
		}
		text = text[end:]
	}
	t.raw(text)
}

// comment takes in the form of <noindex> that is valid HTML:
// <!--noindex--> text <!--/noindex-->.
func (t *textReader) comment(b []byte) {
	switch {
	case len(b) > len("<!--/noindex-->"):
	case strings.EqualFold(string(b), "<!--noindex-->") && len(t.stack) < maxOpen:
		t.push(textElement{name: "noindex", quiet: true})
	case strings.EqualFold(string(b), "<!--/noindex-->"):
		t.closeNamed([]byte("noindex"))
	}
}

func (t *textReader) raw(b []byte) {
	if len(b) == 0 {
		return
	}
	if !isASCIIBytes(b) {
		b = t.r.toUTF8(b)
	}
	if bytes.IndexByte(b, '&') >= 0 {
		b = []byte(html.UnescapeString(string(b)))
	}
	t.append(b)
}

// append adds text to the block, blanks made single.
func (t *textReader) append(s []byte) {
	from := len(t.buf)
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && ' ' < s[i] && s[i] < 0x7F {
			i++
		}
		if i == start {
			r, n := utf8.DecodeRune(s[i:])
			i += n
			switch {
			case r <= ' ' || r == 0xA0 || r == 0x7F:
				t.blank = len(t.buf) > 0
				continue
			case r == 0xAD || r == 0x200B || r == 0x2060 || r == 0xFEFF: // a place where a word may break
				continue
			}
		}
		if t.blank {
			t.buf, t.blank = append(t.buf, ' '), false
		}
		t.buf = append(t.buf, s[start:i]...)
	}
	t.head = t.head || t.heads > 0
	if to := len(t.buf); t.hidden > 0 && to > from {
		t.spans = append(t.spans, [2]int{from, to})
	}
}

// upTo are the spans of a text that is cut at an octet.
func upTo(spans [][2]int, end int) [][2]int {
	for i := range spans {
		if spans[i][1] = min(spans[i][1], end); spans[i][0] >= end {
			return spans[:i]
		}
	}
	return spans
}

// flush ends the block.
func (t *textReader) flush() {
	if len(t.buf) > 0 && t.total < t.max {
		end := min(len(t.buf), t.max-t.total)
		for end < len(t.buf) && end > 0 && !utf8.RuneStart(t.buf[end]) {
			end--
		}
		t.blocks = append(t.blocks, Block{Text: string(t.buf[:end]), Head: t.head, Hidden: upTo(t.spans, end)})
		t.total += len(t.buf) // all of it where the end is reached
	}
	t.buf, t.blank, t.head, t.spans = t.buf[:0], false, false, nil
}
