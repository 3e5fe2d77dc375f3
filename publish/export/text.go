package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"curtsy/htmlmeta"
	"curtsy/publish"
	"curtsy/publish/article"
	"curtsy/publish/markdown"
	"curtsy/storage/crawllog"
)

// maxText is the most octets exported of a page's text.
const maxText = 1 << 20

// readPage calls use with a page, or with the part of it that can be decoded, if any.
func (j *job) readPage(v *crawllog.Visit, use func(htmlmeta.Page)) error {
	p, err := publish.ReadPage(j.a, v)
	if !publish.IsOfArchive(err) && p.Header != nil {
		use(p)
	}
	return publish.OfArchive(err)
}

func blocksOf(p htmlmeta.Page, main bool) []htmlmeta.Block {
	if main {
		return article.Blocks(p, htmlmeta.ReadText(p, maxText))
	}
	return htmlmeta.ReadWholeText(p, maxText)
}

// joined returns the displayable text, one block per line.
func joined(blocks []htmlmeta.Block) string { return strings.Join(linesOf(blocks), "\n") }

// writeText writes the text of all pages that may be listed and quoted in full, in the order of
// the archive, each after its front matter.
func writeText(j *job) error {
	textOf := j.plainText
	if j.o.Format == MD {
		w := markdown.NewWriter(!j.o.Main)
		textOf = func(p htmlmeta.Page, title string) string { return markdownOf(w, p, title) }
	}
	written := 0
	err := j.captures(func(m *member) error {
		if m.flags&flagText == 0 {
			j.r.Withheld++
			return nil
		}
		text := ""
		if err := j.readPage(m.v, func(p htmlmeta.Page) { text = textOf(p, m.v.Title) }); err != nil {
			return err
		}
		written++
		writeFront(j.w, m)
		fmt.Fprintf(j.w, "%s\n\n", text)
		return nil
	})
	j.r.Captures, j.r.Pages = written, written
	return err
}

// writeFront writes the YAML front matter of a page. w reports errors when it is flushed.
func writeFront(w *bufio.Writer, m *member) {
	v := m.v
	fmt.Fprintf(w, "---\nurl: %q\ntitle: %q\ncaptured: %s\n", v.URL, v.Title, v.At.UTC().Format(time.RFC3339))
	if v.Lang != "" {
		fmt.Fprintf(w, "lang: %q\n", v.Lang)
	}
	if len(m.use) > 0 {
		use, _ := json.Marshal(m.use) // cannot fail for strings; JSON is valid YAML
		fmt.Fprintf(w, "usage: %s\n", use)
	}
	fmt.Fprint(w, "---\n\n")
}

// plainText extracts the text of a page, with an empty line after each block.
func (j *job) plainText(p htmlmeta.Page, _ string) string {
	return strings.ReplaceAll(joined(blocksOf(p, j.o.Main)), "\n", "\n\n")
}

// markdownOf converts a page to Markdown, and puts its title on top if it begins without a
// heading.
func markdownOf(w *markdown.Writer, p htmlmeta.Page, title string) string {
	text := w.Of(p, maxText)
	if title != "" && !strings.HasPrefix(text, "#") {
		text = "# " + markdown.Escape(title) + "\n\n" + text
	}
	return text
}
