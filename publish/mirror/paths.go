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

// pathsScript says where the links of a page lead, also those that a script made.
//
//go:embed paths.js
var pathsScript string

// linkScript is the reference of mirror-links.js for a page; "" for one that runs no
// scripts.
func linkScript(e *entry, still bool) string {
	if !e.page || still {
		return ""
	}
	return relative(e.file, linksFile)
}

// writePaths writes the script for links, and the list that it loads when a page has
// a link which was not in the page as it came: the site's paths and their files.
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

// piped writes a file of our own without holding it.
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
