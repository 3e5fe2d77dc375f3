package judge

import "strings"

// Archives limits the archives of a whole source tree that a repository browser offers for every
// version: each contains everything again.
const Archives = "archives"

func archives(l *Link, f *Facts) Budget {
	if l.Class == Requisite || f.Archives <= 0 || !namesArchive(l.URL.Path(), l.URL.Query()) {
		return Budget{}
	}
	shape, versions := withoutHashes(l.URL.Target())
	if len(versions) == 0 {
		return Budget{}
	}
	return Budget{Shape: l.URL.Origin() + shape, Limit: f.Archives}
}

// namesArchive reports whether the path, or the value of a parameter, ends like the name of an archive,
// or is such an ending.
func namesArchive(path, query string) bool {
	if isArchive(path[strings.LastIndexByte(path, '/')+1:]) {
		return true
	}
	for p := range parameters(query) {
		if _, value, _ := strings.Cut(p, "="); isArchive(value) {
			return true
		}
	}
	return false
}

func isArchive(name string) bool {
	switch strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]) {
	case "zip", "tar", "tgz", "tbz", "tbz2", "txz", "7z", "rar", "sqlar":
		return true
	case "gz", "bz2", "xz", "zst", "lz":
		return strings.Contains(strings.ToLower(name), ".tar.")
	}
	return false
}
