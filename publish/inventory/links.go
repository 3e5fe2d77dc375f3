package inventory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Link is one link of a page and what its target answered.
type Link struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Status int    `json:"status"` // of the target itself; 0: it was not asked for
	Broken bool   `json:"broken"`
	Reason string `json:"reason"` // why it is broken, or why it was not asked for
}

// maxBody is how much of a body is read for its links, as a crawl does by default.
const maxBody = 16 << 20

// Options of Links.
type Options struct {
	Known EachKnown
	Now   time.Time
	// Fold gives the URL that the site's Clean-param makes of another one; nil
	// folds nothing.
	Fold func(weburl.URL) (weburl.URL, bool)
}

// Links calls each with all links of one page, page by page, each target once.
// The links of a page whose body is not kept, or may not be shown, are unknown;
// of those, and of sitemaps and redirects, it gives the broken URLs that they
// led to first.
func Links(ctx context.Context, a *storage.Archive, o Options, each func(from string, links []Link) error) error {
	t, err := readTargets(a, o)
	if err != nil {
		return err
	}
	for visits, err := range a.Histories() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		v := readable(visits, o.Now)
		if v == nil {
			continue
		}
		links, err := t.linksOf(a, v)
		if err == nil && len(links) > 0 {
			err = each(v.URL, links)
		}
		if err != nil {
			return err
		}
	}
	return t.unmentioned(a, each)
}

// readable is the visit whose body tells the links of a page; nil where they
// cannot or may not be read, and where the page is gone.
func readable(visits []*crawllog.Visit, now time.Time) *crawllog.Visit {
	v, last := publish.Current(visits), visits[len(visits)-1]
	switch {
	case v.Status < 200 || v.Status > 299 || !v.HasBody() || v.Links == 0 || last.Status == 404 || last.Status == 410:
		return nil
	case !permit(visits, v, now).Show:
		return nil
	}
	return v
}

// linksOf reads the links of a page again and judges each.
func (t *targets) linksOf(a *storage.Archive, v *crawllog.Visit) ([]Link, error) {
	doc, err := read(a, v)
	if err != nil {
		return nil, err
	}
	var list []Link
	seen := map[weburl.URL]bool{}
	for i := range doc.Links {
		l := &doc.Links[i]
		if l.Kind == htmlmeta.Form || l.Kind == htmlmeta.Hint || l.Kind == htmlmeta.Speculative || seen[l.URL] {
			continue
		}
		seen[l.URL] = true
		link := t.judge(l.URL)
		link.From = v.URL
		list = append(list, link)
	}
	return list, nil
}

// read reads a kept page. What the site sent damaged has the links that can be
// read; damage of the archive is an error.
func read(a *storage.Archive, v *crawllog.Visit) (htmlmeta.Document, error) {
	b, err := publish.OpenPage(a, v)
	if err == nil {
		defer b.Close()
		var body bytes.Buffer
		if _, err = io.Copy(&body, io.LimitReader(b, maxBody)); err == nil || !archives(err) {
			return htmlmeta.Read(htmlmeta.Page{URL: weburl.FromCanonical(v.URL), Header: b.Header, Body: body.Bytes()}, htmlmeta.Options{}), nil
		}
	}
	if archives(err) {
		return htmlmeta.Document{}, fmt.Errorf("read %s: %w", v.URL, err)
	}
	return htmlmeta.Document{}, nil
}

// archives says whether an error is the archive's and not the site's.
func archives(err error) bool {
	var damage *storage.DamageError
	return errors.As(err, &damage) || storage.IsDisk(err)
}

// unmentioned gives the broken URLs that no page read above links to: those of
// sitemaps, of redirects and of pages whose bodies are not kept.
func (t *targets) unmentioned(a *storage.Archive, each func(string, []Link) error) error {
	vias := via{a: a}
	return t.o.Known(func(k Known) error {
		o := t.find(k.URL)
		if o == nil || !o.failed || o.mentioned || !isLink(k) {
			return nil
		}
		from, err := vias.url(k.Via)
		if err != nil {
			return err
		}
		return each(from, []Link{{From: from, To: k.URL, Status: int(o.status), Broken: true, Reason: t.reasons[o.reason]}})
	})
}

// isLink says whether somebody named the URL. Nobody links to the robots.txt
// that every crawler asks for, nor to a name that was made up to learn what the
// site answers for what it does not have.
func isLink(k Known) bool {
	return k.How != "robots.txt" && !strings.HasPrefix(k.How, "probe")
}
