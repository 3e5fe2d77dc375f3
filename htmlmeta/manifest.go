package htmlmeta

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// maxManifest is the maximum length of a web application manifest in bytes.
const maxManifest = 1 << 20

// manifest has the members of a web application manifest that name other files (W3C Web
// Application Manifest §1). Members of a wrong type are ignored.
type manifest struct {
	StartURL    lenient[string]              `json:"start_url"`
	Icons       images                       `json:"icons"`
	Screenshots images                       `json:"screenshots"`
	Shortcuts   lenient[[]lenient[shortcut]] `json:"shortcuts"`
}

type shortcut struct {
	URL   lenient[string] `json:"url"`
	Icons images          `json:"icons"`
}

type image struct {
	Src lenient[string] `json:"src"`
}

type images = lenient[[]lenient[image]]

// lenient ignores a JSON value of the wrong type.
type lenient[T any] struct{ is T }

func (l *lenient[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.is = v
	}
	return nil
}

// readManifest reads the links of a web application manifest, which are relative to it.
func (r *reader) readManifest(body []byte) {
	r.doc.Charset = utf8Code.name // RFC 8259 §8.1
	var m manifest
	body = bytes.TrimPrefix(body, []byte(bomUTF8))
	if len(body) > maxManifest || json.Unmarshal(body, &m) != nil {
		return
	}
	r.addImages(m.Icons, "icons")
	r.addImages(m.Screenshots, "screenshots")
	for _, s := range m.Shortcuts.is {
		r.addImages(s.is.Icons, "shortcuts")
		r.addManifestURL(s.is.URL.is, "shortcuts", Navigation)
	}
	r.addManifestURL(m.StartURL.is, "start_url", Navigation)
}

func (r *reader) addImages(list images, attr string) {
	for _, i := range list.is {
		r.addManifestURL(i.is.Src.is, attr, Requisite)
	}
}

func (r *reader) addManifestURL(ref, attr string, kind LinkKind) {
	if ref != "" {
		r.links.add(ref, Link{Tag: "manifest", Attr: attr, Kind: kind})
	}
}

// styleInstruction matches <?xml-stylesheet href="…"?> (W3C Associating Style Sheets with XML
// documents).
var styleInstruction = regexp.MustCompile(`<\?xml-stylesheet\s[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// addStyleInstructions adds the style sheets that the prolog of an XML document names.
func (r *reader) addStyleInstructions(body []byte) {
	for _, m := range styleInstruction.FindAllSubmatch(body[:min(len(body), sniffLength)], -1) {
		ref := appendUnescaped(nil, string(m[1])+string(m[2]))
		r.links.add(string(ref), Link{Tag: "xml-stylesheet", Attr: "href", Kind: Requisite})
	}
}
