package mirror

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"io"
	"strings"
	"time"

	"curtsy/internal/follow"
)

// pathsScript resolves the links of a page, including those added by scripts, to files of the
// mirror.
//
//go:embed paths.js
var pathsScript string

// linkScript returns the reference to mirror-links.js for a page; "" if the page runs no
// scripts.
func linkScript(e *entry, still bool) string {
	if !e.page || still {
		return ""
	}
	return relative(e.file, linksFile)
}

// writePaths writes the script for links, and the table of the site's paths and their files,
// which it loads if a page gets a link that was not in its HTML.
func (w *writer) writePaths() error {
	origins, err := json.Marshal(w.s.o.Origins)
	if err != nil {
		return err
	}
	script := follow.With(dataScript + strings.Replace(pathsScript, "ORIGINS", string(origins), 1))
	if err := w.tree.put(linksFile, time.Time{}, []byte(script)); err != nil {
		return err
	}
	return w.piped(pathsFile, w.encodePaths)
}

// piped writes a file of the mirror's own as a stream.
func (w *writer) piped(name string, encode func(io.Writer) error) error {
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(encode(pw)) }()
	err := w.tree.stream(name, w.s.last, pr)
	pr.CloseWithError(err)
	return err
}

func (w *writer) encodePaths(to io.Writer) error {
	b := bufio.NewWriter(to)
	b.WriteString("curtsyPaths({")
	sep, known := "\n", newNameSet()
	for i := range w.s.list {
		e := &w.s.list[i]
		page := e
		if e.state == moved && e.final >= 0 {
			page = &w.s.list[e.final]
		}
		path := e.url.Target()
		if !page.page || page.file == "" || !w.s.isOwn(e.url) || e.url.Route() != "" || !known.add(path) {
			continue
		}
		key, err := json.Marshal(path)
		if err != nil {
			return err
		}
		file, err := json.Marshal(page.file)
		if err != nil {
			return err
		}
		b.WriteString(sep + string(key) + ":" + string(file))
		sep = ",\n"
	}
	b.WriteString("\n})\n")
	return b.Flush()
}
