package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/sitemap"
)

// sitemapFacts is the JSON output for a sitemap.
type sitemapFacts struct {
	Type     sitemap.Kind `json:"type"`
	URLs     []string     `json:"urls"`
	Children []string     `json:"children"`

	LastMod    map[string]time.Time `json:"lastmod"`      // of entries that have one
	OutOfScope int                  `json:"out_of_scope"` // of another scheme, host or port
	Bad        int                  `json:"bad"`          // invalid or too long URLs
	Truncated  string               `json:"truncated"`    // why it was not read completely
}

// sitemapCmd prints the contents of a sitemap.
func sitemapCmd(u *ui) *cobra.Command {
	var base, contact string
	var asJSON, strict bool
	list := vars{"base": &base, "contact": &contact, "json": &asJSON, "strict": &strict}
	return newCommand("sitemap FILE|URL", list, func(c *cobra.Command, a []string) error {
		scope, err := sitemapScope(a[0], base)
		if err != nil {
			return err
		}
		in, err := u.openSitemap(c, a[0], contact)
		if err != nil {
			return err
		}
		defer in.Close()
		return u.sitemap(a[0], in, scope, base != "", asJSON, strict)
	})
}

// sitemap prints a sitemap; with only, without the URLs of other origins than that of scope.
func (u *ui) sitemap(name string, in io.Reader, scope weburl.URL, only, asJSON, strict bool) error {
	f := sitemapFacts{URLs: []string{}, Children: []string{}, LastMod: map[string]time.Time{}}
	sum, err := sitemap.Read(in, scope, func(e sitemap.Entry, child bool) error {
		if e.Alternate || only && weburl.FromCanonical(e.Loc).Origin() != scope.Origin() {
			return nil
		}
		if !e.LastMod.IsZero() {
			f.LastMod[e.Loc] = e.LastMod.UTC()
		}
		switch {
		case child:
			f.Children = append(f.Children, e.Loc)
		default:
			f.URLs = append(f.URLs, e.Loc)
		}
		return nil
	})
	if err != nil {
		return fileError(err)
	}
	f.Type, f.OutOfScope, f.Bad, f.Truncated = sum.Kind, sum.OutOfScope, sum.Bad, sum.Truncated
	if asJSON {
		u.json(f)
	} else {
		u.sitemapReport(name, f, sum)
	}
	for _, bad := range sum.BadEntries {
		u.say("  %s", bad)
	}
	return sitemapError(name, sum, strict)
}

// sitemapError says what is wrong with a sitemap; nil if nothing is.
func sitemapError(name string, sum sitemap.Summary, strict bool) error {
	var wrong []string
	if sum.Kind == sitemap.None {
		wrong = append(wrong, "not a sitemap: no URL was found in it")
	}
	if sum.Truncated != "" {
		wrong = append(wrong, "not read to the end: "+sum.Truncated)
	}
	if sum.Bad > 0 {
		wrong = append(wrong, fmt.Sprintf("%d not valid URLs, or too long", sum.Bad))
	}
	if strict && sum.OutOfScope > 0 {
		wrong = append(wrong, fmt.Sprintf("%d on another scheme, host or port", sum.OutOfScope))
	}
	if len(wrong) == 0 {
		return nil
	}
	return exitWith(exitFailed, fmt.Errorf("%s: %s", name, strings.Join(wrong, "; ")),
		"https://www.sitemaps.org/protocol.html for what a sitemap has to be")
}

// sitemapScope returns the base of relative URLs.
func sitemapScope(name, base string) (weburl.URL, error) {
	if base == "" && isURL(name) {
		base = name
	}
	if base == "" {
		return weburl.URL{}, nil
	}
	scope, err := weburl.Parse(base)
	if err != nil {
		return scope, usagef("curtsy sitemap --help", "--base %s: %v", base, err)
	}
	return scope, nil
}

func isURL(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

func (u *ui) openSitemap(c *cobra.Command, name, contact string) (io.ReadCloser, error) {
	if isURL(name) {
		return fetchSitemap(c.Context(), u, name, contact)
	}
	return u.open(name)
}

// sitemapReport prints the URLs, and messages about the rest.
func (u *ui) sitemapReport(name string, f sitemapFacts, sum sitemap.Summary) {
	for _, url := range f.Children {
		u.print("sitemap %s", url)
	}
	for _, url := range f.URLs {
		u.print("%s", url)
	}
	if sum.Kind == sitemap.None {
		return
	}
	u.say("%s: %s, %s, %s", name, sum.Kind, legible.Count(sum.URLs, "URL"), legible.Count(sum.Children, "sitemap"))
	if sum.OutOfScope > 0 {
		u.say("  %d on another scheme, host or port", sum.OutOfScope)
	}
}
