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

// stills are the pages that a repair stored in a still form (without scripts); the next export
// keeps these forms.
type stills struct {
	came  map[string]bool      // as sent
	shown map[string]shownPage // the DOM after scripts ran
	old   *os.Root
	again atomic.Int64 // pages that changed since and run their scripts again
}

// shownPage locates a document in mirror-stills.json.
type shownPage struct {
	digest   string // of the payload from which it was rendered
	at, size int64
}

// stillLine is a line of mirror-stills.json.
type stillLine struct {
	URL    string `json:"url"`
	Digest string `json:"digest"`
	HTML   string `json:"html"`
}

// stillsOf reads the still forms of the existing mirror, if any.
func stillsOf(old *os.Root) (*stills, error) {
	k := &stills{came: map[string]bool{}, shown: map[string]shownPage{}, old: old}
	if old == nil {
		return k, nil
	}
	m, err := readMap(old)
	if err != nil {
		return k, nil // newTree has already reported it
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

// locate finds the stored documents in mirror-stills.json.
func (k *stills) locate() error {
	f, err := k.old.Open(stillsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // made by an earlier version
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

// url parses a line and returns its URL; "" if it is invalid.
func (l *stillLine) url(line []byte) string {
	if json.Unmarshal(line, l) != nil {
		return ""
	}
	return l.URL
}

// of implements Options.Still for a page with the given payload digest.
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

// stillOf returns the still form that a page is to have.
func (w *writer) stillOf(e *entry, v *crawllog.Visit) (html []byte, ok bool, err error) {
	if w.kept != nil {
		return w.kept.of(e.url.String(), v.Digest)
	}
	return w.s.o.Still(e.url.String())
}

// writeStills writes the stored DOMs of pages for the next export, and reports whether there
// are any.
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
