package replay

import (
	"mime"
	"net/http"
	"path"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// copyHeader copies the header of an archived response with the prefix X-Archive-Orig-, and a
// few harmless fields under their own names. These exclude all fields that make a browser do or
// allow anything (Set-Cookie, policies, Link, Refresh, Alt-Svc, reporting).
func copyHeader(to, kept http.Header) {
	for name, values := range kept {
		if !httpguts.ValidHeaderFieldName(name) {
			continue
		}
		for _, v := range values {
			if httpguts.ValidHeaderFieldValue(v) {
				to["X-Archive-Orig-"+name] = append(to["X-Archive-Orig-"+name], v)
			}
		}
	}
	if lang := kept.Get("Content-Language"); httpguts.ValidHeaderFieldValue(lang) && lang != "" {
		to.Set("Content-Language", lang)
	}
	if d := disposition(kept.Get("Content-Disposition")); d != "" {
		to.Set("Content-Disposition", d)
	}
}

// disposition keeps the type and the base name of the file.
func disposition(v string) string {
	kind, params, err := mime.ParseMediaType(v)
	if v == "" || err != nil && kind == "" {
		return ""
	}
	if kind != "inline" {
		kind = "attachment"
	}
	name := path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	if name == "." || name == "/" {
		return kind
	}
	return mime.FormatMediaType(kind, map[string]string{"filename": name})
}
