package mirror

import (
	"strings"
)

// nameAll gives every entry that needs one its file. Two never get names that
// a file system might take for one, and no file has the name of a directory.
// It goes by the order of the URLs, files of pages before those of redirects,
// so that the same archive gives the same names.
func (s *site) nameAll() {
	s.name = namer{used: map[string]bool{}, dirs: map[string]bool{}, first: map[string]int{}}
	n := &s.name
	s.pages = map[string]bool{}
	for i := range s.list {
		e := &s.list[i]
		switch {
		case e.state == kept:
			e.file = candidate(e.url, s.isOwn(e.url), e.typ)
		case e.state == moved && e.final >= 0:
			e.file = candidate(e.url, s.isOwn(e.url), typeHTML)
		default:
			continue
		}
		n.addDirs(e.file)
	}
	for _, pass := range []state{kept, moved} {
		for i := range s.list {
			e := &s.list[i]
			if e.file == "" || e.state != pass {
				continue
			}
			if pass == moved && s.list[e.final].file == e.file {
				e.file = "" // http to https, say: the name is the page's own
				continue
			}
			if pass == moved || !n.share(s, i) {
				e.file = n.take(e)
			}
			if s.isOwn(e.url) {
				s.pages[s.o.key(e.url)] = true
			}
		}
	}
}

// namer knows the names that are taken.
type namer struct {
	used  map[string]bool // folded
	dirs  map[string]bool // folded
	first map[string]int  // who asked first for a name, as it is
}

func (n *namer) addDirs(file string) {
	for i := len(file) - 1; i > 0; i-- {
		if file[i] == '/' {
			d := fold(file[:i])
			if n.dirs[d] {
				return
			}
			n.dirs[d] = true
		}
	}
}

// share gives an entry the file of an earlier one that asked for the same name
// and has the same payload, as a picture under http and https, or with and
// without its extension. Documents never share: what is relative in them, "?x"
// say, leads elsewhere from / than from /index.html, and their charset may
// differ by their header; but /%70age and /page are one path (RFC 3986 §6.2.2.2).
func (n *namer) share(s *site, i int) bool {
	e := &s.list[i]
	j, ok := n.first[e.file]
	if !ok {
		n.first[e.file] = i
		return false
	}
	o := &s.list[j]
	equal := o.state == kept && o.typ == e.typ && o.sum == e.sum && e.sum != ""
	e.same = equal && (!rewritten(e.typ) || e.url.Origin() == o.url.Origin() && bareEscapes(e.url.Target()) == bareEscapes(o.url.Target()))
	if e.same {
		e.file = o.file
	}
	return e.same
}

// bareEscapes undoes the escapes of what needs none: letters, digits and -._~.
func bareEscapes(target string) string {
	if strings.IndexByte(target, '%') < 0 {
		return target
	}
	b := make([]byte, 0, len(target))
	for i := 0; i < len(target); i++ {
		if i+2 < len(target) && target[i] == '%' {
			c := decode(target[i : i+3])
			if len(c) == 1 && (unreserved[c[0]] && strings.IndexByte("/@=!+", c[0]) < 0) {
				b = append(b, c[0])
				i += 2
				continue
			}
		}
		b = append(b, target[i])
	}
	return string(b)
}

// free says whether nothing has a name.
func (n *namer) free(name string) bool { return !n.used[fold(name)] && !n.dirs[fold(name)] }

// take gives an entry the name it asks for, or one with a hash in it.
func (n *namer) take(e *entry) string {
	name := e.file
	for length := 8; ; length += 8 {
		if n.free(name) {
			n.used[fold(name)] = true
			return name
		}
		name = withHash(e.file, hash(e.url.String(), min(length, 64)))
	}
}

// withHash puts a hash before the extension.
func withHash(file, h string) string {
	dir := file[:strings.LastIndexByte(file, '/')+1]
	stem, ext := splitExt(file[len(dir):])
	return dir + safe(cut(stem, maxSegment-len(h)-len(ext))+"~"+h+ext)
}
