package mirror

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"curtsy/internal/weburl"
)

// Files and directories of the mirror itself, at its root.
const (
	MapFile    = "mirror-map.json"
	ReportFile = "mirror-report.html"
	linksFile  = "mirror-links.js"
	pathsFile  = "mirror-paths.js"
	dataFile   = "mirror-data.js"
	stillsFile = "mirror-stills.json"
	hostsDir   = "_hosts"
)

// Limits of names: file systems allow 255 octets a name, Windows 260 UTF-16 units a path.
const (
	maxSegment = 200 // octets of UTF-8
	maxPath    = 240 // UTF-16 units
	maxQuery   = 80  // octets of a query that is kept readable
)

// candidate is the preferred file name of a URL, with the extension of its media type. Other
// URLs may prefer the same: see nameAll.
func candidate(u weburl.URL, site bool, typ string) string {
	path := u.Path()[1:]
	if route := strings.TrimLeft(u.Route(), "#!/"); route != "" {
		path = path[:strings.LastIndexByte(path, '/')+1] + route
	}
	var dirs []string
	if !site {
		dirs = append(dirs, hostsDir, segment(u.Host()))
	}
	own := len(dirs) == 0
	segs := strings.Split(path, "/")
	for _, s := range segs[:len(segs)-1] {
		dirs = append(dirs, directory(s, own && len(dirs) == 0))
	}
	name := file(segs[len(segs)-1], u, typ)
	if own && len(dirs) == 0 {
		name = notOurs(name)
	}
	return bounded(dirs, name, u)
}

// directory is the name of one inner segment of a path.
func directory(s string, first bool) string {
	if s == "" {
		return "%2F" // an empty segment, as in //
	}
	s = segment(decode(s))
	if first && fold(s) == hostsDir {
		return escapeFirst(s)
	}
	return s
}

// notOurs renames a file of the site that has the name of a file of the mirror.
func notOurs(name string) string {
	switch fold(name) {
	case MapFile, ReportFile, linksFile, pathsFile, dataFile, stillsFile, hostsDir:
		return escapeFirst(name)
	}
	return name
}

// file is the file name of the last segment, with its query and media type.
func file(last string, u weburl.URL, typ string) string {
	name := decode(last)
	if last == "" {
		name = "index" + extension(typ, "")
	}
	stem, ext := splitExt(name)
	want := extension(typ, ext)
	if isObeyed(stem + want) {
		want = cmp.Or(extension(typ, ""), ".bin")
	}
	if want != ext {
		stem, ext = name, want
	}
	stem = escape(stem)
	if u.HasQuery() {
		stem += "@" + query(u.Query())
	}
	return finish(stem, ext, u)
}

// finish limits the length of a file name and makes it safe on every system.
func finish(stem, ext string, u weburl.URL) string {
	ext = escape(ext)
	if len(ext) > 20 {
		stem, ext = stem+ext, ""
	}
	if len(stem)+len(ext)+8 > maxSegment {
		stem = cut(stem, maxSegment-len(ext)-20) + "~" + hash(u.String(), 10)
	}
	return safe(stem + ext)
}

// query is a query as part of a name: readable if short, otherwise a hash.
func query(q string) string {
	s := escape(decode(q))
	if len(s) > maxQuery {
		return hash(q, 16)
	}
	return s
}

// segment makes any text a single path segment.
func segment(s string) string {
	e := escape(s)
	if len(e) > maxSegment {
		e = cut(e, maxSegment-20) + "~" + hash(s, 10)
	}
	return safe(e)
}

// bounded joins a path. If it is too long, it keeps the first directories and replaces the rest
// by a hash in the name.
func bounded(dirs []string, name string, u weburl.URL) string {
	path := strings.Join(append(dirs, name), "/")
	if units(path) <= maxPath {
		return path
	}
	stem, ext := splitExt(name)
	if len(ext) > 20 {
		stem, ext = name, ""
	}
	name = safe(cutUnits(stem, 80) + "~" + hash(u.String(), 12) + ext)
	kept, room := 0, maxPath-units(name)-12
	for kept < len(dirs) && units(dirs[kept])+1 <= room {
		room -= units(dirs[kept]) + 1
		kept++
	}
	return strings.Join(append(dirs[:kept:kept], name), "/")
}

// splitExt splits off the extension, which includes the dot.
func splitExt(name string) (stem, ext string) {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || strings.Trim(name[:i], ".") == "" {
		return name, ""
	}
	return name[:i], name[i:]
}

// cut truncates an escaped name to n octets, without splitting runes and escapes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	for back := 1; back <= 2 && back <= n; back++ {
		if s[n-back] == '%' {
			n -= back
			break
		}
	}
	return s[:n]
}

// cutUnits truncates an escaped name to n UTF-16 units.
func cutUnits(s string, n int) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return cut(s, i)
		}
	}
	return s
}

func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

func hash(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:n]
}

// fold maps names that a case-insensitive or normalizing file system treats as equal to the
// same string.
func fold(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFD.String(s)))
		}
	}
	return strings.ToLower(s)
}
