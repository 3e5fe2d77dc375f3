package changes

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"curtsy/internal/http1"
	"curtsy/publish"
	"curtsy/storage/crawllog"
)

var errStopped = errors.New("stopped")

// maxText is the most octets of a page's text that are compared.
const maxText = 16 << 20

// text reports whether both copies are text documents, so that passages can be compared.
func (c *Change) text() bool {
	return c.Was != nil && isPage(c.Was) && isPage(c.Now)
}

func isPage(v *crawllog.Visit) bool {
	if !v.IsCopy() {
		return false
	}
	kind := http1.MediaType(v.ContentType)
	return kind == "" || kind == "application/xhtml+xml" || strings.HasPrefix(kind, "text/") && kind != "text/css"
}

// learn counts the changed blocks of a page as possible noise.
func (r *round) learn(c *Change) error {
	if c.Kind != Changed || !c.text() {
		return nil
	}
	list, err := diffOf(Copy{r.archive, c.Was}, Copy{r.archive, c.Now})
	if err == nil {
		r.noise.add(list)
	}
	return publish.OfArchive(err)
}

// passages sets the passages of a change, without noise; real is false if nothing else changed.
// If a copy cannot be decoded, the change says so in Reason.
func (r *round) passages(c *Change) (real bool, err error) {
	if c.Kind != Changed {
		return true, nil
	}
	was, now := Copy{r.archive, c.Was}, Copy{r.archive, c.Now}
	if !c.text() {
		same, err := same(was, now)
		return !same, c.undecoded(err)
	}
	list, err := diffOf(was, now)
	if err != nil {
		return true, c.undecoded(err)
	}
	for _, p := range list {
		if was, now := r.noise.left(p); len(was)+len(now) > 0 {
			c.Passages = append(c.Passages, passageOf(was, now))
		}
	}
	if len(c.Passages) == 0 && len(list) > 0 && r.opts.Slight != nil {
		r.opts.Slight(c.URL)
	}
	return len(c.Passages) > 0, nil
}

// undecoded records that a copy cannot be decoded; errors of the archive are returned.
func (c *Change) undecoded(err error) error {
	if err != nil && publish.OfArchive(err) == nil {
		c.Reason = "not compared: " + err.Error()
	}
	return publish.OfArchive(err)
}

// same reports whether two payloads with different digests decode to the same body.
func same(was, now Copy) (bool, error) {
	if !was.Visit.IsCopy() || !now.Visit.IsCopy() {
		return false, nil
	}
	a, err := publish.OpenBody(was.Archive, was.Visit)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := publish.OpenBody(now.Archive, now.Visit)
	if err != nil {
		return false, err
	}
	defer b.Close()
	if !a.Coded() && !b.Coded() {
		return false, nil
	}
	return equal(a, b)
}

// equal compares two streams.
func equal(a, b io.Reader) (bool, error) {
	var x, y [32 << 10]byte
	for {
		n, errA := io.ReadFull(a, x[:])
		m, errB := io.ReadFull(b, y[:])
		isEnd := errA == io.EOF || errA == io.ErrUnexpectedEOF
		switch {
		case errA != nil && !isEnd:
			return false, errA
		case errB != nil && errB != io.EOF && errB != io.ErrUnexpectedEOF:
			return false, errB
		case !bytes.Equal(x[:n], y[:m]):
			return false, nil
		case isEnd:
			return errB != nil, nil
		}
	}
}

// diffOf reads both copies and compares their text blocks.
func diffOf(was, now Copy) ([]passage, error) {
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

// blocks returns the visible text of a copy in blocks, or an error if it cannot be decoded.
func (c Copy) blocks() (texts []string, err error) {
	blocks, err := publish.Text(c.Archive, c.Visit, maxText)
	if err != nil {
		return nil, err
	}
	for i := range blocks {
		texts = append(texts, blocks[i].Shown(""))
	}
	return texts, nil
}
