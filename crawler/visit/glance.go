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

// Glance is what must be known of an imported response before it is stored. It is kept cheap, as imports
// are large.
type Glance struct {
	Forbids *crawllog.Directives // not nil: the directives that forbid archiving it
	// Body is the value for crawllog.Visit.Body if the document after its head contains nothing but
	// links (Attempt.HeadOnly); "" if it must be read.
	Body string
}

// Glance examines a response. It parses the document only if it contains a word that may forbid archiving
// it.
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

// mentions reports whether a document contains noarchive or nocache in a usual spelling. Other spellings
// are found when the page is read, and keep it from being shown.
func mentions(body []byte) bool {
	return slices.ContainsFunc([]string{"oarchive", "oArchive", "OARCHIVE", "ocache", "oCache", "OCACHE"},
		func(word string) bool { return bytes.Contains(body, []byte(word)) })
}

// MaxHead is how many octets of a document are searched for the end of its head.
const MaxHead = 16 << 10

// headOf returns the beginning of a document, with all its metadata.
func headOf(kind htmlmeta.Kind, body []byte) []byte {
	if kind != htmlmeta.HTML {
		return body[:min(len(body), 200)] // enough for a style sheet's charset
	}
	return htmlmeta.HeadOf(body[:min(len(body), MaxHead)])
}

// hasTag reports whether b begins with name, ignoring case.
func hasTag(b []byte, name string) bool {
	return len(b) >= len(name) && strings.EqualFold(string(b[:len(name)]), name)
}

// isRest reports whether the document after its head contains only links and visible text, and enough of
// that to be a page. Style sheets and scripts contain links only.
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
