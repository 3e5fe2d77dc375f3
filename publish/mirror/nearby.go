package mirror

import (
	"bytes"
	"strings"
	"sync"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// nearby is what references in the pages of one directory lead to, by what they are
// without their fragment. Most of a page's are those of the pages beside it.
type nearby struct {
	dir  string
	refs map[string]near
}

// near is where a reference leads: to a file of the tree.
type near struct {
	to   *entry
	path string // from the directory
	part string // the fragment where the reference has none
}

// keep remembers where a reference leads.
func (n *nearby) keep(r htmlmeta.Reference, to *entry, path, part string) {
	bare := r.Text[:len(r.Text)-len(r.Fragment)]
	if path == bare {
		path = bare // there once
	}
	n.refs[bare] = near{to, path, encodeFragment(part)}
}

// known is htmlmeta.Rewriting's Known.
func (l *linker) known(ref []byte, kind htmlmeta.LinkKind) (string, bool) {
	i := bytes.IndexByte(ref, '#')
	if i < 0 {
		i = len(ref)
	}
	n, ok := l.near.refs[string(ref[:i])]
	part := n.part
	switch {
	case !ok || i < len(ref) && weburl.IsRoute(string(ref[i:])):
		return "", false
	case n.to == l.from && kind == htmlmeta.Navigation && i < len(ref):
		return encodeFragment(string(ref[i:])), true
	case n.to == l.from && part != "":
		return "", false
	}
	if i < len(ref) {
		if n.path == string(ref[:i]) && plainFragment(ref[i:]) {
			return "", true
		}
		part = encodeFragment(string(ref[i:]))
	} else if part == "" && n.path == string(ref) {
		return "", true
	}
	return n.path + part, true
}

// maxNearby is how many references are remembered, of all directories.
const maxNearby = 64 << 10

// nearbys are those that no worker has at the moment, by their directories.
type nearbys struct {
	mu   sync.Mutex
	all  map[string]*nearby
	size int // references in them
}

// take gives a worker what is known of references in an entry, for it alone until it
// is given back.
func (n *nearbys) take(e *entry) *nearby {
	dir := e.url.Origin() + e.url.Path()
	dir = dir[:strings.LastIndexByte(dir, '/')+1] + "\x00" + e.file[:strings.LastIndexByte(e.file, '/')+1]
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.all[dir]
	if d == nil {
		return &nearby{dir: dir, refs: map[string]near{}}
	}
	delete(n.all, dir)
	n.size -= len(d.refs)
	return d
}

func (n *nearbys) give(d *nearby) {
	if len(d.refs) > maxNearby/4 {
		return // of so many few are met again
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if had := n.all[d.dir]; had != nil {
		if len(had.refs) >= len(d.refs) {
			return
		}
		n.size -= len(had.refs)
	}
	if n.all == nil || n.size+len(d.refs) > maxNearby {
		n.all, n.size = map[string]*nearby{}, 0
	}
	n.all[d.dir] = d
	n.size += len(d.refs)
}
