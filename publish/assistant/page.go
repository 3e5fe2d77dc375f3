package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/markdown"
	"curtsy/publish/replay"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// page is the current capture of a URL, open for reading during a request.
type page struct {
	*replay.Reading
	source *replay.Source
	visit  *crawllog.Visit
	permit publish.Permit
}

// cite gives the page's URL, title and time of capture, one per line.
func (p *page) cite() string {
	return fmt.Sprintf("URL: %s\nTitle: %s\nCaptured: %s\n", p.visit.URL, p.visit.Title, captured(p.visit))
}

func captured(v *crawllog.Visit) string { return v.At.UTC().Format(time.RFC3339) }

// hops is the most redirects followed within an archive.
const hops = 5

// page returns the current page of a URL if its text may be given, following redirects;
// otherwise the error says why not.
func (s *server) page(ctx context.Context, text string) (*page, error) {
	for range hops {
		p, err := s.find(ctx, text)
		if err != nil {
			return nil, err
		}
		if !p.visit.Redirects() {
			return p, p.allowed()
		}
		text = p.visit.Location
	}
	return nil, fmt.Errorf("%s: too many redirects", text)
}

// find returns the current capture of a URL, from the first archive that has one.
func (s *server) find(ctx context.Context, text string) (*page, error) {
	return s.findIn(ctx, text, s.sources)
}

func (s *server) findIn(ctx context.Context, text string, sources []*replay.Source) (*page, error) {
	u, err := weburl.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL: %w", text, err)
	}
	for _, f := range sources {
		if p, err := s.current(ctx, f, u); p != nil || err != nil {
			return p, err
		}
	}
	return nil, fmt.Errorf("%s is not archived; explain says why", u)
}

// current returns the current capture of a URL in an archive; nil if there is none. The latest
// answer in the other archives may withdraw it.
func (s *server) current(ctx context.Context, f *replay.Source, u weburl.URL) (*page, error) {
	h, err := f.History(ctx, u)
	if h == nil || err != nil {
		return nil, err
	}
	v, permit := publish.CurrentPermit(h.Visits, time.Now(), h.Find)
	if v == nil || v.Kept == "" {
		return nil, nil
	}
	latest, err := replay.Latest(ctx, s.sources, u, time.Now())
	latest.Withdraw(v.At, &permit)
	return &page{Reading: h.Reading, source: f, visit: v, permit: permit}, err
}

// allowed returns an error that says why the text of a page may not be given, or nil.
func (p *page) allowed() error {
	switch {
	case p.permit.Refuses(usage.AIInput):
		return fmt.Errorf("refused: the owner of %s does not allow it to be given to a model: %s",
			p.visit.URL, strings.Join(p.permit.Refusals(usage.AIInput), "; "))
	case !p.permit.Show:
		return fmt.Errorf("%s may not be shown: %s", p.visit.URL, p.permit.Why())
	case p.permit.Snippet != publish.NoLimit:
		return fmt.Errorf("the text of %s may not be given as a whole: %s", p.visit.URL, p.permit.Why())
	case !p.visit.IsCopy():
		return fmt.Errorf("%s has no page: it answered %d", p.visit.URL, p.visit.Status)
	}
	return nil
}

var errNoText = errors.New("it has no text that can be read")

// Limits of a page, in octets.
const (
	maxText = 1 << 20
	maxPart = 8 << 10 // of one answer
)

// textOf returns the text of a page as Markdown.
func (s *server) textOf(ctx context.Context, p *page) (string, error) {
	about, err := publish.ReadPage(p.Archive, p.visit)
	if about.Header == nil || publish.IsOfArchive(err) {
		return "", err
	}
	text := ""
	if s.o.PDF != nil && strings.HasPrefix(strings.ToLower(p.visit.ContentType), "application/pdf") {
		blocks, err := s.o.PDF(ctx, about.Body)
		if err != nil && len(blocks) == 0 {
			return "", err
		}
		text = markdown.Paragraphs(blocks)
	} else {
		text = s.text.Of(about, maxText)
	}
	if text == "" {
		return "", fmt.Errorf("%s: %w", p.visit.URL, errNoText)
	}
	return text, nil
}

// partsOf splits a text into parts of at most maxPart octets between paragraphs; a longer
// paragraph is a part of its own.
func partsOf(text string) (parts []string) {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if b.Len() > 0 && b.Len()+len(paragraph) > maxPart {
			parts = append(parts, b.String())
			b.Reset()
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(paragraph)
	}
	return append(parts, b.String())
}

// heading is a heading of a page.
type heading struct {
	Level int    `json:"level"`
	Text  string `json:"text"`
	Part  int    `json:"part"`
}

// headingsOf lists the headings of the parts of a text, ignoring code blocks.
func headingsOf(parts []string) []heading {
	list := []heading{}
	inCode := false
	for i, part := range parts {
		for line := range strings.Lines(part) {
			if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
				inCode = !inCode
			}
			level := len(line) - len(strings.TrimLeft(line, "#"))
			if text := strings.TrimSpace(line[level:]); !inCode && level > 0 && level < 7 &&
				line[level] == ' ' && text != "" {
				list = append(list, heading{level, text, i + 1})
			}
		}
	}
	return list
}
