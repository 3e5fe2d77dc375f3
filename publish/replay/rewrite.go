package replay

import (
	"bytes"
	"context"
	_ "embed"
	"net/http"
	"strings"

	"curtsy/htmlmeta"
	"curtsy/internal/follow"
	"curtsy/internal/weburl"
	"curtsy/publish"
)

// maxRewrite is the largest document, in octets, whose references are rewritten. Larger ones
// are served unchanged, and their policy blocks requests to elsewhere.
const maxRewrite = 32 << 20

//go:embed ui/guard.js
var guardScript string

//go:embed ui/links.js
var linksScript string

// guardHead is inserted at the beginning of each page that may run scripts.
var guardHead = "<script>//<![CDATA[\n" + strings.TrimSpace(guardScript) + "\n" + follow.With(linksScript) +
	"//]]></script>"

// maxGrowth is by how many octets a document may grow by rewriting; one that grows more is
// served unchanged.
const maxGrowth = 24 << 20

// rewrite rewrites the references of a document to this server. It stops when ctx ends.
func (s *Server) rewrite(ctx context.Context, a address, c *capture, h http.Header, body []byte) ([]byte, error) {
	permit := publish.Permit(c.permit)
	grown := 0
	o := htmlmeta.Rewriting{NoTranslate: !permit.Translate, Stop: func() bool {
		return grown > maxGrowth ||
			ctx.Err() != nil
	},
		Ref: func(r htmlmeta.Reference) (htmlmeta.Change, string) {
			change, to := reference(a, r, c.Rendered != nil)
			grown += max(0, len(to)-len(r.Text))
			return change, to
		}}
	if !s.o.NoScripts {
		o.Head = guardHead
	}
	u := urlsOf(c.URL)
	if len(u) == 0 {
		return body, nil
	}
	page := htmlmeta.Rewrite(htmlmeta.Page{URL: u[0], Header: h, Body: body}, o)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case page.Partial:
		return nil, errLarge
	}
	return dropRules(page.Body), nil
}

// reference decides how a reference is rewritten.
func reference(a address, r htmlmeta.Reference, still bool) (htmlmeta.Change, string) {
	if weburl.IsRoute(r.Fragment) {
		route, part := weburl.CutRoute(r.Fragment)
		switch {
		case still: // without scripts, a route is a page of its own
			return htmlmeta.Local, a.pathTo(r.URL) + fragment(strings.Replace(route, "#", routeMark, 1)+part)
		case strings.HasPrefix(r.Text, "#"):
			return htmlmeta.Leave, ""
		}
	}
	if r.Kind == htmlmeta.Alternate {
		return htmlmeta.Leave, "" // a statement about the live site; browsers do not load it
	}
	words := " " + r.Rel + " "
	if r.Kind == htmlmeta.Hint || strings.Contains(words, " manifest ") || strings.Contains(words, " prerender ") {
		return htmlmeta.Silent, r.URL.String()
	}
	to := a.pathTo(r.URL)
	if !strings.Contains(r.Text, "://") {
		// Style sheets detect external links by a[href*="://"].
		to = strings.Replace(to, "://", ":/", 1)
	}
	return htmlmeta.Local, to + fragment(r.Fragment)
}

// fragment encodes a fragment for lists, styles and attributes.
func fragment(s string) string {
	return listed(strings.NewReplacer(" ", "%20", `"`, "%22", "<", "%3C", ">", "%3E", "\n", "", "\t", "", "\r",
		"").Replace(s))
}

// dropRules disables speculation rules by changing the type of their script element. The policy
// would refuse the requests anyway; this avoids them.
func dropRules(body []byte) []byte {
	const word, tag = "speculationrules", "<script"
	open := -1 // the last < or > before at
	for at := 0; ; at += len(word) {
		i := indexFold(body[at:], word)
		if i < 0 {
			return body
		}
		if j := bytes.LastIndexAny(body[at:at+i], "<>"); j >= 0 {
			open = at + j
		}
		at += i
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
