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
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// maxText is the most octets exported of a page's text.
const maxText = 1 << 20

// textOf extracts the text of a page, or of the part of it that can be decoded.
func textOf(a *storage.Archive, v *crawllog.Visit, main bool) ([]htmlmeta.Block, error) {
	p, err := publish.ReadPage(a, v)
	if publish.IsOfArchive(err) || p.Header == nil {
		return nil, publish.OfArchive(err)
	}
	return blocksOf(p, main), nil
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
	read := plainText(j.o.Main)
	if j.o.Format == MD {
		read = markdownOf(markdown.NewWriter(!j.o.Main))
	}
	written := 0
	err := j.captures(func(m *member) error {
		if m.flags&flagText == 0 {
			j.r.Withheld++
			return nil
		}
		text, err := read(j.a, m.v)
		if err != nil {
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
func plainText(main bool) func(*storage.Archive, *crawllog.Visit) (string, error) {
	return func(a *storage.Archive, v *crawllog.Visit) (string, error) {
		blocks, err := textOf(a, v, main)
		return strings.ReplaceAll(joined(blocks), "\n", "\n\n"), err
	}
}

// markdownOf converts a page to Markdown, and puts its title on top if it begins without a
// heading.
func markdownOf(w *markdown.Writer) func(*storage.Archive, *crawllog.Visit) (string, error) {
	return func(a *storage.Archive, v *crawllog.Visit) (string, error) {
		p, err := publish.ReadPage(a, v)
		if publish.IsOfArchive(err) || p.Header == nil {
			return "", publish.OfArchive(err)
		}
		text := w.Of(p, maxText)
		if v.Title != "" && !strings.HasPrefix(text, "#") {
			text = "# " + markdown.Escape(v.Title) + "\n\n" + text
		}
		return text, nil
	}
}
