package htmlmeta

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Block is a paragraph, a heading, a table cell or the like.
type Block struct {
	Text string // white space is collapsed
	Head bool   // h1, h2 or h3
	// Hidden are octet ranges of Text that must not be shown in results (data-nosnippet,
	// noindex). They are part of the text nevertheless.
	Hidden [][2]int
}

// Shown returns the text with gap in place of the hidden parts.
func (b *Block) Shown(gap string) string {
	if len(b.Hidden) == 0 {
		return b.Text
	}
	var shown strings.Builder
	at := 0
	for _, h := range b.Hidden {
		from, to := min(h[0], len(b.Text)), min(h[1], len(b.Text)) // the text may have been truncated
		shown.WriteString(b.Text[at:max(at, from)])
		if at < to {
			shown.WriteString(gap)
		}
		at = max(at, to)
	}
	shown.WriteString(b.Text[at:])
	return strings.TrimSpace(shown.String())
}

// ReadText reads the text of a page without scripts, navigation, banners and forms; for plain
// text, its paragraphs; for other types, nothing. It stops after max octets. Like Read it never
// fails.
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

// mostlyText reads a page without the parts beside the main text or, if that leaves next to
// nothing, completely: some sites put the whole page into a form or an aside. read returns the
// text and its length in octets.
func mostlyText[T any](read func(frugal bool) (T, int)) T {
	text, length := read(true)
	if length < fewestOctets {
		if all, longer := read(false); longer > 2*length {
			return all
		}
	}
	return text
}

// fewestOctets is the length below which the main text counts as missing.
const fewestOctets = 120

// plainText reads text/plain: empty lines separate paragraphs.
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

// role says what an element means for the text of a page, and for which elements it ends.
type role uint32

const (
	isBlock  role = 1 << iota // begins a block
	isVoid                    // has no content
	isNever                   // its content is never text
	isAside                   // its content is not part of the main text
	isMargin                  // as isAside, unless within main or article
	isMain
	isHead
	isQuiet      // its content is not shown in results (data-nosnippet, or Yandex's <noindex>)
	isMeta       // may be in the head of a document
	isFormatting // its end tag may come after those of elements around it
	isScope      // an end tag within it does not end an element around it
	isPlain      // an address, div or p: it does not keep an item from ending
	isPara
	isItem
	isTerm
	isCell
	isRow
	isRows
	isCaption // ended by rows and cells too
	isTable
	isRuby
	isReading // in a ruby
)

// known is an element with a role.
type known struct {
	name string
	role
}

var roleOf = func() map[string]known {
	m := map[string]known{}
	for names, r := range map[string]role{
		"address article blockquote body caption center dd details dialog div dl dt fieldset figcaption figure " +
			"h4 h5 h6 hgroup html legend li main menu ol optgroup p pre search section summary table tbody td " +
			"tfoot th thead tr ul": isBlock,
		"br hr wbr img input meta link area base col embed source track param": isVoid,
		"script style template noscript svg math select button textarea title iframe object noembed noframes " +
			"canvas audio video datalist head": isNever,
		"nav form":            isAside | isBlock,
		"header footer aside": isMargin | isBlock,
		"main article":        isMain,
		"h1 h2 h3":            isHead | isBlock,
		"noindex":             isQuiet,
		"base basefont bgsound head html link meta noframes noscript script style template title": isMeta,
		"a b big code em font i nobr s small strike strong tt u":                                  isFormatting,
		"applet button caption marquee object table td template th":                               isScope,
		"address div p":                      isPlain,
		"p":                                  isPara,
		"li":                                 isItem,
		"dd dt":                              isTerm,
		"td th":                              isCell,
		"tr":                                 isRow,
		"caption colgroup tbody tfoot thead": isRows,
		"caption colgroup":                   isCaption,
		"ruby":                               isRuby,
		"rb rp rt rtc":                       isReading,
		"table":                              isTable,
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = known{name, m[name].role | r}
		}
	}
	m["hr"] = known{"hr", m["hr"].role | isBlock}
	return m
}()

// implied lists which open elements a start tag ends, since their end tags are optional (HTML §13.1.2.4),
// and which elements around these it does not look beyond.
var implied = []struct{ of, ends, within role }{
	{isBlock | isAside, isPara, isScope},
	{isItem, isItem, isFirm},
	{isTerm, isTerm, isFirm},
	{isCell, isCell, isRow | isTable},
	{isRow, isCell | isRow, isTable},
	{isRows, isCell | isRow | isRows, isTable},
	{isRow | isCell, isCaption, isTable},
	{isReading, isReading, isRuby | isFirm},
}

// isFirm are the elements that keep an item of a list within them from ending.
const isFirm = isScope | isBlock | isAside | isNever

// textRules decide which elements have text.
type textRules struct {
	frugal bool // leave out what is not part of the main text
	main   int  // number of open elements with the main text
}

// here returns what an element with a role means at this place.
func (t *textRules) here(what role) role {
	if t.frugal && (what&isAside != 0 || what&isMargin != 0 && t.main == 0) {
		what |= isNever
	}
	return what
}

// withAttribute adds what an attribute of an element means.
func withAttribute[T string | []byte](t *textRules, what role, name, value T) role {
	switch {
	case equalFold(name, "role"):
		switch strings.ToLower(string(value)) {
		case "navigation", "banner", "contentinfo", "search", "complementary":
			if t.frugal && t.main == 0 {
				return what | isNever
			}
		case "main":
			return what | isMain
		}
	case equalFold(name, "hidden"):
		return what | isNever
	case equalFold(name, "aria-hidden"):
		if strings.EqualFold(string(value), "true") {
			return what | isNever
		}
	case equalFold(name, "data-nosnippet"):
		return what | isQuiet
	}
	return what
}

// textReader tracks open elements and collects the text.
type textReader struct {
	textRules
	r   *reader
	src []byte
	max int

	stack    []textElement
	never    int  // number of open elements that are left out
	headless bool // the head has ended, or there is none
	heads    int
	hidden   int

	buf    []byte
	spans  [][2]int
	head   bool
	blank  bool
	blocks []Block
	total  int
}

// textElement is an open element that affects the text.
type textElement struct {
	name string
	is   role // of its name
	what role // here, with its attributes
}

func (t *textReader) read(xml bool) {
	s := scanner{src: t.src, xml: xml, every: true}
	at := 0
	for inForeign := false; s.next() && t.total < t.max; inForeign = s.foreign.depth > 0 {
		tag := &s.tag
		if !inForeign {
			t.markup(at, tag.all.from)
		}
		at = tag.all.to
		switch {
		case s.foreign.depth > 0 || !xml && isForeign(tag): // SVG and MathML, which has no text, or its end
			continue
		case tag.end:
			t.close(tag)
			continue
		}
		t.open(tag, xml)
		if !tag.text.empty() && s.pos >= tag.text.to {
			at = tag.text.to
		}
	}
	if s.foreign.depth == 0 {
		t.markup(at, len(t.src))
	}
	t.flush()
}

// isForeign reports whether a tag is that of an svg or math element.
func isForeign(t *tag) bool { return t.id == tagSVG || t.id == tagMath }

// open handles a start tag.
func (t *textReader) open(tag *tag, xml bool) {
	name, what := lower(tag.name.of(t.src))
	if !xml {
		if name == "body" && t.headless {
			return
		}
		if what&isMeta == 0 {
			t.endHead()
		} else if t.headless && (name == "head" || name == "html") {
			return
		}
		if what&(isCell|isRow|isRows) != 0 && !t.inTable() {
			return
		}
		t.endImplied(what)
	}
	switch {
	case name == "br":
		t.append([]byte(" "))
		return
	case what&isBlock != 0:
		t.flush()
	}
	if what&isVoid != 0 || xml && tag.selfEnd {
		return
	}
	is := what
	what = t.here(what)
	for i := range tag.attrs {
		what = withAttribute(&t.textRules, what, tag.attrs[i].name.of(t.src), tag.attrs[i].value.of(t.src))
	}
	if what&^(isMeta|isFormatting) == 0 && !t.isOpen(name) || len(t.stack) == maxOpen {
		return
	}
	t.push(textElement{name, is, what})
}

// lower returns the name of an element in lower case, and its role.
func lower(raw []byte) (name string, what role) {
	var low [16]byte
	b := low[:copy(low[:], raw)]
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	if el, ok := roleOf[string(b)]; ok && len(raw) <= len(low) {
		return el.name, el.role
	}
	return strings.ToLower(string(raw)), 0
}

// endHead ends the head, whose end tag is optional, when something comes that it cannot contain.
func (t *textReader) endHead() {
	if n := len(t.stack) - 1; n >= 0 && t.stack[n].name == "head" {
		t.pop(n)
	}
	t.headless = t.headless || t.never == 0
}

// isOpen reports whether an element of a name is tracked: then those of that name within it are, so that its
// end tag is told from theirs.
func (t *textReader) isOpen(name string) bool {
	return slices.ContainsFunc(t.stack, func(el textElement) bool { return el.name == name })
}

// inTable reports whether a table is open; outside of one, the tags of its parts mean nothing.
func (t *textReader) inTable() bool {
	return slices.ContainsFunc(t.stack, func(el textElement) bool { return el.is&isTable != 0 })
}

// endImplied ends the elements whose end tags a start tag makes superfluous.
func (t *textReader) endImplied(what role) {
	for _, e := range implied {
		if what&e.of == 0 {
			continue
		}
		end := -1
		for i := len(t.stack) - 1; i >= 0; i-- {
			has := t.stack[i].is
			if has&e.ends != 0 {
				end = i
			} else if has&e.within != 0 && has&isPlain == 0 {
				break
			}
		}
		if end >= 0 {
			t.pop(end)
		}
	}
}

// maxOpen is the most open elements tracked.
const maxOpen = 512

func (t *textReader) push(el textElement) {
	t.stack = append(t.stack, el)
	t.count(el.what, 1)
}

func (t *textReader) count(what role, by int) {
	if what&isNever != 0 {
		t.never += by
	}
	if what&isMain != 0 {
		t.main += by
	}
	if what&isHead != 0 {
		t.heads += by
	}
	if what&isQuiet != 0 {
		t.hidden += by
	}
}

// pop closes the elements from n on.
func (t *textReader) pop(n int) {
	for _, el := range t.stack[n:] {
		if el.what&isBlock != 0 {
			t.flush()
		}
		t.count(el.what, -1)
	}
	t.stack = t.stack[:n]
}

// close handles an end tag.
func (t *textReader) close(tag *tag) { t.closeNamed(tag.name.of(t.src)) }

// closeNamed ends the innermost element of a name. As in browsers, an end tag within a cell of a table does
// not end what is around the table, and that of an inline element ends no block.
func (t *textReader) closeNamed(raw []byte) {
	name, what := lower(raw)
	if name == "body" || name == "html" { // what follows is in the body too
		t.endHead()
		t.flush()
		return
	}
	within := isScope
	switch {
	case what&isNever != 0 && what&isScope == 0, name == "template": // whatever is open in it
		within = 0
	case what&(isCell|isRow|isRows|isTable) != 0:
		within = isTable
	case what == 0:
		within = isFirm | isMain
	}
	for i := len(t.stack) - 1; i >= 0; i-- {
		el := &t.stack[i]
		switch {
		case el.name == name && el.is&isFormatting != 0: // it may end before what is in it
			t.count(el.what, -1)
			t.stack = slices.Delete(t.stack, i, i+1)
			return
		case el.name == name:
			t.pop(i)
			return
		case el.is&within != 0:
			return
		}
	}
}

// markup handles what is between two tags: text and comments.
func (t *textReader) markup(from, to int) {
	text := t.src[from:to]
	if t.never > 0 && len(t.stack) > 0 && t.stack[len(t.stack)-1].name == "head" && textIn(text) >= 0 {
		t.endHead()
	}
	if t.never > 0 || from >= to {
		return
	}
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

// textIn returns the offset of the first text between two tags, after blanks, comments and stray end tags; -1
// if there is none.
func textIn(b []byte) int {
	for at := 0; ; {
		for at < len(b) && class[b[at]]&blank != 0 {
			at++
		}
		switch rest := b[at:]; {
		case len(rest) == 0:
			return -1
		case bytes.HasPrefix(rest, []byte("<!--")):
			at = commentEnd(b, at+4)
		case rest[0] == '<' && len(rest) > 1 && strings.IndexByte("!?/", rest[1]) >= 0:
			at = indexFrom(b, at+2, ">")
		default:
			return at
		}
	}
}

// comment handles the comment form of Yandex's <noindex>: <!--noindex--> text <!--/noindex-->.
func (t *textReader) comment(b []byte) {
	switch {
	case len(b) > len("<!--/noindex-->"):
	case strings.EqualFold(string(b), "<!--noindex-->") && len(t.stack) < maxOpen:
		t.push(textElement{"noindex", isQuiet, isQuiet})
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

// append adds text to the block and collapses white space.
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
			case r == 0xAD || r == 0x200B || r == 0x2060 || r == 0xFEFF: // invisible characters, such as a soft hyphen
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

// upTo truncates spans at an octet.
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
		t.total += len(t.buf) // all of it, so that the limit counts as reached
	}
	t.buf, t.blank, t.head, t.spans = t.buf[:0], false, false, nil
}
