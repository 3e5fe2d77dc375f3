package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/storage"
)

// remarks are hints about a crawl that ended well but found little, or left out what pages
// need.
func remarks(dir string) (list []string, err error) {
	defer storage.Guard(&err)()
	a, err := openBoth(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	n := a.f.Counts()
	if left := n.Reasons.Rules()[judge.Include]; left > 0 && a.state.Holds.Pages <= 1 {
		list = append(list, fmt.Sprintf(
			"no page but the seed matches --include; %s did not: curtsy list %s --reason include",
			legible.Count(left, "URL"), quoted(dir)))
	} else if a.state.Holds.Pages <= 1 { // a single document that is not a page does not count
		text, err := lonely(a)
		if err != nil {
			return nil, err
		}
		list = append(list, text...)
	}
	if text := oneRule(n.Reasons.Rules(), n.OfSite().Discovered, dir); text != "" {
		list = append(list, text)
	}
	if s := a.state.Session; s != nil {
		list = append(list, fmt.Sprintf("sessions at %s: %s: curtsy explain %s %s", s.Page, s, quoted(dir),
			quoted(s.Page)))
	}
	text, err := needed(a)
	return append(list, text...), err
}

// fewSkipped is the number of URLs that one rule may skip without a remark.
const fewSkipped = 100

// oneRule returns a remark if a single rule skipped most of the URLs found, with a hint.
func oneRule(rules map[string]int, found int, dir string) string {
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		n := rules[rule]
		switch rule {
		case judge.Host, judge.NoSitemap, judge.NoUsageFile, judge.HTTP, judge.Fetch: // other sites, or not skipped
			continue
		}
		if n < fewSkipped || n <= found/2 {
			continue
		}
		text := fmt.Sprintf("%d of %d URLs were skipped by one rule (%s): curtsy list %s --reason %s", n, found, rule,
			quoted(dir), rule)
		if rule == judge.SessionID {
			text += "; where cookies are off, fetch.cookies: true in a new archive may keep sessions out of the links"
		}
		return text
	}
	return ""
}

// lonely says why a crawl found no page but its seed.
func lonely(a *opened) (list []string, err error) {
	var seeds []frontier.Found // examined later: Each holds the frontier's lock
	err = a.f.Each(frontier.Page, func(f frontier.Found) error {
		if f.IsSeed() && f.State == frontier.StateFetched {
			seeds = append(seeds, f)
		}
		return nil
	})
	for _, f := range seeds {
		visits, err := a.VisitsOf(f.ID)
		if err != nil || len(visits) == 0 {
			return nil, err
		}
		switch v := visits[len(visits)-1]; {
		case v.Status > 299:
		case isDocument(v.ContentType):
			list = append(list, fmt.Sprintf("%s is one document (%s) without links that are followed: it is all "+
				"there is; its site: curtsy crawl %s/", f.URL, v.ContentType, f.URL.Origin()))
		case v.Directives != nil && v.Directives.NoFollow:
			list = append(list, fmt.Sprintf(
				"%s asks that its links not be followed (nofollow): no other page was fetched", f.URL))
		case v.Links > 0 && ledNowhere(a.f.Counts().Reasons.Rules()):
			list = append(list, fmt.Sprintf("%s links to no page of the site: links made by JavaScript are not seen",
				f.URL))
		}
	}
	return list, err
}

// isDocument reports whether a type has no links to follow: PDF, images, audio, video.
func isDocument(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	first, _, _ := strings.Cut(kind, "/")
	return kind == "application/pdf" || kind == "application/zip" || kind == "application/octet-stream" ||
		first == "image" && kind != "image/svg+xml" || first == "audio" || first == "video"
}

// ledNowhere reports whether no link was excluded or failed; guessed sitemaps are not links.
func ledNowhere(rules map[string]int) bool {
	for rule := range rules {
		if !slices.Contains(judge.InVain, rule) {
			return false
		}
	}
	return true
}

// needed counts requisites on hosts that the crawl may not request.
func needed(a *opened) ([]string, error) {
	hosts := map[string]int{}
	err := a.f.Each(frontier.Disregarded, func(f frontier.Found) error {
		if f.Needed && f.Reason.Rule == judge.Host {
			hosts[f.URL.Host()]++
		}
		return nil
	})
	if err != nil || len(hosts) == 0 || a.config.Scope.Requisites == "any" { // frames are not fetched then either
		return nil, err
	}
	all := 0
	for _, n := range hosts {
		all += n
	}
	most := byCount(hosts)[0]
	on := "on " + most
	if len(hosts) > 1 {
		on = fmt.Sprintf("on %d other hosts, %d of them on %s,", len(hosts), hosts[most], most)
	}
	return []string{fmt.Sprintf("%s that pages need %s were not fetched; --requisites any fetches them",
		legible.Count(all, "file"), on)}, nil
}

// strangersIn names a foreign file in a directory that is to become an archive; "" if there is
// none.
func strangersIn(dir string) string {
	list, err := os.ReadDir(dir)
	if err != nil || len(list) == 0 || isArchive(dir) {
		return ""
	}
	return list[0].Name()
}
