// Package archive reads archives made by curtsy: it lists their captures, opens what they contain, and
// says what may be done with them.
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
// An archive is opened read-only and is not changed. A program that shows captures to others must
// check their Permit; reading them oneself needs none.
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

// ErrNoBody reports that no body of a capture is stored: the site asked to withhold it, or there was
// none.
var ErrNoBody = storage.ErrNoBody

// Permit says what may be done with a capture, and why not more.
type Permit = publish.Permit

// Verdict is the robots.txt decision by which a URL was fetched.
type Verdict = crawllog.Decision

// Archive is an archive directory, open for reading. It is safe for concurrent use.
type Archive struct {
	a *storage.Archive
}

// Open opens the archive in dir for reading. The caller must Close it.
func Open(dir string) (*Archive, error) {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return nil, err
	}
	return &Archive{a}, nil
}

// Close closes the archive. Its captures must not be used afterwards.
func (a *Archive) Close() error { return a.a.Close() }

// Capture is one visit of a URL that got a response.
type Capture struct {
	URL      string
	At       time.Time
	Status   int    // HTTP status
	Type     string // Content-Type as sent
	Title    string // title of a page
	Lang     string // language that a page declares
	Location string // target of a redirect
	Digest   string // digest of the body as sent, "sha256:…"
	Length   int64  // length of the body as sent, in octets
	// Current says that this is the latest good capture of the URL.
	Current bool
	// Permit is what may be done with the capture now.
	Permit Permit
	// Verdict is nil if robots.txt was not consulted, as for robots.txt itself.
	Verdict *Verdict

	v *crawllog.Visit
	a *storage.Archive
}

// Captures iterates over all captures: URLs in order of discovery, the captures of a URL from the
// oldest to the newest. An error ends the iteration.
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

// history returns the captures of one URL.
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

// Body opens the decoded body and returns it with the response header. For a rendered page it is the
// document that the browser made; WriteTo writes the one that was sent. The caller must close it. The
// error is ErrNoBody if none is stored.
func (c *Capture) Body() (io.ReadCloser, http.Header, error) {
	b, err := publish.OpenPage(c.a, c.v)
	if err != nil {
		return nil, nil, err
	}
	return b, b.Header, nil
}

// Links returns the URLs of other pages that a page links to, without images and styles.
func (c *Capture) Links() (list []string, err error) {
	links, err := publish.Links(c.a, c.v)
	for _, l := range links {
		if l.Kind == htmlmeta.Navigation {
			list = append(list, l.URL.String())
		}
	}
	return list, err
}

// WriteTo writes the stored WARC records of the capture, each a gzip member. Concatenated with others
// they form a WARC file. It returns the number of octets written.
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
