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

// maxText is what is given away of a page's text, in octets.
const maxText = 1 << 20

// textOf is the text of a page; of one that cannot be decoded, what can be read.
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

// joined is the text that may be shown, a line a block.
func joined(blocks []htmlmeta.Block) string { return strings.Join(linesOf(blocks), "\n") }

// writeText writes the text of all pages that may be listed and quoted in full,
// in the order in which they were kept. Each begins with its front matter.
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

// writeFront writes what stands before the text of a page; w keeps its error to itself
// until it is flushed.
func writeFront(w *bufio.Writer, m *member) {
	v := m.v
	fmt.Fprintf(w, "---\nurl: %q\ntitle: %q\ncaptured: %s\n", v.URL, v.Title, v.At.UTC().Format(time.RFC3339))
	if v.Lang != "" {
		fmt.Fprintf(w, "lang: %q\n", v.Lang)
	}
	if len(m.use) > 0 {
		use, _ := json.Marshal(m.use) // of strings: no error; a JSON object is YAML
		fmt.Fprintf(w, "usage: %s\n", use)
	}
	fmt.Fprint(w, "---\n\n")
}

// plainText is the text of a page, an empty line after each block.
func plainText(main bool) func(*storage.Archive, *crawllog.Visit) (string, error) {
	return func(a *storage.Archive, v *crawllog.Visit) (string, error) {
		blocks, err := textOf(a, v, main)
		return strings.ReplaceAll(joined(blocks), "\n", "\n\n"), err
	}
}

// markdownOf makes Markdown of a page, under its title where it begins without a
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
