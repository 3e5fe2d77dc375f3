package mirror

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"

	"curtsy/htmlmeta"
)

// Types that are handled specially.
const (
	typeHTML  = "text/html"
	typeXHTML = "application/xhtml+xml"
	typeCSS   = "text/css"
	typeSVG   = "image/svg+xml"
	typeText  = "text/plain"
	typeAny   = "application/octet-stream"
	typeJS    = "text/javascript"
	typeJSON  = "application/json"
	// typeSealed is application/octet-stream that looks like HTML; without a type browsers
	// would show it as a page.
	typeSealed = "application/x-download"
)

var pictures = []string{".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".gif", ".webp", ".bmp", ".ico", ".cur",
	".avif", ".apng"}

// extensions are those that map to the type in browsers and servers; the first is the default.
// Browsers sniff images, so any image extension will do for them.
var extensions = map[string][]string{
	typeHTML:  {".html", ".htm"},
	typeXHTML: {".xhtml", ".xht"}, typeCSS: {".css"}, typeSVG: {".svg"}, typeJS: {".js", ".mjs"},
	typeJSON: {".json", ".map", ".geojson", ".webmanifest", ".jsonld"}, "application/manifest+json": {".webmanifest",
		".json", ".manifest"},
	"application/ld+json": {".jsonld", ".json"}, "text/xml": {".xml", ".xsl", ".xslt", ".rdf", ".rss", ".atom", ".opml",
		".wsdl", ".xsd", ".kml"},
	"application/rss+xml": {".rss", ".xml"}, "application/atom+xml": {".atom", ".xml"},
	"application/rdf+xml":                   {".rdf", ".xml"},
	"application/opensearchdescription+xml": {".xml", ".osdx"}, "application/xslt+xml": {".xsl", ".xslt", ".xml"},
	"text/xsl": {".xsl", ".xslt", ".xml"},
	"text/csv": {".csv"}, "text/calendar": {".ics"}, "text/vtt": {".vtt"}, "text/markdown": {".md", ".markdown"},
	"application/pdf": {".pdf"},
	"image/png":       append([]string{".png"}, pictures...), "image/jpeg": append([]string{".jpg"}, pictures...),
	"image/gif":  append([]string{".gif"}, pictures...),
	"image/webp": append([]string{".webp"}, pictures...), "image/bmp": append([]string{".bmp"}, pictures...),
	"image/avif":               append([]string{".avif"}, pictures...),
	"image/x-icon":             append([]string{".ico"}, pictures...),
	"image/vnd.microsoft.icon": append([]string{".ico"}, pictures...),
	"font/woff":                {".woff", ".woff2"}, "font/woff2": {".woff2", ".woff"}, "font/ttf": {".ttf", ".otf"},
	"font/otf": {".otf", ".ttf"}, "font/collection": {".ttc"},
	"application/vnd.ms-fontobject": {".eot"}, "application/gzip": {".gz", ".tgz", ".svgz"},
	"application/zip": {".zip"}, "application/wasm": {".wasm"},
	"audio/mpeg": {".mp3", ".mpga"}, "audio/wave": {".wav"}, "audio/ogg": {".ogg", ".oga", ".opus"},
	"audio/flac": {".flac"}, "audio/mp4": {".m4a", ".mp4"}, "audio/aac": {".aac"},
	"application/ogg": {".ogg", ".ogv", ".oga", ".opus"}, "video/ogg": {".ogv", ".ogg"},
	"video/mp4": {".mp4", ".m4v", ".m4a"}, "video/webm": {".webm", ".weba"}, "audio/webm": {".weba", ".webm"},
	"video/x-msvideo": {".avi"}, "video/avi": {".avi"}, "video/quicktime": {".mov"}, typeSealed: {".bin"},
	"application/x-tar": {".tar"}, "application/java-archive": {".jar"},
}

// synonyms maps aliases to the types used here.
var synonyms = map[string]string{
	"application/javascript": typeJS, "application/x-javascript": typeJS, "text/ecmascript": typeJS,
	"application/ecmascript": typeJS, "text/x-javascript": typeJS,
	"application/xml": "text/xml", "text/json": typeJSON, "image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg",
	"image/x-png": "image/png", "image/ico": "image/x-icon", "image/icon": "image/x-icon",
	"application/font-woff": "font/woff", "application/x-font-woff": "font/woff",
	"application/font-woff2": "font/woff2", "application/x-font-ttf": "font/ttf",
	"application/x-font-truetype": "font/ttf",
	"application/x-font-otf":      "font/otf", "application/font-sfnt": "font/ttf", "font/sfnt": "font/ttf",
	"application/x-gzip": "application/gzip", "application/x-zip-compressed": "application/zip",
	"audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wave", "audio/wav": "audio/wave",
	"application/x-pdf":   "application/pdf",
	"binary/octet-stream": typeAny, "application/force-download": typeAny, "application/x-download": typeAny,
	"application/download": typeAny, "application/unknown": typeAny,
	"application/x-unknown": typeAny, "unknown/unknown": typeAny, "*/*": typeAny, "text/xhtml": typeXHTML,
}

// typeOfExt maps an extension to the type that has it as default, or else to the first type by
// name that has it.
var typeOfExt = func() map[string]string {
	m := map[string]string{".txt": typeText, ".xml": "text/xml", ".png": "image/png"}
	types := slices.Sorted(maps.Keys(extensions))
	for _, own := range []bool{true, false} {
		for _, typ := range types {
			for i, ext := range extensions[typ] {
				if _, ok := m[ext]; !ok && own == (i == 0) {
					m[ext] = typ
				}
			}
		}
	}
	return m
}()

// extension returns the extension for a file of a type whose URL ends in ext; it is ext if that
// fits the type.
func extension(typ, ext string) string {
	low := strings.ToLower(ext)
	list, known := extensions[typ]
	switch {
	case known && slices.Contains(list, low):
		return ext
	case known:
		return list[0]
	case typeOfExt[low] == typ && low != "":
		return ext
	case typ == typeAny && (!textual(typeOfExt[low]) || inert(typeOfExt[low])):
		return ext // the type says nothing, so keep the name: x.tar.gz, README
	case ext != "" && typeOfExt[low] == "":
		return ext // unknown extensions are kept
	case typ == typeText && inert(typeOfExt[low]):
		return ext
	case typ == typeText || strings.HasPrefix(typ, "text/"):
		return ".txt"
	case strings.HasPrefix(typ, "image/") && slices.Contains(pictures, low):
		return ext
	case strings.HasSuffix(typ, "+xml"):
		return ".xml"
	case strings.HasSuffix(typ, "+json"):
		return ".json"
	}
	return ".bin"
}

// inert reports whether browsers show a text type as plain text.
func inert(typ string) bool {
	switch typ {
	case typeText, "text/markdown", "text/csv", "text/vtt", "text/calendar", typeJSON:
		return true
	}
	return false
}

// declared returns the media type of a Content-Type in canonical spelling; "" if none.
func declared(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	t = strings.ToLower(strings.Trim(t, " \t"))
	if !strings.Contains(t, "/") {
		return ""
	}
	if s, ok := synonyms[t]; ok {
		return s
	}
	return t
}

// doubtful reports whether a declared type has to be checked against the content.
func doubtful(typ string) bool {
	switch typ {
	case "", typeAny, typeText, typeHTML, "text/xml":
		return true
	}
	return false
}

// sniffed detects the type of a body whose declared type typ is doubtful. ext is the extension
// of the URL.
func sniffed(typ, ext string, head []byte) string {
	magic, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if s, ok := synonyms[magic]; ok {
		magic = s
	}
	byExt := typeOfExt[strings.ToLower(ext)]
	switch {
	case len(head) == 0 && byExt != "":
		return byExt
	case magic == "application/zip", magic == "application/gzip":
		if ext != "" && (byExt == "" || !textual(byExt)) {
			return typeAny // docx, epub, tgz: the extension is more specific
		}
		return magic
	case !textual(magic) && magic != typeAny:
		return magic
	}
	return sniffedText(typ, byExt, head)
}

func sniffedText(typ, byExt string, head []byte) string {
	markup := bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\f\xef\xbb\xbf"), []byte("<"))
	root := htmlmeta.XMLRoot(head)
	switch {
	case byExt == typeCSS || byExt == typeJS || byExt == typeJSON:
		if !markup {
			return byExt
		}
	case byExt == typeSVG && markup && typ != typeHTML && (root == "svg" || root == ""):
		return typeSVG
	}
	if typ == typeText || typ == typeHTML {
		return typ
	}
	switch htmlmeta.KindOf(http.Header{"Content-Type": {typ}}, head) {
	case htmlmeta.HTML:
		if typ == "text/xml" {
			return typeXHTML
		}
		return typeHTML
	case htmlmeta.XML:
		if root == "svg" {
			return typeSVG
		}
		return "text/xml"
	}
	switch {
	case byExt != "" && textual(byExt) && byExt != typeHTML:
		return byExt
	case typ == "" && bytes.IndexByte(head, 0) < 0:
		return typeText
	case typ == "text/xml":
		return typ
	case markup && byExt == "":
		return typeSealed
	}
	return typeAny
}

// textual reports whether a type is text.
func textual(typ string) bool {
	return strings.HasPrefix(typ, "text/") || strings.HasSuffix(typ, "+xml") || strings.HasSuffix(typ, "json") ||
		typ == typeJS
}
