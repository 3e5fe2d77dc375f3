package mirror

import (
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"
)

// Handler serves a mirror as any web server would, with the types that its
// map has. The caller closes root when the handler is not used any more.
func Handler(root *os.Root) (http.Handler, error) {
	m, err := readMap(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", root.Name(), ErrNotOurs)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", root.Name(), MapFile, err)
	}
	types := map[string]string{}
	for _, f := range m.Files {
		types[f.File] = f.Type
	}
	files := http.FileServerFS(root.FS())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if strings.HasSuffix(r.URL.Path, "/") {
			name = path.Join(name, "index.html")
		}
		if t := served(types[name], name); t != "" {
			w.Header().Set("Content-Type", t)
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !m.Online {
			w.Header().Set("Content-Security-Policy", Policy) // of workers, too
		}
		files.ServeHTTP(w, r)
	}), nil
}

// served is the Content-Type of a file: documents say their charset themselves.
func served(typ, name string) string {
	switch {
	case typ == "":
		return mime.TypeByExtension(path.Ext(name))
	case typ == typeSealed:
		return typeAny
	}
	return typ
}
