package crawler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
)

// polite checks the servers' logs: never more than atATime requests at once over all hosts together,
// and at least the pause between two requests to the site's host, and between any two requests to the
// other hosts.
func polite(t *testing.T, log []asked, site string, atATime int, pause time.Duration) {
	t.Helper()
	last := map[string]asked{}
	for i, a := range log {
		flying := 0
		for _, b := range log[:i] {
			if b.end.After(a.start) {
				flying++
			}
		}
		if flying >= atATime {
			t.Errorf("%s%s is request %d at a time, want %d at most", a.host, a.target, flying+1, atATime)
		}
		for _, group := range []string{a.host, "other hosts"} {
			if group != a.host && a.host == site {
				continue
			}
			from := last[group].end
			if atATime > 1 || group == "other hosts" { // pauses are counted between starts
				from = last[group].start
			}
			if gap := a.start.Sub(from); last[group].host != "" && gap < pause {
				t.Errorf("%s%s was asked for %v after %s%s, want %v", a.host, a.target, gap, last[group].host,
					last[group].target, pause)
			}
			last[group] = a
		}
	}
}

// A robots.txt cannot make the crawl flood other hosts.
func TestThousandsOfSitemapHostsAreNotAsked(t *testing.T) {
	long(t)
	t.Parallel()
	var robots strings.Builder
	robots.WriteString("User-agent: *\nDisallow:\n")
	for i := range 4000 {
		fmt.Fprintf(&robots, "Sitemap: http://victim%d.example/map.xml\n", i)
	}
	robots.WriteString("Sitemap: http://site.example:8080/map.xml\nSitemap: https://site.example/map.xml\nSitemap: /index.xml\n")
	for _, atATime := range []int{1, 4} {
		pages := map[string]page{
			"site.example/robots.txt": text(robots.String()),
			"site.example/index.xml":  text("<sitemapindex><sitemap><loc>http://indexed.example/map.xml</loc></sitemap></sitemapindex>"),
			"/map.xml":                text("http://site.example/listed"),
			"site.example/":           links("/a"), "site.example/a": html("a"), "site.example/listed": html("b"),
		}
		inBubble(t, pages, func(t *testing.T, s *site) {
			s.slower(3 * time.Second)
			o, dir := s.options(), t.TempDir()
			o.Pace.Delay, o.Pace.Concurrency = time.Second, atATime
			r := crawlLong(t, dir, o)
			if r.Ending != crawler.Done || s.times("/a") != 1 || s.times("/listed") != 1 {
				t.Errorf("ended as %v: %s", r.Ending, r.Why)
			}
			log := s.asked()
			polite(t, log, "site.example", atATime, time.Second)
			hosts := map[string]int{}
			for _, a := range log {
				hosts[a.host]++
			}
			if len(hosts) != 1+5 {
				t.Errorf("%d hosts were asked, want the site's and 5: %v", len(hosts), hosts)
			}
			if got := r.Counts.Reasons.Rules()["sitemap-hosts"]; got != 4003-5 {
				t.Errorf("status counts %d sitemaps left out, want %d", got, 4003-5)
			}
			for _, u := range []string{"http://victim3999.example/map.xml", "http://site.example:8080/map.xml",
				"http://indexed.example/map.xml"} {
				x := why(t, dir, u, o)
				has(t, x.Reason.String(), "sitemap: over 5 hosts other than the site's")
			}
		})
	}
}

// With requisites on many hosts, sitemaps, and a robots.txt that redirects elsewhere, every contacted
// host sees its pace kept, by its own log.
func TestEveryHostThatIsContactedKeepsItsPace(t *testing.T) {
	t.Parallel()
	pages := map[string]page{
		"site.example/robots.txt": text("Sitemap: http://maps.example/map.xml"),
		"maps.example/map.xml":    text("http://site.example/listed"),
		"site.example/listed":     html("<img src=http://cdn0.example/2.png>"),
		"cdn1.example/robots.txt": redirect("http://elsewhere.example/robots.txt"),
		"cdn2.example/robots.txt": answering(503),
		"/i.png":                  {header: []string{"Content-Type: image/png"}, body: "png"},
	}
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "<img src=http://cdn%d.example/i.png><a href=/p%d>p</a>", i, i)
		pages[fmt.Sprintf("site.example/p%d", i)] = html("p")
	}
	pages["site.example/"] = html(b.String())
	for _, atATime := range []int{1, 3} {
		inBubble(t, pages, func(t *testing.T, s *site) {
			s.slower(time.Second)
			o := s.options()
			o.Scope.AnyRequisites = true
			o.Pace.Delay, o.Pace.Concurrency = 2*time.Second, atATime
			if r := crawlLong(t, t.TempDir(), o); r.Ending != crawler.Done {
				t.Errorf("ended as %v: %s", r.Ending, r.Why)
			}
			polite(t, s.asked(), "site.example", atATime, 2*time.Second)
			if s.times("/i.png") != 7 {
				t.Errorf("%d pictures, want those of all hosts but one", s.times("/i.png"))
			}
		})
	}
}
