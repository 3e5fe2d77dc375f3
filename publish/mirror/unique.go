package mirror

import (
	"path"
	"strings"
)

// nameAll names the file of every entry that needs one. Names are unique even on
// case-insensitive file systems, and no file has the name of a directory. It goes by the order
// of the URLs, pages before redirects, so that the same archive gives the same names.
func (s *site) nameAll() {
	n := &namer{used: newNameSet(), dirs: newNameSet(), first: map[uint64]int32{}}
	s.pages = newNameSet()
	for i := range s.list {
		e := &s.list[i]
		typ := e.typ()
		if e.state == moved && e.final >= 0 {
			typ = typeHTML
		} else if e.state != kept {
			continue
		}
		e.file = s.inURL(e, candidate(e.url, s.isOwn(e.url), typ))
		n.addDirs(e.file)
	}
	for _, pass := range []state{kept, moved} {
		for i := range s.list {
			e := &s.list[i]
			if e.file == "" || e.state != pass {
				continue
			}
			if pass == moved && s.list[e.final].file == e.file {
				e.file = "" // e.g. http to https: the page itself has that name
				continue
			}
			if pass == moved || !n.share(s, i) {
				e.file = n.take(e, &s.texts)
			}
			if s.isOwn(e.url) {
				s.pages.add(s.o.key(e.url))
			}
		}
	}
	s.start = !n.free("index.html")
	s.badNames = n.bad
}

// inURL stores a file name, as a substring of the URL if it is one.
func (s *site) inURL(e *entry, file string) string {
	if href := e.url.String(); strings.HasSuffix(href, file) {
		return href[len(href)-len(file):]
	}
	return s.texts.keep(file)
}

// namer records the names in use.
type namer struct {
	used  nameSet          // folded
	dirs  nameSet          // folded
	first map[uint64]int32 // the first entry that asked for a name, by the hash of the name, unfolded
	bad   []Problem        // names that some file system does not accept
}

func (n *namer) addDirs(file string) {
	for i := len(file) - 1; i > 0; i-- {
		if file[i] == '/' && !n.dirs.add(fold(file[:i])) {
			return
		}
	}
}

// share gives an entry the file of an earlier one that asked for the same name and has the same
// payload, such as an image under http and https, or with and without its extension. Documents
// do not share: relative references such as "?x" resolve differently from / and /index.html,
// and headers may give different charsets. But /%70age and /page are the same path (RFC 3986
// §6.2.2.2).
func (n *namer) share(s *site, i int) bool {
	e := &s.list[i]
	name := n.used.hash(e.file)
	j, asked := n.first[name]
	if !asked {
		n.first[name] = int32(i)
		return false
	}
	o := &s.list[j]
	onePath := e.url.Origin() == o.url.Origin() && bareEscapes(e.url.Target()) == bareEscapes(o.url.Target())
	e.same = o.typ() == e.typ() && (!rewritten(e.typ()) || onePath) && s.equal(o, e)
	if e.same {
		e.file = o.file
	}
	return e.same
}

// equal reports whether two entries have the same payload.
func (s *site) equal(x, y *entry) bool {
	sum := s.digest(x.ref())
	return sum != "" && sum == s.digest(y.ref())
}

// bareEscapes decodes escapes of unreserved characters: letters, digits and -._~.
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

// free reports whether a name is unused.
func (n *namer) free(name string) bool {
	name = fold(name)
	return !n.used.has(name) && !n.dirs.has(name)
}

// take returns the preferred name of an entry, or one with a hash if that is taken.
func (n *namer) take(e *entry, t *texts) string {
	name := e.file
	for length := 8; !n.free(name); length += 8 {
		name = t.keep(withHash(e.file, hash(e.url.String(), min(length, 64))))
	}
	n.used.add(fold(name))
	if why := badName(path.Base(name)); why != "" {
		n.bad = append(n.bad, Problem{File: name, What: why})
	}
	return name
}

// withHash inserts a hash before the extension.
func withHash(file, h string) string {
	dir := file[:strings.LastIndexByte(file, '/')+1]
	stem, ext := splitExt(file[len(dir):])
	return dir + safe(cut(stem, maxSegment-len(h)-len(ext))+"~"+h+ext)
}
