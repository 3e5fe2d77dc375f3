package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/http/httpguts"

	"curtsy/htmlmeta"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/usage"
)

// maxInspected is the most bytes read of a document.
const maxInspected = 64 << 20

// inspectFlags are the flags of `curtsy inspect`.
type inspectFlags struct {
	headers, agents []string
	base, contact   string
	selector        string
	tdmrep          string
	json, strict    bool
}

// inspectFacts is the JSON output for a document.
type inspectFacts struct {
	Index            bool          `json:"index"`
	Follow           bool          `json:"follow"`
	Archive          bool          `json:"archive"`
	Snippet          bool          `json:"snippet"`
	MaxSnippet       *int          `json:"max_snippet"`
	ImageIndex       bool          `json:"image_index"`
	Translate        bool          `json:"translate"`
	UnavailableAfter *string       `json:"unavailable_after"`
	Canonical        string        `json:"canonical"`
	Base             string        `json:"base"`
	Lang             string        `json:"lang"`
	Charset          string        `json:"charset"`
	Title            string        `json:"title"`
	Links            []inspectLink `json:"links"`
	Warnings         []string      `json:"warnings"`
	usage.Summary
}

type inspectLink struct {
	URL  string `json:"url"`
	Tag  string `json:"tag"`
	Attr string `json:"attr"`
	Rel  string `json:"rel"`
	Kind string `json:"kind"`
}

// inspectCmd reports what a page tells crawlers.
func inspectCmd(u *ui) *cobra.Command {
	f := inspectFlags{agents: []string{"curtsy"}}
	list := vars{"header": &f.headers, "base": &f.base, "agent": &f.agents, "contact": &f.contact,
		"tdmrep": &f.tdmrep, "select": &f.selector, "strict": &f.strict, "json": &f.json}
	return newCommand("inspect FILE|URL", list, func(c *cobra.Command, a []string) error {
		return u.inspect(c, a[0], f)
	})
}

func (u *ui) inspect(c *cobra.Command, name string, f inspectFlags) error {
	if err := checkAgents(f.agents); err != nil {
		return err
	}
	header, err := headerOf(f.headers)
	if err != nil {
		return err
	}
	page, err := u.inspected(c, name, f.contact, header)
	if err != nil {
		return err
	}
	if f.base != "" {
		if page.URL, err = weburl.Parse(f.base); err != nil {
			return usagef("curtsy inspect --help", "--base %s: %v", f.base, err)
		}
	}
	if c.Flags().Changed("select") {
		return u.inspectSelected(page, f)
	}
	doc := htmlmeta.Read(page, htmlmeta.Options{Agents: f.agents})
	if err := f.readTDMRep(page.URL, &doc.Directives); err != nil {
		return err
	}
	warnings := inspectWarnings(page)
	if f.json {
		facts := inspectFactsOf(doc)
		facts.Warnings = warnings
		u.json(facts)
		return strictly(f.strict, len(warnings))
	}
	u.inspectReport(doc)
	for _, w := range warnings {
		u.say("warning: %s", w)
	}
	if page.URL.IsZero() && doc.Base.IsZero() && doc.Skipped.Invalid > 0 {
		u.say("relative links cannot be resolved without the page's own URL")
		u.say("  try: curtsy inspect %s --base https://example.com/page", quoted(name))
	}
	return strictly(f.strict, len(warnings))
}

// strictly turns warnings into an error, for --strict.
func strictly(strict bool, warnings int) error {
	if !strict || warnings == 0 {
		return nil
	}
	return exitWith(exitFailed, errors.New(legible.Count(warnings, "warning")), "")
}

// inspectWarnings lists what has no effect: misspelt directives in meta robots and
// X-Robots-Tag, and a second canonical URL.
func inspectWarnings(page htmlmeta.Page) []string {
	list := []string{}
	for _, line := range page.Header.Values(htmlmeta.FromHeader) {
		for _, w := range htmlmeta.Misspelt(line) {
			list = append(list, htmlmeta.FromHeader+": "+w)
		}
	}
	var canonicals []string
	for _, n := range htmlmeta.Read(page, htmlmeta.Options{}).Notes {
		switch n.Name {
		case htmlmeta.NoteRobots:
			for _, w := range htmlmeta.Misspelt(n.Text) {
				list = append(list, "meta robots: "+w)
			}
		case htmlmeta.NoteCanonical:
			canonicals = append(canonicals, n.Text)
		}
	}
	if len(canonicals) > 1 {
		list = append(list, "several canonical URLs, none of which counts: "+strings.Join(canonicals, ", "))
	}
	return list
}

// readTDMRep adds the statements of the site's tdmrep.json.
func (f *inspectFlags) readTDMRep(url weburl.URL, d *htmlmeta.Directives) error {
	if f.tdmrep == "" {
		return nil
	}
	if url.IsZero() {
		return usagef("curtsy inspect FILE --tdmrep tdmrep.json --base https://example.com/page",
			"--tdmrep needs the page's own URL")
	}
	body, err := os.ReadFile(f.tdmrep)
	if err != nil {
		return fileError(err)
	}
	r := usage.IsFile("/.well-known/tdmrep.json")
	file, err := r.ReadFile(body)
	if err != nil {
		return exitWith(exitFailed, fmt.Errorf("%s: %w", f.tdmrep, err), `[{"location": "/", "tdm-reservation": 1}]`)
	}
	d.Usage = append(r.OfFile(file, url.Target(), rules.Matches), d.Usage...)
	return nil
}

// headerOf parses header lines.
func headerOf(lines []string) (http.Header, error) {
	h := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || !httpguts.ValidHeaderFieldName(name) {
			return nil, usagef("curtsy inspect FILE --header 'X-Robots-Tag: noindex'",
				"--header %q: expected 'Name: value'", line)
		}
		h.Add(name, strings.Trim(value, " \t\r\n"))
	}
	return h, nil
}

// inspected reads the document. The type of a file follows from its name, unless a header gives
// one.
func (u *ui) inspected(c *cobra.Command, name, contact string, header http.Header) (htmlmeta.Page, error) {
	if isURL(name) {
		return fetchPage(c.Context(), u, name, contact, header)
	}
	in, err := u.open(name)
	if err != nil {
		return htmlmeta.Page{}, err
	}
	defer in.Close()
	if t := typeOfName[strings.ToLower(filepath.Ext(name))]; t != "" && header.Get("Content-Type") == "" {
		header.Set("Content-Type", t)
	}
	body, err := io.ReadAll(io.LimitReader(in, maxInspected))
	if err != nil {
		return htmlmeta.Page{}, fileError(err)
	}
	return htmlmeta.Page{Header: header, Body: body}, nil
}

var typeOfName = map[string]string{".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml",
	".xht": "application/xhtml+xml", ".css": "text/css", ".svg": "image/svg+xml", ".pdf": "application/pdf"}

func inspectFactsOf(doc htmlmeta.Document) inspectFacts {
	d := doc.Directives
	f := inspectFacts{
		Index: !d.NoIndex, Follow: !d.NoFollow, Archive: !d.NoArchive, Snippet: d.MaxSnippet == nil ||
			*d.MaxSnippet > 0,
		ImageIndex: !d.NoImageIndex, Translate: !d.NoTranslate, MaxSnippet: d.MaxSnippet,
		Canonical: doc.Canonical.String(), Base: doc.Base.String(),
		Lang: doc.Lang, Charset: doc.Charset, Title: doc.Title,
		Links: make([]inspectLink, 0, len(doc.Links)), Summary: usage.Summarize(d.Usage),
	}
	if d.UnavailableAfter != nil {
		s := d.UnavailableAfter.UTC().Format(time.RFC3339)
		f.UnavailableAfter = &s
	}
	for _, l := range doc.Links {
		f.Links = append(f.Links, inspectLink{l.URL.String(), l.Tag, l.Attr, l.Rel, l.Kind.String()})
	}
	return f
}

// inspectReport prints the document for people.
func (u *ui) inspectReport(doc htmlmeta.Document) {
	d := doc.Directives
	u.print("%-14s %s", "kind", doc.Kind)
	for _, line := range [][2]string{
		{"title", doc.Title}, {"language", doc.Lang}, {"charset", doc.Charset},
		{"base", doc.Base.String()}, {"canonical", doc.Canonical.String()},
	} {
		if line[1] != "" {
			u.print("%-14s %s", line[0], line[1])
		}
	}
	u.print("%-14s %s", "directives", asked(d))
	for _, s := range d.Sources {
		u.print("  %-18s %s", s.Directive, foundIn(s))
	}
	u.printUsage("use            ", usage.Summarize(d.Usage))
	u.print("%-14s %d%s", "links", len(doc.Links), skippedLinks(doc))
	for _, l := range doc.Links {
		u.print("  %-9s %s  (%s)", l.Kind, l.URL, placeOf(l))
	}
}

// asked lists the restrictive directives, in the owner's words.
func asked(d htmlmeta.Directives) string {
	var words []string
	for word, forbids := range d.Words() {
		if *forbids {
			words = append(words, word)
		}
	}
	none := d.MaxSnippet != nil && *d.MaxSnippet == 0
	if none {
		words = append(words, "nosnippet")
	}
	if d.MaxSnippet != nil && !none || d.UnavailableAfter != nil {
		words = append(words, "limits")
	}
	if len(words) == 0 {
		return "none: index, follow, archive"
	}
	return strings.Join(words, ", ")
}

// foundIn says where a directive is.
func foundIn(s htmlmeta.Source) string {
	switch {
	case s.From != htmlmeta.FromMeta:
		return s.From + ": " + s.Text
	case s.Agent != "":
		return `<meta name="` + s.Agent + `" content="` + s.Text + `">`
	}
	return `<meta name="robots" content="` + s.Text + `">`
}

func placeOf(l htmlmeta.Link) string {
	place := l.Tag + " " + l.Attr
	if l.Rel != "" {
		place += ", rel " + l.Rel
	}
	if l.NoFollow {
		place += ", not to be followed"
	}
	return place
}

// skippedLinks formats the counts of links that are not listed.
func skippedLinks(doc htmlmeta.Document) string {
	list := some([]counted{{doc.Skipped.Scheme, "of other schemes"}, {doc.Skipped.TooLong, "too long"},
		{doc.Skipped.Invalid, "not URLs"}})
	if doc.Capped {
		list = append(list, "list cut off")
	}
	return strings.Join(append([]string{""}, list...), ", ")
}

// selectedFacts is the JSON output for an element matched by --select.
type selectedFacts struct {
	Tag   string            `json:"tag"`
	Text  string            `json:"text"`
	Attrs map[string]string `json:"attrs"`
}

// inspectSelected prints the elements matched by a selector: tag, attributes and text.
func (u *ui) inspectSelected(page htmlmeta.Page, f inspectFlags) error {
	list, err := htmlmeta.Query(page, f.selector)
	if err != nil {
		return usagef("curtsy inspect page.html --select 'main a[href]'", "%v", err)
	}
	for _, s := range list {
		if f.json {
			attrs := map[string]string{}
			for _, a := range s.Attrs {
				attrs[a.Key] = a.Val
			}
			u.json(selectedFacts{s.Tag, s.Text, attrs})
			continue
		}
		tag := s.Tag
		for _, a := range s.Attrs {
			tag += fmt.Sprintf(" %s=%q", a.Key, a.Val)
		}
		u.print("%s", strings.TrimRight("<"+tag+">  "+s.Text, " "))
	}
	if len(list) == 0 {
		u.say("nothing in the page matches %s", quoted(f.selector))
	}
	return nil
}
