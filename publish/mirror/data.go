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

// dataScript gives scripts what they fetch, where a browser would not.
//
//go:embed data.js
var dataScript string

// maxData bounds what mirror-data.js repeats of a mirror, in octets.
const maxData = 32 << 20

// dataFiles are the entries that scripts fetch, and their workers with what these import:
// search indexes, most of all. The bodies that a browser loads by itself are none.
func (w *writer) dataFiles() (list []*entry, err error) {
	byDir := map[string][]*entry{} // scripts beside a worker
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

// isData says whether scripts fetch a type.
func isData(typ string) bool {
	return strings.HasSuffix(typ, "json") && typ != "application/manifest+json" || typ == "text/xml" ||
		typ == "application/wasm" ||
		typ == typeAny || inert(typ)
}

// workers are those of a directory's scripts that are named so, and what they name of the
// others.
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

// writeData writes what scripts fetch as a script; there may be nothing of that kind.
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
			continue // the report says what cannot be read
		}
		left -= len(body)
		value := []any{e.typ(), string(body)}
		if !utf8.Valid(body) {
			value = []any{e.typ(), base64.StdEncoding.EncodeToString(body), true}
		}
		err = pair(e.file, value)
		if at := e.url.Target()[1:]; err == nil && at != e.file {
			err = pair(at, e.file) // another name of it
		}
		if err != nil {
			return err
		}
	}
	b.WriteString("\n})\n")
	return b.Flush()
}
