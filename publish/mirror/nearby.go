package mirror

import (
	"bytes"
	"strings"
	"sync"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// nearby caches where references in the pages of one directory lead, without their fragments.
// Pages of a directory share most references.
type nearby struct {
	dir  string
	refs map[string]near
}

// near is a file of the mirror that a reference leads to.
type near struct {
	to   *entry
	path string // relative to the directory
	part string // the fragment to use if the reference has none
}

// keep caches where a reference leads.
func (n *nearby) keep(r htmlmeta.Reference, to *entry, path, part string) {
	bare := r.Text[:len(r.Text)-len(r.Fragment)]
	if path == bare {
		path = bare // share the memory
	}
	n.refs[bare] = near{to, path, encodeFragment(part)}
}

// known implements htmlmeta.Rewriting.Known.
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

// maxNearby is the most references cached, over all directories.
const maxNearby = 64 << 10

// nearbys holds the caches that no worker uses at the moment, by directory.
type nearbys struct {
	mu   sync.Mutex
	all  map[string]*nearby
	size int // references cached
}

// take returns the cache for an entry's directory, for the worker alone until it gives it back.
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
		return // too few to be worth caching
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
