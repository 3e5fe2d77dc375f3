package mirror

import (
	"encoding/json"
	"strings"

	"curtsy/htmlmeta"
)

// manifest rewrites the references of a web application manifest, a JSON file. It leaves an
// invalid one unchanged.
func (w *writer) manifest(e *entry, body []byte) []byte {
	var m map[string]any
	if json.Unmarshal(body, &m) != nil {
		return body
	}
	l := &linker{s: w.s, from: e, notes: w.notes}
	changed := false
	each(m, func(text string) string {
		u, err := e.url.Resolve(text)
		if err != nil {
			return text
		}
		part := ""
		if i := strings.IndexByte(text, '#'); i >= 0 {
			part = text[i:]
		}
		change, to := l.ref(htmlmeta.Reference{Link: htmlmeta.Link{URL: u, Tag: "manifest", Attr: "src",
			Kind: htmlmeta.Navigation}, Text: text, Fragment: part})
		if change == htmlmeta.Leave || to == text {
			return text
		}
		changed = true
		return to
	})
	if !changed {
		return body
	}
	out, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return body
	}
	return append(out, '\n')
}

// each calls f with every reference of a manifest (W3C Web Application Manifest §1): start_url,
// scope, the src and url of icons and shortcuts, and the action of a share target.
func each(v any, f func(string) string) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if s, ok := x.(string); ok {
				switch key {
				case "src", "start_url", "scope", "url", "action":
					v[key] = f(s)
				}
				continue
			}
			each(x, f)
		}
	case []any:
		for _, x := range v {
			each(x, f)
		}
	}
}
