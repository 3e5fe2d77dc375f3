package htmlmeta

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// ourTags returns every tag that the scanner finds, one per line.
func ourTags(src []byte, each func(s *scanner, line string) bool) {
	s := scanner{src: src, every: true}
	r := new(reader)
	for s.next() {
		t := &s.tag
		var b strings.Builder
		if t.end {
			b.WriteByte('/')
		}
		b.Write(bytes.ToLower(t.name.of(src)))
		seen := map[string]bool{}
		for _, a := range t.attrs {
			key := strings.ToLower(string(a.name.of(src)))
			if t.end || seen[key] {
				continue // x/net does not scan their content
			}
			seen[key] = true
			value := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(a.value.of(src)))
			fmt.Fprintf(&b, " %s=%q", key, r.decode(nil, []byte(value), true))
		}
		if !each(&s, b.String()) {
			return
		}
	}
}

// netTag returns the next tag of the tokenizer of x/net in the same form.
func netTag(z *html.Tokenizer) (string, bool) {
	for {
		var b strings.Builder
		switch z.Next() {
		case html.ErrorToken:
			return "", false
		case html.EndTagToken:
			b.WriteByte('/')
		case html.StartTagToken, html.SelfClosingTagToken:
		default:
			continue
		}
		name, more := z.TagName()
		b.Write(name)
		for more {
			var key, val []byte
			key, val, more = z.TagAttr()
			if len(key) > 0 || len(val) > 0 {
				fmt.Fprintf(&b, " %s=%q", key, val)
			}
		}
		return b.String(), true
	}
}

// netEscapes matches where x/net ends the escaped state of a script too early: at a '<' that
// starts no tag name (HTML §13.2.5.23 stays in it).
var netEscapes = regexp.MustCompile(`(?is)<script.*<!--.*<[^a-z/]`)

// sameTags compares the scanner with the tokenizer of x/net, which is told what depends on the
// tree: that noscript is markup, and what is foreign content.
func sameTags(tb testing.TB, src []byte) {
	if netEscapes.Match(src) {
		return
	}
	z := html.NewTokenizer(bytes.NewReader(src))
	n := 0
	ourTags(src, func(s *scanner, line string) bool {
		want, ok := netTag(z)
		if !ok || want != line {
			tb.Errorf("tag %d of %.300q:\n got %s\nwant %s", n, src, line, want)
			return false
		}
		if s.tag.text.empty() && !s.tag.end || s.foreign.inside() || s.xml {
			z.NextIsNotRawText()
		}
		z.AllowCDATA(s.foreign.inside())
		n++
		return true
	})
	if want, ok := netTag(z); ok && !tb.Failed() {
		tb.Errorf("after %d tags of %.300q: want %s", n, src, want)
	}
}

// TestScannerOnCorpora checks that the tags and attributes of real pages are those of the
// tokenizer of x/net.
func TestScannerOnCorpora(t *testing.T) {
	for name := range corpora {
		t.Run(name, func(t *testing.T) {
			for _, page := range corpus(t, name, corpusStep()) {
				sameTags(t, page)
			}
		})
	}
}

var oddMarkup = []string{
	"<a", "<a ", "<a b", "<a b=", "<a b=c", "<a b='c", "<a b=c>", "<a b= c >", "<a b = 'c'd>", "<a =b=c>",
	"<a b==c>", "<a / b / >",
	"<a/>", "<a b=c/>", "<a b='c'/>", "<a b/>", "<A B=C>", "<a\tb\n=\rc>", "<a b=\"'\" c='\"'>", "<a b=<c>",
	"<a b=c'd\"e`f>", "<a b c>",
	"</a>", "</a b=c>", "</>", "</ >", "</ a>", "<//a>", "< a>", "<>", "<1>", "<é>", "<a<b>", "<a'b>", "</a",
	"</a b='", "<a></A>",
	"<!-->x<a>", "<!--->x<a>", "<!---->x<a>", "<!-- --!><a>", "<!-- -- ><a>--><b>", "<!-- --- ><a>---><b>",
	"<!--a--b--><c>", "<!--", "<!-", "<!",
	"<!-- <!-- --><a>", "<!x><a>", "<!doctype html><a>", "<!DOCTYPE a '>' ><b>", "<?x ?><a>", "<? '>' ><a>",
	"<![CDATA[<a>]]><b>", "<!a--><b>",
	"<script><a></script><b>", "<script></scriptx></script ><b>", "<script></script/><b>",
	"<script><!--</script><a>--><b>",
	"<script><!--<script></script><a></script><b>", "<script><!--<script>--></script><b>",
	"<script><!--<script/</script></script><b>",
	"<script><!--<scriptx></script><b>", "<script><!--><script></script><b>", "<script><!---><script></script><b>",
	"<script><!--x--><script></script><b>",
	"<script><!-- -- ></script><b>", "<script>", "<script></", "<script></script", "<SCRIPT></sCRIPT><b>",
	"<script/><a></script><b>",
	"<style><a></style><b>", "<title><a></title><b>", "<textarea><!--</textarea><a>", "<xmp><a></xmp><b>",
	"<iframe><a></iframe><b>", "<noembed><a></noembed><b>",
	"<noframes><a></noframes><b>", "<noscript><a></noscript><b>", "<plaintext><a></plaintext><b>",
	"<style></style x='>'><b>",
	"<svg><title><a></title></svg><b>", "<svg><style><a></style></svg><b>", "<svg><![CDATA[<a>]]></svg><b>",
	"<svg><script/><a></svg>", "<math><title/><a></math>",
	"<svg><foreignObject><title><a></title></foreignObject><title><b></title></svg>",
	"<svg><desc><style><a></style></desc><style><b></style></svg>",
	"<svg><p><title><a></title>", "<svg></p><title><a></title>", "<svg/><title><a></title>",
	"<svg><svg></svg><title><a></title></svg><title><b></title>",
	"<math><mi><title><a></title></mi><title><b></title></math>", "<div><svg></div><title><a></title>",
	"<a b='&amp;&lt;&notit;&not;&not&not=&copy2&#65;&#x41;&#65&;&&amp&#;&#x;&unknown;&semi;&NotEqualTilde;'>",
	"<a b=\"x\r\ny\rz\">", "<a\x0cb\x0c>",
	"<image><listing><a>", "<template><a></template><b>", "<a \xff=\xfe>", "x<", "x</", "<a>\x00<b \x00=c>",
}

func TestScannerOnOddMarkup(t *testing.T) {
	for _, src := range oddMarkup {
		if strings.Contains(src, "\x00") || strings.Contains(src, "\xff") {
			continue // x/net leaves NULs and invalid UTF-8 to its parser
		}
		sameTags(t, []byte(src))
	}
}

// FuzzScanner makes the same comparison for any input.
func FuzzScanner(f *testing.F) {
	for _, src := range oddMarkup {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<12 || bytes.IndexByte(src, 0) >= 0 || bytes.ContainsAny(src, "\x80\xff") {
			return
		}
		for _, c := range src {
			if c >= 0x80 {
				return
			}
		}
		sameTags(t, src)
	})
}
