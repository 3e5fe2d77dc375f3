package mirror

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish/inventory"
)

//go:embed report.html
var reportPage string

// marker is the place of the sections in report.html.
const marker = "<!--sections-->"

// headings are the sections of the report, in order.
var headings = []struct {
	section section
	title   string
	says    string
}{
	{absent, "Withheld", "fetched, and left out as their pages ask; links to these lead to the live site"},
	{broken, "Broken on the site", "the site's own links that lead nowhere, with the pages they are on"},
	{needsHTTP, "May need a web server", "these use modules, workers or parts of other images, or contain scripts " +
		"that may load files (fetch, XMLHttpRequest), which browsers refuse for files on a disk; behind a web " +
		"server, such as curtsy mirror --serve, they work as far as the files are in this mirror"},
	{cutOff, "Incomplete", "the response was cut off, could not be decoded, or was too large to rewrite"},
	{unfetched, "Not fetched", "known to the crawl but not in the archive"},
	{external, "Other sites", "links that lead out of this mirror"},
}

// writeReport writes mirror-report.html.
func (w *writer) writeReport(r *Result) error {
	return w.piped(ReportFile, func(to io.Writer) error { return w.encodeReport(to, r) })
}

// noteAbsent records what is broken or has no file.
func (w *writer) noteAbsent(found []*inventory.Target) error {
	for i := range w.s.list {
		switch e := &w.s.list[i]; {
		case e.state == left && e.why() != noBody:
			w.notes.add(unfetched, e.url.String(), e.why(), "")
		case e.state == withheld:
			w.notes.add(absent, e.url.String(), e.why(), "")
		case e.bad:
			w.notes.add(cutOff, e.url.String(), e.why(), "")
		}
	}
	for _, t := range found {
		w.notes.with(broken, t.URL, t.Reason, func(r *row) {
			r.pages, r.count, r.unlisted = t.On,
				t.Links-t.Hidden, t.Hidden
		})
	}
	return w.s.o.Left(func(l Left) error {
		if rule := l.Reason.Rule; judge.Belongs(rule) && rule != judge.CleanParam && rule != judge.HTTP &&
			rule != judge.Location {
			w.notes.add(unfetched, l.URL, strings.TrimSuffix(l.State+": "+l.Reason.String(), ": "), "")
		}
		return nil
	})
}

func (w *writer) encodeReport(to io.Writer, r *Result) error {
	head, tail, _ := strings.Cut(reportPage, marker)
	b := bufio.NewWriter(to)
	seed := visible(w.s.o.Seed.String())
	b.WriteString(strings.ReplaceAll(head, "{{seed}}", seed))
	fmt.Fprintf(b, "<p class=sum>%s, of them %s; %s. Fetched until %s.", legible.Count(r.Files, "file"),
		legible.Count(r.Pages, "page"), legible.Count(r.Redirects, "redirect"),
		w.s.last.UTC().Format("2006-01-02 15:04 UTC"))
	if !r.Complete {
		fmt.Fprintf(b, " <strong>The crawl is not complete: %s.</strong>", visible(r.Why))
	}
	fmt.Fprintf(b, " Links to the live site whose page is here: %d.</p>\n", r.Live)
	if n := w.notes.modules.Load(); n > 0 {
		pages := fmt.Sprintf("%d pages use modules", n)
		if n == 1 {
			pages = "1 page uses modules"
		}
		fmt.Fprintf(b, "<p class=warn>%s, which browsers refuse for files on a disk: open this mirror with "+
			"<code>curtsy mirror --serve</code>, or from any web server.</p>\n", pages)
	}
	if n := w.countUnlisted(); n > 0 {
		fmt.Fprintf(b, "<p class=sum>%d of the URLs visited must not be listed and are not named here; "+
			"<code>curtsy explain</code> shows the result of each.</p>\n", n)
	}
	for _, h := range headings {
		w.encodeSection(b, h.section, h.title, h.says)
	}
	w.encodeRedirects(b)
	b.WriteString(tail)
	return b.Flush()
}

func (w *writer) encodeSection(b *bufio.Writer, in section, title, says string) {
	urls, hidden := w.listed(in)
	begin(b, title, says, "On pages", len(urls), hidden, w.notes.more[in] || len(urls) > maxRows)
	for _, u := range urls[:min(len(urls), maxRows)] {
		r := w.notes.rows[in][u]
		fmt.Fprintf(b, "<tr><td>%s<td>%s<td>", anchor(u), visible(r.why))
		if in == broken || in == external {
			pages(b, w.s, r)
		}
		b.WriteString("\n")
	}
	end(b, len(urls))
}

// listed returns the URLs of a section that may be published, and the number of the others. The
// report is published with the tree, so noindex and expired pages must not be in it. The
// explain command tells about them.
func (w *writer) listed(in section) (urls []string, hidden int) {
	all := w.notes.sorted(in)
	urls = slices.DeleteFunc(all, func(u string) bool { return w.s.unlisted(w.s.find(weburl.FromCanonical(u))) })
	return urls, len(all) - len(urls)
}

func (w *writer) countUnlisted() int {
	n := 0
	for i := range w.s.list {
		if w.s.unlisted(i) {
			n++
		}
	}
	return n
}

// pages writes the pages that a reference is on as links into the mirror.
func pages(b *bufio.Writer, s *site, r *row) {
	for i, p := range r.pages {
		if i > 0 {
			b.WriteString("<br>")
		}
		href := p
		if j, known := s.at[p]; known {
			href = encodePath(s.list[j].file)
		}
		fmt.Fprintf(b, `<a href="%s">%s</a>`, visible(href), visible(p))
	}
	if n := r.count - len(r.pages); n > 0 {
		fmt.Fprintf(b, "<br>and on %d more", n)
	}
	if r.unlisted > 0 {
		if r.count > 0 {
			b.WriteString("<br>and ")
		}
		fmt.Fprintf(b, "on %d not named", r.unlisted)
	}
}

func (w *writer) encodeRedirects(b *bufio.Writer) {
	var rows []*entry
	hidden := 0
	for i := range w.s.list {
		switch e := &w.s.list[i]; {
		case e.state != moved:
		case w.namesUnlisted(i):
			hidden++
		default:
			rows = append(rows, e)
		}
	}
	begin(b, "Redirects", "links to the URL on the left go straight to the page on the right", "Leads to", len(rows),
		hidden, len(rows) > maxRows)
	for _, e := range rows[:min(len(rows), maxRows)] {
		if e.final >= 0 {
			f := &w.s.list[e.final]
			fmt.Fprintf(b, "<tr><td>%s<td><td><a href=\"%s\">%s</a>\n", anchor(e.url.String()), encodePath(f.file),
				visible(f.url.String()))
		} else {
			fmt.Fprintf(b, "<tr><td>%s<td>%s<td>%s\n", anchor(e.url.String()),
				visible(cmp.Or(e.why(), "leads out of the mirror")), anchor(e.to().String()))
		}
	}
	end(b, len(rows))
}

// namesUnlisted reports whether source or target of a redirect must not be published.
func (w *writer) namesUnlisted(i int) bool {
	e := &w.s.list[i]
	if e.final >= 0 {
		return w.s.unlisted(i) || w.s.unlisted(int(e.final))
	}
	return w.s.unlisted(i) || w.s.unlisted(w.s.find(e.to()))
}

// begin writes the head of a section with n rows, whose last column is third; hidden rows are
// left out.
func begin(b *bufio.Writer, title, says, third string, n, hidden int, more bool) {
	count := fmt.Sprint(n + hidden)
	if more {
		count = fmt.Sprintf("the first %d", maxRows)
	}
	fmt.Fprintf(b, "<details%s><summary><h2>%s <small>%s</small></h2></summary><p>%s</p>\n",
		map[bool]string{true: " open", false: ""}[n > 0 && n <= summaryRows], title, count, says)
	if hidden > 0 {
		fmt.Fprintf(b, "<p>%d not named, because they must not be listed</p>\n", hidden)
	}
	if n > 0 {
		b.WriteString("<table><thead><tr><th scope=\"col\">URL<th scope=\"col\">Reason<th scope=\"col\">" + third +
			"</thead><tbody>\n")
	}
}

func end(b *bufio.Writer, n int) {
	if n > 0 {
		b.WriteString("</tbody></table>\n")
	}
	b.WriteString("</details>\n")
}

// anchor writes a link to the live site.
func anchor(u string) string {
	return fmt.Sprintf(`<a rel="noreferrer" href="%s">%s</a>`, visible(u), visible(u))
}
