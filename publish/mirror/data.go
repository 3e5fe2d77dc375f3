package mirror

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"curtsy/frontier/judge"
)

// dataScript gives scripts of pages on disk the files that they fetch, which browsers refuse
// for file: URLs.
//
//go:embed data.js
var dataScript string

// maxData limits the octets of files repeated in mirror-data.js.
const maxData = 32 << 20

// dataFiles lists the entries that scripts fetch, mostly search indexes, and their workers with
// what these import. Files that browsers load by themselves are not among them.
func (w *writer) dataFiles() (list []*entry, err error) {
	byDir := map[string][]*entry{} // scripts in the directory of a worker
	for i := range w.s.list {
		e := &w.s.list[i]
		if e.state != kept || e.file == "" || !w.s.isOwn(e.url) {
			continue
		}
		switch dir := path.Dir(e.file); {
		case e.typ() == typeJS:
			byDir[dir] = append(byDir[dir], e)
		case isData(e.typ()):
			v, err := w.visit(e)
			if err != nil {
				return nil, err
			}
			if v.Class == judge.Speculative.String() || v.Class == judge.Requisite.String() {
				list = append(list, e)
			}
		}
	}
	for _, scripts := range byDir {
		list = append(list, w.workers(scripts)...)
	}
	slices.SortFunc(list, func(a, b *entry) int { return strings.Compare(a.file, b.file) })
	return list, nil
}

// isData reports whether scripts fetch files of a type.
func isData(typ string) bool {
	return strings.HasSuffix(typ, "json") && typ != "application/manifest+json" || typ == "text/xml" ||
		typ == "application/wasm" ||
		typ == typeAny || inert(typ)
}

// workers returns the scripts of a directory that are named like workers, and those of the
// others that they name.
func (w *writer) workers(scripts []*entry) (list []*entry) {
	var text []byte
	for _, e := range scripts {
		if !isWorker(e) {
			continue
		}
		list = append(list, e)
		body, _, _, give, err := w.document(e, new(buffers))
		give()
		if err == nil && len(text) < maxData {
			text = append(text, body...)
		}
	}
	for _, e := range scripts {
		if len(text) > 0 && bytes.Contains(text, []byte(path.Base(e.file))) && !isWorker(e) {
			list = append(list, e)
		}
	}
	return list
}

func isWorker(e *entry) bool { return strings.Contains(strings.ToLower(e.file), "worker") }

// writeData writes the files that scripts fetch as one script, and reports whether there are
// any.
func (w *writer) writeData() (bool, error) {
	list, err := w.dataFiles()
	if err != nil || len(list) == 0 {
		return false, err
	}
	return true, w.piped(dataFile, func(to io.Writer) error { return w.encodeData(to, list) })
}

func (w *writer) encodeData(to io.Writer, list []*entry) error {
	b := bufio.NewWriter(to)
	b.WriteString("curtsyData({")
	sep, left := "\n", maxData
	pair := func(key string, value any) error {
		text, err := json.Marshal(map[string]any{key: value})
		if err == nil {
			b.WriteString(sep)
			_, err = b.Write(text[1 : len(text)-1])
			sep = ",\n"
		}
		return err
	}
	for _, e := range list {
		body, _, _, give, err := w.document(e, new(buffers))
		give()
		if err != nil || len(body) > left {
			continue // the report lists what cannot be read
		}
		left -= len(body)
		value := []any{e.typ(), string(body)}
		if !utf8.Valid(body) {
			value = []any{e.typ(), base64.StdEncoding.EncodeToString(body), true}
		}
		err = pair(e.file, value)
		if at := e.url.Target()[1:]; err == nil && at != e.file {
			err = pair(at, e.file) // another URL of the same file
		}
		if err != nil {
			return err
		}
	}
	b.WriteString("\n})\n")
	return b.Flush()
}
