package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/text/language"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/frontier/judge"
	"curtsy/internal/dates"
	"curtsy/internal/weburl"
)

// readSeeds reads where a crawl starts: the first URL is the seed, others are additional pages.
// With sitemaps only, the site is that of their origin.
func (f *crawlFlags) readSeeds(u *ui, args []string) (seed weburl.URL, err error) {
	for i, s := range f.sitemaps {
		m, bare, err := typedURL(s)
		if err != nil {
			return seed, err
		}
		f.bare = f.bare || bare && i == 0 && len(args) == 0 && f.seeds == ""
		f.given.Sitemaps = append(f.given.Sitemaps, m)
	}
	var pages []weburl.URL
	for i, s := range args {
		p, bare, err := typedURL(s)
		if err != nil {
			return seed, err
		}
		f.bare = f.bare || bare && i == 0
		pages = append(pages, p)
	}
	more, err := f.listed(u.in, len(pages) == 0)
	if err != nil {
		return seed, err
	}
	switch pages = append(pages, more...); {
	case len(pages) > 0:
		f.given.Pages = pages[1:]
		return pages[0], nil
	case len(f.given.Sitemaps) > 0:
		return weburl.Parse(f.given.Sitemaps[0].Origin() + "/")
	}
	return seed, usagef("curtsy crawl https://example.org/ --contact you@example.org",
		"curtsy crawl wants a URL, --seeds FILE or --sitemap URL")
}

// listed reads the URLs of --seeds, without empty lines and comments. With hasSeed, the first is
// the seed.
func (f *crawlFlags) listed(stdin io.Reader, hasSeed bool) (list []weburl.URL, err error) {
	const try = "--seeds with a file of one URL per line"
	if f.seeds == "" {
		return nil, nil
	}
	lines, err := readLines(stdin, f.seeds)
	if err != nil {
		return nil, usagef(try, "seeds: %v", err)
	}
	for n, line := range lines {
		if line == "" {
			continue
		}
		u, bare, err := typedURL(line)
		if err != nil {
			return nil, usagef(try, "%s:%d: %v", f.seeds, n+1, err)
		}
		f.bare = f.bare || bare && hasSeed && len(list) == 0
		list = append(list, u)
	}
	if len(list) == 0 {
		return nil, usagef(try, "%s: contains no URL", f.seeds)
	}
	return list, nil
}

// comment matches a comment: a '#' at the beginning of a line or after a blank, unlike in a URL.
var comment = regexp.MustCompile(`(^|[ \t])#.*`)

// readLines reads a file, or stdin for "-", without comments.
func readLines(stdin io.Reader, name string) (lines []string, err error) {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	s := bufio.NewScanner(r)
	for s.Scan() {
		lines = append(lines, strings.TrimSpace(comment.ReplaceAllString(s.Text(), "")))
	}
	return lines, s.Err()
}

// sinceDate parses --since: a date, or a time.
func (f *crawlFlags) sinceDate() (time.Time, error) {
	if f.since == "" {
		return time.Time{}, nil
	}
	t, ok := dates.ParseW3C(f.since)
	if !ok {
		return t, usagef("--since 2026-01-31", "--since %q is not a date", f.since)
	}
	return t, nil
}

// ofTheSite rejects pages of another site, since an archive has one site.
func ofTheSite(o *crawler.Options) error {
	s := o.Scope
	for _, p := range o.Given.Pages {
		if isOfSite(o.Seed, p, &s) {
			continue
		}
		return usagef("curtsy crawl "+quoted(p.String())+" for an archive of its own, or --scope domain",
			"%s is not on the site %s: an archive holds one site", p, o.Seed.Origin())
	}
	return nil
}

// seedURL parses a URL that was given with its scheme.
func seedURL(s string) (weburl.URL, error) {
	u, bare, err := typedURL(s)
	switch {
	case err == nil && bare && isLoopback(u):
		return u, usagef(quoted("http"+strings.TrimPrefix(u.String(), "https")), "%q has no scheme", s)
	case err == nil && bare:
		return u, usagef(quoted(u.String()), "%q has no scheme", s)
	}
	return u, err
}

// wrapping are characters around a URL copied from a text.
const wrapping = " \t\r\n<>\"'`\u00a0\u200b\ufeff\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"

// typedURL parses a URL as typed or pasted: it removes surrounding blanks, brackets and quotes,
// a leading "view-source:", and a dot after the host. Without a scheme, bare is true and the
// scheme is https.
func typedURL(s string) (u weburl.URL, bare bool, err error) {
	text := strings.Trim(s, wrapping)
	if hasPrefixFold(text, "view-source:") {
		text = strings.Trim(text[len("view-source:"):], wrapping)
	}
	if _, err := os.Stat(text); err == nil && !strings.Contains(text, "://") && text != "" {
		return u, false, usagef("--seeds "+quoted(text)+" for a file of URLs, or "+quoted("https://"+text),
			"%s is a file here, not a URL", text)
	}
	if bare = !strings.Contains(text, "://") && !hasScheme.MatchString(text); bare {
		text = "https://" + strings.TrimLeft(text, "/")
	}
	u, err = weburl.Parse(text)
	switch {
	case strings.ContainsAny(strings.Trim(s, wrapping), " @") && bare, err != nil:
		return u, bare, usagef("a URL such as https://example.org/", "%q: %v", s, cmp.Or(err, weburl.ErrInvalid))
	case secretIn(text):
		return u, bare, usagef(quoted(u.String()), "%s: a user name and password in a URL are neither sent nor stored",
			u)
	case strings.HasSuffix(u.Hostname(), "."):
		port := strings.TrimPrefix(u.Host(), u.Hostname())
		u, err = weburl.Parse(u.Scheme() + "://" + strings.TrimRight(u.Hostname(), ".") + port + u.Target())
	}
	return u, bare, err
}

// hasScheme matches a scheme that cannot be host:port.
var hasScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:([^0-9]|$)`)

// secretIn reports whether a URL has a user name, and perhaps a password.
func secretIn(s string) bool {
	_, rest, _ := strings.Cut(s, ":")
	rest = strings.TrimLeft(rest, `/\`)
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		rest = rest[:i]
	}
	return strings.Contains(rest, "@")
}

// chooseScheme chooses the scheme of a seed given without one: that of an existing archive,
// else https, or http if nothing accepts connections for https. It sends no request.
func (f *crawlFlags) chooseScheme(u *ui, c *config, seed weburl.URL) (weburl.URL, error) {
	plain := plainOf(seed)
	if archived, _, err := remembered(c.Archive); err == nil && (archived == seed || archived == plain) {
		return archived, nil
	}
	o, err := crawlOptions(c, seed, nil)
	if err != nil {
		return seed, err
	}
	client := fetch.New(o.Fetch)
	defer client.Close()
	ctx, release := u.until()
	defer release()
	err = client.Reach(ctx, seed)
	if err == nil || errors.Is(err, fetch.ErrUntrusted) || errors.Is(err, fetch.ErrNoHost) || ctx.Err() != nil ||
		client.Reach(ctx, plain) != nil {
		return seed, context.Cause(ctx)
	}
	f.byPlain(u, seed, err)
	return plain, nil
}

// plainAnswers reports whether a crawl given without a scheme may start with http, since https
// closed the connection without an answer.
func (f *crawlFlags) plainAnswers(u *ui, c *config, seed weburl.URL, err error) (plain weburl.URL, ok bool) {
	if !f.bare || seed.Scheme() != "https" || !errors.Is(err, fetch.ErrNoAnswer) {
		return plain, false
	}
	o, bad := crawlOptions(c, seed, nil)
	if _, _, archived := remembered(c.Archive); bad != nil || archived == nil {
		return plain, false
	}
	client := fetch.New(o.Fetch)
	defer client.Close()
	ctx, release := u.until()
	defer release()
	if plain = plainOf(seed); client.Reach(ctx, plain) != nil {
		return plain, false
	}
	f.byPlain(u, seed, err)
	return plain, true
}

// plainOf returns an https URL with http.
func plainOf(u weburl.URL) weburl.URL {
	return weburl.FromCanonical("http" + strings.TrimPrefix(u.String(), "https"))
}

// byPlain says that http is used, and changes the additional pages of the site to http.
func (f *crawlFlags) byPlain(u *ui, seed weburl.URL, why error) {
	u.say("%s does not answer by https (%v): crawling %s", seed.Host(), fetch.Cause(why), plainOf(seed))
	for i, p := range f.given.Pages {
		if p.Origin() == seed.Origin() {
			f.given.Pages[i] = plainOf(p)
		}
	}
}

// checkNames rejects invalid names in the scope's lists of hosts.
func checkNames(c *config) error {
	for key, list := range map[string][]string{"alias": c.Scope.Aliases, "allow-host": c.Scope.AllowHosts} {
		for i, host := range list {
			u, err := weburl.Parse("https://" + strings.TrimSuffix(host, "."))
			if err != nil || u.Host() != u.Hostname() || u.Target() != "/" || secretIn(u.Scheme()+"://"+host) {
				return usagef("--"+key+" www.example.org", "--%s %q is not the name of a host", key, host)
			}
			list[i] = u.Hostname()
		}
	}
	return nil
}

// isOfSite reports whether a page may belong to the seed's site.
func isOfSite(seed, page weburl.URL, s *judge.Scope) bool {
	return judge.SameSite(seed, page) || s.Domain != "" &&
		(page.Hostname() == s.Domain || strings.HasSuffix(page.Hostname(), "."+s.Domain))
}

// acceptLanguage converts a list of languages to Accept-Language (RFC 9110 §12.5.4) with
// decreasing weights.
func acceptLanguage(list string) (string, error) {
	var field []string
	for i, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		tag, err := language.Parse(name)
		if err != nil || i > 8 {
			return "", usagef("--language bg,en", "language: %q is not a list of up to nine languages", list)
		}
		field = append(field, tag.String())
		if i > 0 {
			field[i] += fmt.Sprintf(";q=0.%d", 10-i)
		}
	}
	return strings.Join(field, ", "), nil
}
