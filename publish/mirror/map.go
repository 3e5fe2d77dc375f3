package mirror

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"curtsy/internal/legible"
)

// mapFormat identifies a mirror-map.json, and its directory as a mirror.
const mapFormat = "curtsy mirror 1"

// mapped is a line of the map: a URL and its file.
type mapped struct {
	URL  string `json:"url,omitempty"`
	File string `json:"file"`
	Type string `json:"type,omitempty"`
	To   string `json:"to,omitempty"`  // target URL of a redirect
	Raw  bool   `json:"raw,omitempty"` // its links were not rewritten
	// Still is the form without scripts in which Options.Still had the page stored, and which
	// later exports keep: "came", as sent; "shown", the DOM after scripts ran
	// (mirror-stills.json).
	Still string `json:"still,omitempty"`
}

// still is the form without scripts in which a page is stored.
type still uint8

const (
	_ still = iota
	stillCame
	stillShown
)

var stillNames = [...]string{stillCame: "came", stillShown: "shown"}

// mirrorMap is mirror-map.json. It is for checks and the next export, not for readers, and
// lists every file of the tree, including noindex pages: whoever has the tree has the files.
type mirrorMap struct {
	Format  string   `json:"format"`
	Seed    string   `json:"seed"`
	Origins []string `json:"origins,omitempty"` // of the site
	Twins   bool     `json:"twins,omitempty"`   // URLs that differ in session id or order of parameters are one page
	Online  bool     `json:"online,omitempty"`
	Summary *Summary `json:"summary,omitempty"`
	Files   []mapped `json:"files"`
}

// files returns the names in the map, and that of the map.
func (m *mirrorMap) files() map[string]bool {
	set := map[string]bool{MapFile: true}
	for _, f := range m.Files {
		set[f.File] = true
	}
	return set
}

var errFormat = errors.New("not a map of curtsy's")

// mapIn is readMap; its error names the mirror, and says if out is none.
func mapIn(root *os.Root, out string) (*mirrorMap, error) {
	m, err := readMap(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", out, ErrNotOurs)
	case err != nil:
		return nil, fmt.Errorf("%s: %s: %w", out, MapFile, err)
	}
	return m, nil
}

// readMap reads the map of a mirror.
func readMap(root *os.Root) (*mirrorMap, error) {
	f, err := root.Open(MapFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := new(mirrorMap)
	if err := json.NewDecoder(bufio.NewReader(f)).Decode(m); err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	if m.Format != mapFormat {
		return nil, errFormat
	}
	return m, nil
}

// writeMap writes the map sorted by URL, one file per line, as a stream.
func (w *writer) writeMap(r *Result, extra []mapped) error {
	s := w.summary(r)
	return w.piped(MapFile, func(to io.Writer) error { return w.encodeMap(to, s, extra) })
}

func (w *writer) encodeMap(to io.Writer, s *Summary, extra []mapped) error {
	b := bufio.NewWriter(to)
	o := w.s.o
	head, err := json.Marshal(mirrorMap{Format: mapFormat, Seed: o.Seed.String(), Origins: o.Origins, Twins: o.twins,
		Online: o.Online, Summary: s})
	if err != nil {
		return err
	}
	head = legible.JSON(head)
	b.Write(head[:len(head)-len("null}")]) // cut "files":null}
	sep := "[\n"
	line := func(m mapped) error {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		b.WriteString(sep)
		sep = ",\n"
		_, err = b.Write(legible.JSON(text))
		return err
	}
	for i := range w.s.list {
		e := &w.s.list[i]
		if e.file == "" {
			continue
		}
		m := mapped{URL: e.url.String(), File: e.file, Type: e.typ(), Raw: e.raw, Still: stillNames[e.still]}
		if e.state == moved {
			m.Type, m.To = typeHTML, w.s.list[e.final].url.String()
		}
		if err := line(m); err != nil {
			return err
		}
	}
	for _, m := range extra {
		if err := line(m); err != nil {
			return err
		}
	}
	b.WriteString("\n]}\n")
	return b.Flush()
}
