package replay

import (
	"bytes"
	_ "embed"
	"net/http"
	"strings"

	"curtsy/htmlmeta"
	"curtsy/publish"
)

// maxRewrite is the largest document whose references are rewritten, in octets.
// A larger one is served as it is: what it asks for elsewhere is refused.
const maxRewrite = 32 << 20

//go:embed ui/guard.js
var guardScript string

// guardHead is put in at the beginning of each page that may run scripts.
var guardHead = "<script>//<![CDATA[\n" + strings.TrimSpace(guardScript) + "\n//]]></script>"

// rewrite makes the references of a document lead to this server.
func (s *Server) rewrite(a address, c *capture, h http.Header, body []byte) []byte {
	permit := publish.Permit(c.permit)
	o := htmlmeta.Rewriting{Ref: func(r htmlmeta.Reference) (htmlmeta.Change, string) { return reference(a.ts, r) }, NoTranslate: !permit.Translate}
	if !s.o.NoScripts {
		o.Head = guardHead
	}
	u := urlsOf(c.URL)
	if len(u) == 0 {
		return body
	}
	return dropRules(htmlmeta.Rewrite(htmlmeta.Page{URL: u[0], Header: h, Body: body}, o).Body)
}

// reference says where a reference leads.
func reference(ts string, r htmlmeta.Reference) (htmlmeta.Change, string) {
	if r.Kind == htmlmeta.Alternate {
		return htmlmeta.Leave, "" // said of the live site; nothing loads it
	}
	words := " " + r.Rel + " "
	if r.Kind == htmlmeta.Hint || strings.Contains(words, " manifest ") || strings.Contains(words, " prerender ") {
		return htmlmeta.Silent, r.URL.String()
	}
	to := pathTo(ts, r.URL)
	if !strings.Contains(r.Text, "://") {
		// Styles tell links that lead elsewhere by it: a[href*="://"].
		to = strings.Replace(to, "://", ":/", 1)
	}
	return htmlmeta.Local, to + fragment(r.Fragment)
}

// fragment is safe in lists, styles and attributes.
func fragment(s string) string {
	return listed.Replace(strings.NewReplacer(" ", "%20", `"`, "%22", "<", "%3C", ">", "%3E", "\n", "", "\t", "", "\r", "").Replace(s))
}

// dropRules makes speculation rules what no browser reads as such: the type of
// their script. The frame refuses what they ask for; this spares the asking.
func dropRules(body []byte) []byte {
	const word, tag = "speculationrules", "<script"
	for at := 0; ; at += len(word) {
		i := indexFold(body[at:], word)
		if i < 0 {
			return body
		}
		at += i
		open := bytes.LastIndexAny(body[:at], "<>")
		if open >= 0 && len(body)-open > len(tag) && strings.EqualFold(string(body[open:open+len(tag)]), tag) {
			copy(body[at:], "x-inert")
		}
	}
}

func indexFold(b []byte, word string) int {
	for from := 0; ; {
		i := bytes.IndexAny(b[from:], word[:1]+strings.ToUpper(word[:1]))
		if i < 0 || len(b)-from-i < len(word) {
			return -1
		}
		if strings.EqualFold(string(b[from+i:from+i+len(word)]), word) {
			return from + i
		}
		from += i + 1
	}
}
