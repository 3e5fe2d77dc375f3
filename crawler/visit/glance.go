package visit

import (
	"bytes"
	"slices"
	"strings"

	"curtsy/crawler/fetch"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// Glance is what has to be known of a response that somebody else kept, of which there may
// be many, before it is kept here.
type Glance struct {
	Forbids *crawllog.Directives // not nil: what it says of crawlers, which forbids keeping it
	// Body is crawllog.Visit.Body where nothing but links is in the document behind its
	// head (Attempt.HeadOnly); "" where it has to be read.
	Body string
}

// Glance looks at a response without reading its document, unless there is a word in it
// that may forbid keeping it.
func (r *Reader) Glance(u weburl.URL, x *fetch.Exchange) (g Glance) {
	p, kind, cut := htmlmeta.Page{URL: u, Header: x.Header}, x.Header.Get("Content-Type"), false
	var err error
	if Readable(kind) {
		p.Body, cut, err = x.Decoded(r.opts.MaxParse)
	}
	_, n := x.Payload()
	if n > 0 && !cut && err == nil && x.Verify() == nil && (!Readable(kind) || isRest(p)) {
		g.Body, p.Body = crawllog.BodyWhole, headOf(htmlmeta.KindOf(p.Header, p.Body), p.Body)
	}
	if !mentions(p.Body) {
		p.Body = nil
	}
	if p.Body == nil && x.Header.Get("X-Robots-Tag") == "" && x.Header.Get("Robots-Tag") == "" {
		return g
	}
	if said := htmlmeta.Read(p, r.reading()); said.Directives.NoArchive {
		g.Forbids = directivesOf(&said.Directives)
	}
	return g
}

// mentions says whether a document has a word that would forbid it, in the cases in which
// people write it. In another case it is found when the page is read, and keeps it from
// being shown.
func mentions(body []byte) bool {
	return slices.ContainsFunc([]string{"oarchive", "oArchive", "OARCHIVE", "ocache", "oCache", "OCACHE"},
		func(word string) bool { return bytes.Contains(body, []byte(word)) })
}

// MaxHead is how much of a document is looked at for where its head ends.
const MaxHead = 16 << 10

// headOf is the beginning of a document, with all that it says of itself.
func headOf(kind htmlmeta.Kind, body []byte) []byte {
	if kind != htmlmeta.HTML {
		return body[:min(len(body), 200)] // a style sheet's charset
	}
	return htmlmeta.HeadOf(body[:min(len(body), MaxHead)])
}

// hasTag says whether the name of a tag begins so.
func hasTag(b []byte, name string) bool {
	return len(b) >= len(name) && strings.EqualFold(string(b[:len(name)]), name)
}

// isRest says whether what stands behind the head of a document is nothing but links and
// what people see, and is enough of that to be a page. Style sheets and scripts have links only.
func isRest(p htmlmeta.Page) bool {
	kind := htmlmeta.KindOf(p.Header, p.Body)
	if kind == htmlmeta.CSS || kind == htmlmeta.Script {
		return len(bytes.TrimSpace(p.Body)) > 0
	}
	head := headOf(kind, p.Body)
	rest := p.Body[len(head):]
	declared := strings.Contains(strings.ToLower(p.Header.Get("Content-Type")), "charset=") ||
		bytes.Contains(head, []byte("charset=")) && !bytes.Contains(p.Body[:min(len(p.Body), 100)], []byte{0})
	if !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") || !declared ||
		!bytes.HasPrefix(rest, []byte("<")) || bytes.Contains(rest, []byte("srcdoc")) ||
		shownText(rest[:min(len(rest), MaxHead-len(head))]) <= maxChallengeText {
		return false
	}
	for {
		i := bytes.IndexByte(rest, '<')
		if i < 0 {
			return true
		}
		rest = rest[i+1:]
		if len(rest) == 0 || !strings.ContainsRune("mMlLbB/tThH", rune(rest[0])) {
			continue
		}
		for _, name := range []string{"meta", "link", "base", "title", "html", "/head>"} {
			if hasTag(rest, name) {
				return false
			}
		}
	}
}
