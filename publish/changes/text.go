package changes

import (
	"errors"
	"io"
	"strings"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage/crawllog"
)

var errStopped = errors.New("stopped")

// maxText is what is read of one body, in octets.
const maxText = 16 << 20

// text says whether the change is one between two texts, of which passages can
// be told.
func (c *Change) text() bool {
	return c.Was != nil && isPage(c.Was) && isPage(c.Now)
}

func isPage(v *crawllog.Visit) bool {
	if !v.HasBody() || v.Status < 200 || v.Status > 299 {
		return false
	}
	kind, _, _ := strings.Cut(strings.ToLower(v.ContentType), ";")
	kind = strings.TrimSpace(kind)
	return kind == "" || kind == "application/xhtml+xml" || strings.HasPrefix(kind, "text/") && kind != "text/css"
}

// learn counts what came and went on a page, for what is noise.
func (r *round) learn(c *Change) error {
	if c.Kind != Changed || !c.text() {
		return nil
	}
	d, err := diffOf(Copy{r.archive, c.Was}, Copy{r.archive, c.Now})
	if err == nil {
		r.noise.add(d)
	}
	return err
}

// passages tells what changed on a page, noise left out, where it may be shown.
func (r *round) passages(c *Change) error {
	if c.Kind != Changed || !c.text() {
		return nil
	}
	d, err := diffOf(Copy{r.archive, c.Was}, Copy{r.archive, c.Now})
	if err != nil {
		return err
	}
	for _, p := range d.passages {
		if was, now := r.noise.left(p); len(was)+len(now) > 0 {
			c.Passages = append(c.Passages, passageOf(was, now))
		}
	}
	return nil
}

// diffOf reads both copies and compares their blocks of text.
func diffOf(was, now Copy) (*diff, error) {
	before, err := was.blocks()
	if err != nil {
		return nil, err
	}
	after, err := now.blocks()
	if err != nil {
		return nil, err
	}
	return compareBlocks(before, after), nil
}

// blocks are the visible text of a copy; of one that cannot be decoded, none.
func (c Copy) blocks() ([]string, error) {
	b, err := publish.OpenPage(c.Archive, c.Visit)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	body, err := io.ReadAll(io.LimitReader(b, maxText))
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, block := range htmlmeta.ReadText(htmlmeta.Page{URL: weburl.FromCanonical(c.Visit.URL), Header: b.Header, Body: body}, maxText) {
		texts = append(texts, visible(block))
	}
	return texts, nil
}

// visible is the text of a block without what must not be shown (data-nosnippet).
func visible(b htmlmeta.Block) string {
	var shown strings.Builder
	at := 0
	for _, hidden := range b.Hidden {
		shown.WriteString(b.Text[at:hidden[0]])
		at = hidden[1]
	}
	shown.WriteString(b.Text[at:])
	return shown.String()
}
