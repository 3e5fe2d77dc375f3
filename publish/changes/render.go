package changes

import (
	"cmp"
	_ "embed"
	"encoding/xml"
	"html/template"
	"io"
	"net/url"
	"time"

	"curtsy/internal/legible"
)

// JSON is a change as `curtsy changes --json` prints it.
type JSON struct {
	URL      string    `json:"url"`
	Change   Kind      `json:"change"`
	Title    string    `json:"title"`
	Was      string    `json:"was"` // when the earlier copy was captured, RFC 3339; "" for none
	Now      string    `json:"now"`
	Reason   string    `json:"reason"`
	Passages []Passage `json:"passages"`
}

// JSON converts the change for encoding.
func (c *Change) JSON() JSON {
	j := JSON{URL: c.URL, Change: c.Kind, Title: c.Title, Now: c.Now.At.UTC().Format(time.RFC3339), Reason: c.Reason,
		Passages: c.Passages}
	if c.Was != nil {
		j.Was = c.Was.At.UTC().Format(time.RFC3339)
	}
	if j.Passages == nil {
		j.Passages = []Passage{}
	}
	return j
}

// Page is the data of the HTML page and the feed of changes.
type Page struct {
	Site    string // the seed
	Since   time.Time
	Now     time.Time
	Changes []*Change // those that may be listed
}

//go:embed page.html
var pageText string

// WriteHTML writes a self-contained HTML page without scripts.
func (p *Page) WriteHTML(w io.Writer) error {
	t, err := template.New("changes").Funcs(template.FuncMap{
		"day": func(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04 UTC") },
		"of":  p.of,
	}).Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(legible.Writer{W: w}, p)
}

// Kinds are the sections of the page, in order.
func (p *Page) Kinds() []Kind {
	return []Kind{Changed, New, Gone, Moved, Back, Suspect, Unreachable}
}

func (p *Page) of(k Kind) (list []*Change) {
	for _, c := range p.Changes {
		if c.Kind == k {
			list = append(list, c)
		}
	}
	return list
}

// atomFeed and atomEntry are the RFC 4287 elements that are written.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Entries []atomEntry `xml:"entry"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
	Summary string   `xml:"summary"`
}

type atomLink struct {
	Href string `xml:"href,attr"`
}

// WriteAtom writes a feed (RFC 4287) with one entry per change. The id of an entry names the
// URL and the time of capture, so that a feed reader shows it once.
func (p *Page) WriteAtom(w io.Writer) error {
	feed := atomFeed{ID: p.Site + "#changes", Title: "Changes of " + p.Site, Updated: p.Now.UTC().Format(time.RFC3339),
		Author: "curtsy"}
	for _, c := range p.Changes {
		at := c.Now.At.UTC().Format(time.RFC3339)
		feed.Entries = append(feed.Entries, atomEntry{
			ID:    "urn:curtsy:" + string(c.Kind) + ":" + at + ":" + url.QueryEscape(c.URL),
			Title: string(c.Kind) + ": " + c.Name(), Updated: at, Link: atomLink{c.URL}, Summary: c.summary(),
		})
	}
	b, err := xml.Marshal(feed)
	if err == nil {
		_, err = io.WriteString(w, xml.Header+legible.Text(string(b)))
	}
	return err
}

// Name returns the title, or the URL if there is none.
func (c *Change) Name() string { return cmp.Or(c.Title, c.URL) }

func (c *Change) summary() string {
	text := c.Reason
	for _, p := range c.Passages {
		if text != "" {
			text += "\n"
		}
		if p.Was != "" {
			text += "- " + p.Was + "\n"
		}
		if p.Now != "" {
			text += "+ " + p.Now
		}
	}
	return text
}
