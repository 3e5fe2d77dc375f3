package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// Problem is one thing that keeps a mirror from being whole.
type Problem struct {
	File string `json:"file"`
	Ref  string `json:"ref,omitempty"`
	What string `json:"what"`
}

// Report is what a check found.
type Report struct {
	Files    int       `json:"files"`
	Refs     int64     `json:"refs"`
	Problems []Problem `json:"problems"`
	More     bool      `json:"more,omitempty"` // there are more problems than are listed
	Browser  *Opened   `json:"browser,omitempty"`
}

// maxProblems bounds the list.
const maxProblems = 1000

// Check proves a mirror: each local reference of each file leads to a file
// that is there, nothing is loaded from anywhere else, no link leads to the live
// site whose page is here under any of its names (o.Twin), and all of this
// holds on a file system that knows no case, too. Of the options, Twin and
// Watch count.
func Check(ctx context.Context, out string, o Options) (*Report, error) {
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	o.defaults()
	m, err := readMap(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", out, ErrNotOurs)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", out, MapFile, err)
	}
	c := &checker{root: root, m: m, files: map[string]bool{}, own: map[string]bool{}, pages: map[string]bool{},
		stubs: map[string]bool{}, raw: map[string]bool{}, held: newHeld(), o: &o,
		base: weburl.MustParse("http://mirror.invalid/")}
	if err := c.list(); err != nil {
		return nil, err
	}
	c.mapped()
	if err := c.readAll(ctx); err != nil {
		return nil, err
	}
	return c.done(), nil
}

// checker holds the names of a tree.
type checker struct {
	root   *os.Root
	m      *mirrorMap
	names  []string
	files  map[string]bool
	own    map[string]bool // origins of the site
	pages  map[string]bool // keys of the pages that have a file
	stubs  map[string]bool // files of the mirror's own, without scripts of the site
	raw    map[string]bool // the report says that their links are as they were
	base   weburl.URL
	o      *Options
	held   held
	mu     sync.Mutex
	report Report
	refs   atomic.Int64
}

// done is the report, in the order of names.
func (c *checker) done() *Report {
	c.report.Files, c.report.Refs = len(c.names), c.refs.Load()
	slices.SortFunc(c.report.Problems, func(a, b Problem) int {
		return strings.Compare(a.File+"\x00"+a.Ref+"\x00"+a.What, b.File+"\x00"+b.Ref+"\x00"+b.What)
	})
	return &c.report
}

func (c *checker) problem(file, ref, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.report.Problems) >= maxProblems {
		c.report.More = true
		return
	}
	c.report.Problems = append(c.report.Problems, Problem{file, ref, what})
}

// list reads the names of the tree and compares them with each other.
func (c *checker) list() error {
	folded := map[string]string{}
	return fs.WalkDir(c.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if why := badName(path.Base(name)); why != "" {
			c.problem(name, "", why)
		}
		if d.IsDir() {
			if other, ok := folded[fold(name)]; ok && c.files[other] {
				c.problem(name, "", "on case-insensitive systems the same name as the file "+other)
			}
			return nil
		}
		if !d.Type().IsRegular() {
			c.problem(name, "", "not a regular file")
			return nil
		}
		if other, ok := folded[fold(name)]; ok {
			c.problem(name, "", "on case-insensitive systems the same name as "+other)
		}
		folded[fold(name)] = name
		c.files[name] = true
		c.names = append(c.names, name)
		return nil
	})
}

// badName says what is wrong with a name.
func badName(s string) string {
	switch {
	case !utf8.ValidString(s) || !norm.NFC.IsNormalString(s):
		return "its name is not NFC"
	case isDevice(s):
		return "its name is a device name on Windows"
	case strings.ContainsAny(s, "\\:*?\"<>|\x00") || strings.HasSuffix(s, ".") || strings.HasSuffix(s, " "):
		return "its name is not allowed on Windows"
	case isObeyed(s) || defuse(s) != s:
		return "its name has a special meaning to web servers or desktops"
	case len(s) > 255:
		return "its name is too long"
	}
	return ""
}

// mapped compares the map with the tree, and learns from it which pages of the
// site are here.
func (c *checker) mapped() {
	if !c.m.Twins {
		o := Options{Fold: c.o.Fold, Watch: c.o.Watch}
		o.defaults()
		c.o = &o
	}
	for _, origin := range c.m.Origins {
		c.own[origin] = true
	}
	for _, f := range c.m.Files {
		if !c.files[f.File] {
			c.problem(f.File, f.URL, "in "+MapFile+", but missing")
		}
		if u := weburl.FromCanonical(f.URL); c.own[u.Origin()] {
			c.pages[c.o.key(u)] = true
		}
		if f.To != "" || f.URL == "" {
			c.stubs[f.File] = true
		}
		if f.Raw {
			c.raw[f.File] = true
		}
	}
}

func (c *checker) readAll(ctx context.Context) error {
	var next atomic.Int64
	var readers sync.WaitGroup
	var failure atomic.Pointer[error]
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for ctx.Err() == nil && failure.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(c.names) {
					return
				}
				if err := c.read(c.names[i]); err != nil {
					failure.Store(&err)
				}
				if i%64 == 0 || i == len(c.names)-1 {
					c.o.Watch(Progress{Step: "check", Done: i + 1, Total: len(c.names)})
				}
			}
		})
	}
	readers.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}

// read checks the references of one file.
func (c *checker) read(name string) error {
	_, ext := splitExt(name)
	typ := typeOfExt[strings.ToLower(ext)]
	if typ == "application/manifest+json" || !rewritten(typ) || c.raw[name] {
		return nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			c.problem(name, "", fmt.Sprintf("not checked: internal error: %v", cause))
		}
	}()
	st, err := c.root.Stat(name)
	if err != nil {
		return err
	}
	if st.Size() > maxRewrite {
		return nil // rewriting made it that large
	}
	defer c.held.take(st.Size())()
	body, err := c.root.ReadFile(name)
	if err != nil {
		return err
	}
	u, err := c.base.Resolve("/" + encodePath(name))
	if err != nil {
		c.problem(name, "", "no URL belongs to it")
		return nil
	}
	if typ == typeHTML && !c.m.Online && !c.stubs[name] && len(body) > 0 && !hasPolicy(body) {
		c.problem(name, "", "it has no policy that stops its scripts from loading from elsewhere")
	}
	doc := htmlmeta.Read(htmlmeta.Page{URL: u, Header: http.Header{"Content-Type": {typ}}, Body: body},
		htmlmeta.Options{IgnoreRelNofollow: true})
	if doc.Capped {
		c.problem(name, "", "more links than are checked")
	}
	for i := range doc.Links {
		if doc.Links[i].Kind != htmlmeta.Speculative {
			c.link(name, &doc.Links[i])
		}
	}
	c.refs.Add(int64(len(doc.Links)))
	return nil
}

// hasPolicy says whether a page keeps its scripts from loading from elsewhere, or is
// no text that could hold such a policy.
func hasPolicy(body []byte) bool {
	return bytes.Contains(body, []byte(Policy)) || bytes.Contains(body, []byte(singlePolicy)) ||
		bytes.Contains(body, []byte{0})
}

// link checks one reference.
func (c *checker) link(name string, l *htmlmeta.Link) {
	if l.URL.Origin() == c.base.Origin() {
		to := decode(l.URL.Path()[1:])
		if l.URL.HasQuery() {
			to += "?"
		}
		if !c.files[to] {
			c.problem(name, to, fmt.Sprintf("%s %s: no such file", l.Tag, l.Attr))
		}
		return
	}
	if c.own[l.URL.Origin()] && l.Kind != htmlmeta.Alternate && l.Kind != htmlmeta.Hint && !c.reported(name) &&
		c.pages[c.o.key(l.URL)] {
		c.problem(name, l.URL.String(), fmt.Sprintf("%s %s: leads to the live site although the page is in the mirror",
			l.Tag, l.Attr))
		return
	}
	out := linker{}
	r := htmlmeta.Reference{Link: *l}
	if out.loads(r) && !c.m.Online && !c.reported(name) {
		c.problem(name, l.URL.String(), fmt.Sprintf("%s %s: loaded from elsewhere", l.Tag, l.Attr))
	}
}

// reported says whether a file is a page of our own.
func (c *checker) reported(name string) bool { return name == ReportFile }
