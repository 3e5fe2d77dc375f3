package mirror

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxDiffers is the most differences of a kind listed per page.
const maxDiffers = 5

func (one *Judged) differs(form, what, detail string) {
	if len(detail) > 500 {
		detail = strings.ToValidUTF8(detail[:500], "") + "…"
	}
	one.Differs = append(one.Differs, Difference{form, what, detail})
}

// alike compares what a page shows with what the site's page shows. Up to a twentieth of the
// words may differ, for clocks and the like.
func (j *judging) alike(one *Judged, form string, got, want *Seen) bool {
	lost, of := missing(got.Text, want.Text)
	more, now := missing(want.Text, got.Text)
	switch {
	case 5*len(lost) > of || 20*len(more) > now+20:
		one.differs(form, "text", fmt.Sprintf("%d of %d words are missing: %s", len(lost), of, shows(got)))
	case 20*len(lost) > of:
		one.differs(form, "text", fmt.Sprintf("%d of %d words are missing: %q", len(lost), of,
			lost[:min(len(lost), maxDiffers)]))
	}
	right := 20*len(lost) <= of && 20*len(more) <= now+20
	if form == "disk" {
		one.Lost = 5*len(lost) > of
	}
	if got.Pictures < want.Pictures {
		right = false
		one.differs(form, "pictures", fmt.Sprintf("%d of %d are shown", got.Pictures, want.Pictures))
	}
	listed := 0
	for _, u := range got.Failed {
		known := slices.ContainsFunc(want.Failed, func(w string) bool { return path.Base(w) == path.Base(u) })
		if listed++; !known && listed <= maxDiffers {
			one.differs(form, "request", strings.TrimPrefix(u, j.dir))
		}
	}
	return right
}

// missing returns the distinct words of text that are not in in, and the number of distinct
// words of text.
func missing(in, text string) (lost []string, of int) {
	has := map[string]bool{}
	for word := range strings.FieldsSeq(in) {
		has[word] = true
	}
	words := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		if words[word] {
			continue
		}
		words[word] = true
		if of++; !has[word] {
			lost = append(lost, word)
		}
	}
	return lost, of
}

// shows quotes the beginning of a page's text.
func shows(s *Seen) string {
	text := []rune(strings.Join(strings.Fields(s.Text[:min(len(s.Text), 1000)]), " "))
	switch {
	case len(text) == 0:
		return "it shows none"
	case len(text) > 80:
		return fmt.Sprintf("it shows %q…", string(text[:80]))
	}
	return fmt.Sprintf("it shows %q", string(text))
}

// link is a link to be clicked.
type link struct {
	at   int    // its index in Seen.Links of the site's page
	href string // its target there, without fragment
	to   *mapped
}

// links chooses the links to click on a page: spread over it, and leading to other pages in the
// mirror.
func (j *judging) links(page string, want *Seen) (list []link) {
	known := map[*mapped]bool{j.held[page]: true}
	for i, href := range want.Links {
		href, _, _ = strings.Cut(href, "#")
		to := j.held[href]
		if to != nil && to.To != "" {
			to = j.held[to.To]
		}
		if to != nil && !known[to] && (to.Type == typeHTML || to.Type == typeXHTML) {
			known[to] = true
			list = append(list, link{i, href, to})
		}
	}
	if n := j.b.Clicks; n < len(list) {
		for i := range n {
			list[i] = list[(2*i+1)*len(list)/(2*n)]
		}
		list = list[:n]
	}
	return list
}

// find returns the index of the same link in another form of the page; -1 if it is missing.
func (j *judging) find(form string, got, want *Seen, l link) int {
	if len(got.Links) == len(want.Links) && got.Links[l.at] != "" {
		return l.at
	}
	there := j.view(form, l.to.File).URL
	return slices.IndexFunc(got.Links, func(href string) bool {
		href, _, _ = strings.Cut(href, "#")
		if path, root := strings.CutPrefix(href, "file://"); root && strings.HasSuffix(l.href, path) &&
			siteRoot(l.href) == len(l.href)-len(path) {
			return true // a script built it from the path on the site
		}
		return href == there || href == l.to.URL || form == "served" &&
			strings.HasSuffix(l.to.URL, strings.TrimPrefix(href, "http://mirror.localhost"))
	})
}

// siteRoot returns where the path of an http URL begins.
func siteRoot(url string) int {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return len(url) - len(rest) + len(host)
}

// arrives reports whether a click led to the same page as on the site.
func (j *judging) arrives(ctx context.Context, one *Judged, form string, to *mapped, after *Seen) (bool, error) {
	want, err := j.atSite(ctx, to.URL, false)
	if err != nil || want == nil {
		return true, err // nothing to compare with
	}
	arrives := false
	if after != nil {
		lost, of := missing(after.Text, want.Text)
		if arrives = 20*len(lost) <= of; !arrives {
			// If the page's own scripts remove its text, that page is at fault, not the link.
			at, _, _ := strings.Cut(after.URL, "#")
			arrives = at == j.view(form, to.File).URL || form == "served" && at == "http://mirror.localhost"+
				to.URL[siteRoot(to.URL):]
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if form == "disk" {
		j.sum.Clicks++
	}
	switch {
	case arrives && form == "disk":
		j.sum.Arrive++
	case arrives:
	case after == nil:
		one.differs(form, "link", to.URL+" is not on the page")
	default:
		one.differs(form, "link", fmt.Sprintf("%s does not lead there, but to %s: %s", to.URL,
			strings.TrimPrefix(after.URL, j.dir), shows(after)))
	}
	return arrives, nil
}
