// Package archive reads archives that curtsy has made: which captures there
// are, what they hold, and what may be done with them.
//
//	a, err := archive.Open("example.org")
//	if err != nil {
//		return err
//	}
//	defer a.Close()
//	for c, err := range a.Captures() {
//		if err != nil {
//			return err
//		}
//		if c.Permit.Show {
//			fmt.Println(c.URL, c.Title)
//		}
//	}
//
// An archive is opened for reading only, and nothing in it is changed. Whoever
// shows captures to others asks their Permit; reading them for oneself needs
// none.
package archive

import (
	"io"
	"iter"
	"net/http"
	"time"

	"curtsy/htmlmeta"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// ErrNoBody says that no body is kept of a capture: it was withheld as the site
// asks, or there was none.
var ErrNoBody = storage.ErrNoBody

// Permit is what may be done with a capture, and why not more.
type Permit = publish.Permit

// Verdict is the line of a robots.txt that let a URL be fetched.
type Verdict = crawllog.Decision

// Archive is an archive directory, open for reading. It may be used from any
// number of goroutines.
type Archive struct {
	a *storage.Archive
}

// Open opens the archive in a directory.
func Open(dir string) (*Archive, error) {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return nil, err
	}
	return &Archive{a}, nil
}

// Close ends the use of the archive.
func (a *Archive) Close() error { return a.a.Close() }

// Capture is one visit of a URL that was answered.
type Capture struct {
	URL      string
	At       time.Time
	Status   int    // of HTTP
	Type     string // the Content-Type as it was sent
	Title    string // of a page
	Lang     string // of a page, as it says
	Location string // where a redirect leads
	Digest   string // of the body as it was sent, "sha256:…"
	Length   int64  // of the body as it was sent, in octets
	// Current says that this capture stands for the URL: it is the latest good one.
	Current bool
	// Permit is what may be done with the capture now.
	Permit Permit
	// Verdict is nil where robots.txt was not asked, as for itself.
	Verdict *Verdict

	v *crawllog.Visit
	a *storage.Archive
}

// Captures gives all captures, by URL in the order of discovery and by age. An
// error ends them.
func (a *Archive) Captures() iter.Seq2[*Capture, error] {
	now := time.Now()
	return func(yield func(*Capture, error) bool) {
		for visits, err := range a.a.Histories() {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, c := range a.history(visits, now) {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// history is the captures of one URL.
func (a *Archive) history(visits []*crawllog.Visit, now time.Time) (list []*Capture) {
	permits, current := publish.Permits(visits, now, a.a.VisitsAt), crawllog.Current(visits, a.a.VisitsAt)
	for i, v := range visits {
		if v.Status == 0 {
			continue
		}
		list = append(list, &Capture{URL: v.URL, At: v.At, Status: v.Status, Type: v.ContentType, Title: v.Title,
			Lang: v.Lang, Location: v.Location,
			Digest: v.Digest, Length: v.Length, Current: v == current, Permit: permits[i],
			Verdict: v.Robots, v: v, a: a.a})
	}
	return list
}

// Body opens the body without its codings, with the header of the response: of a page
// that was rendered the document that the browser made, of which Links are the links;
// as it was sent it is in the records of WriteTo. The caller closes it. ErrNoBody if
// none is kept.
func (c *Capture) Body() (io.ReadCloser, http.Header, error) {
	b, err := publish.OpenPage(c.a, c.v)
	if err != nil {
		return nil, nil, err
	}
	return b, b.Header, nil
}

// Links are the URLs that a page links to: other pages, not pictures or styles.
func (c *Capture) Links() (list []string, err error) {
	links, err := publish.Links(c.a, c.v)
	for _, l := range links {
		if l.Kind == htmlmeta.Navigation {
			list = append(list, l.URL.String())
		}
	}
	return list, err
}

// WriteTo writes the WARC records of the capture as they are kept, each a gzip
// member: behind others they make a WARC file.
func (c *Capture) WriteTo(w io.Writer) (int64, error) {
	if c.v.Record == nil {
		return 0, ErrNoBody
	}
	f, err := c.a.OpenSegment(c.v.Record.Segment)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := int64(0)
	for _, x := range c.v.Record.Extents() {
		m, err := warc.CopyMembers(w, f, x.Offset, x.Length)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}
