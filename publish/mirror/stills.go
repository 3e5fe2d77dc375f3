package mirror

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"curtsy/storage/crawllog"
)

// stills are the pages of a mirror that have their still forms by a repair: the next
// export keeps these.
type stills struct {
	came  map[string]bool      // as they came
	shown map[string]shownPage // as their scripts left them
	old   *os.Root
	again atomic.Int64 // pages that have changed since, and run their scripts again
}

// shownPage is where mirror-stills.json has a document, a line of its own.
type shownPage struct {
	digest   string // of the payload that the scripts ran in
	at, size int64
}

// stillLine is one line of mirror-stills.json.
type stillLine struct {
	URL    string `json:"url"`
	Digest string `json:"digest"`
	HTML   string `json:"html"`
}

// stillsOf reads what the mirror that is there, if any, keeps.
func stillsOf(old *os.Root) (*stills, error) {
	k := &stills{came: map[string]bool{}, shown: map[string]shownPage{}, old: old}
	if old == nil {
		return k, nil
	}
	m, err := readMap(old)
	if err != nil {
		return k, nil // newTree has read it, too
	}
	for _, f := range m.Files {
		switch f.Still {
		case stillNames[stillCame]:
			k.came[f.URL] = true
		case stillNames[stillShown]:
			k.shown[f.URL] = shownPage{}
		}
	}
	if len(k.shown) == 0 {
		return k, nil
	}
	return k, k.locate()
}

// locate finds the documents of the pages that are shown as their scripts left them.
func (k *stills) locate() error {
	f, err := k.old.Open(stillsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // an earlier curtsy made it
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r, at := bufio.NewReader(f), int64(0)
	for {
		line, err := r.ReadBytes('\n')
		var l stillLine
		if _, known := k.shown[l.url(line)]; known {
			k.shown[l.URL] = shownPage{l.Digest, at, int64(len(line))}
		}
		at += int64(len(line))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", stillsFile, err)
		}
	}
}

// url reads a line; "" is one that is no document.
func (l *stillLine) url(line []byte) string {
	if json.Unmarshal(line, l) != nil {
		return ""
	}
	return l.URL
}

// of is Options.Still for a page with that payload.
func (k *stills) of(url, digest string) (html []byte, ok bool, err error) {
	if k.came[url] {
		return nil, true, nil
	}
	p, known := k.shown[url]
	if !known {
		return nil, false, nil
	}
	if p.size == 0 || p.digest != digest {
		k.again.Add(1)
		return nil, false, nil
	}
	f, err := k.old.Open(stillsFile)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	line := make([]byte, p.size)
	if _, err := f.ReadAt(line, p.at); err != nil {
		return nil, false, err
	}
	var l stillLine
	l.url(line)
	return []byte(l.HTML), l.HTML != "", nil
}

// stillOf is the still form that a page is to have.
func (w *writer) stillOf(e *entry, v *crawllog.Visit) (html []byte, ok bool, err error) {
	if w.kept != nil {
		return w.kept.of(e.url.String(), v.Digest)
	}
	return w.s.o.Still(e.url.String())
}

// writeStills writes the documents of pages that are shown as their scripts left them, for
// the next export; there may be none.
func (w *writer) writeStills() (bool, error) {
	var list []*entry
	for i := range w.s.list {
		if e := &w.s.list[i]; e.still == stillShown {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	return true, w.piped(stillsFile, func(to io.Writer) error {
		lines := json.NewEncoder(to)
		for _, e := range list {
			v, err := w.visit(e)
			if err != nil {
				return err
			}
			html, _, err := w.stillOf(e, v)
			if err != nil {
				return err
			}
			if err := lines.Encode(stillLine{e.url.String(), v.Digest, string(html)}); err != nil {
				return err
			}
		}
		return nil
	})
}
