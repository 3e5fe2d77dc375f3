package hostile

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// noise is pseudo-random text that depends on the seed.
func noise(seed string, words int) string {
	h := fnv.New64a()
	h.Write([]byte(seed))
	x := h.Sum64() | 1
	var b strings.Builder
	for range words {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, "%x ", x%100_000)
	}
	return b.String()
}

func traps() []*Fixture {
	return []*Fixture{
		{Line: 12, Name: "calendar", Attack: "an endless calendar, by path, forwards and backwards", Most: 1600,
			Pages: map[string]Answer{"": func(c *Conn) {
				c.HTML("<a href=m/%s>now</a> <a href=good>x</a>",
					time.Now().Format("2006/01"))
			}, "good": good, "m/*": month("m/", "2006/01")},
			Want: map[string]string{"good": fetched}, Counts: map[string]int{"trap: calendar": 1}},
		{Line: 12, Name: "calendar-query", Attack: "an endless calendar, by query", Most: 1600,
			Pages: map[string]Answer{"": func(c *Conn) {
				c.HTML("<a href='?month=%s'>now</a> <a href=good>x</a>",
					time.Now().Format("2006-01"))
			}, "good": good, "?month=*": month("?month=", "2006-01")},
			Want: map[string]string{"good": fetched}, Counts: map[string]int{"trap: calendar": 1}},
		{Line: 12, Name: "facets", Attack: "a shop of 20 articles whose filters combine without end", Most: 2000,
			Pages: map[string]Answer{"": facets, "?*": facets,
				"article/*": func(c *Conn) { c.HTML("<title>article</title>%s", noise(c.Target, 200)) }},
			Want:   map[string]string{"article/1": fetched, "article/20": fetched},
			Counts: map[string]int{"trap: facets": 1}},
		{Line: 12, Name: "versions", Attack: "a repository's browser: 40 files in each of 300 commits, in two views",
			Most: 3500,
			Pages: map[string]Answer{"": links("log"),
				"log": func(c *Conn) { c.HTML("%s", versions(c, 300, "commit/?id=%s")) },
				"commit/?id=*": func(c *Conn) {
					_, id, _ := strings.Cut(c.Target, "id=")
					var b strings.Builder
					for i := range 40 {
						fmt.Fprintf(&b, "<a href='%stree/dir%c/file%d?id=%s'>x</a><a href='%sblame/dir%c/file%d?id=%s'>x</a>", c.Dir, 'a'+i%5, i, id, c.Dir, 'a'+i%5, i, id)
					}
					c.HTML("<title>commit %s</title>%s%s", id, b.String(), noise(id, 40))
				}, "*": func(c *Conn) { c.HTML("<title>file</title>%s", noise(c.Target, 80)) }},
			Want:   map[string]string{"commit/?id=" + commit(0): fetched, "commit/?id=" + commit(299): fetched},
			Counts: map[string]int{"trap: versions": 1}},
		{Line: 12, Name: "session-path", Attack: "a session id in the path, new in every link", Most: 60,
			Pages: map[string]Answer{"": sessions(";jsessionid=%s"), "*": sessions(";jsessionid=%s")},
			Want:  map[string]string{}, Counts: map[string]int{"trap: session-id": 10}},
		{Line: 12, Name: "session-query", Attack: "a session id in the query, new in every link", Most: 60,
			Pages: map[string]Answer{"": sessions("?PHPSESSID=%s"), "*": sessions("?PHPSESSID=%s")},
			Want:  map[string]string{}, Counts: map[string]int{"trap: session-id": 10}},
		{Line: 12, Name: "query-order", Attack: "the same parameters in ever new orders", Most: 10,
			Pages: map[string]Answer{"": links("?a=1&amp;b=2&amp;c=3", "?c=3&amp;b=2&amp;a=1", "?b=2&amp;a=1&amp;c=3",
				"?c=3&amp;a=1&amp;b=2"), "*": good},
			Counts: map[string]int{"trap: query-order": 3}},
		{Line: 12, Name: "repeated", Attack: "/a/b/a/b/…: a relative link that adds itself", Most: 20,
			Pages: map[string]Answer{"": links("a/b/", "good"), "good": good,
				"*": func(c *Conn) { c.HTML("<a href='a/b/'>%s</a>", noise(c.Target, 100)) }},
			Want:   map[string]string{"good": fetched},
			Counts: map[string]int{"trap: repeated-segments": 1}},
		{Line: 12, Name: "deep", Attack: "ever deeper paths of ever new names", Most: 100,
			Pages: map[string]Answer{"": links("go/", "good"), "good": good, "go/*": func(c *Conn) {
				c.HTML("<a href='%s/'>%s</a>", strings.TrimSpace(noise(c.Target, 1)), noise(c.Target, 100))
			}},
			Want:   map[string]string{"good": fetched},
			Counts: map[string]int{"trap: path-depth": 1}},
		{Line: 12, Name: "mirrored", Attack: "a tree that holds itself under ever new names", Most: 300,
			Pages:  map[string]Answer{"": mirrored, "*": mirrored},
			Counts: map[string]int{"trap: same-body": 1}},
		{Line: 12, Name: "soft-404", Attack: "every URL is a page: one and the same, with links to new ones", Most: 500,
			Pages: map[string]Answer{"": links("x/start", "good"), "good": good,
				"x/*": func(c *Conn) { softBody(c, "") }},
			Want:   map[string]string{"good": fetched},
			Counts: map[string]int{"trap: ": 1}},
		{Line: 12, Name: "soft-404-echo", Attack: "every URL is a page that names its own address, with links to new ones", Most: 1000,
			Pages: map[string]Answer{"": links("x/start", "good"), "good": good,
				"x/*": func(c *Conn) { softBody(c, c.Target) }},
			Want:   map[string]string{"good": fetched},
			Counts: map[string]int{"trap: soft-404": 1}},
	}
}

// month links to the previous and next month.
func month(prefix, layout string) Answer {
	return func(c *Conn) {
		t, err := time.Parse(layout, strings.TrimPrefix(c.Target, c.Dir+prefix))
		if err != nil {
			c.Reply(404, "", "")
			return
		}
		c.HTML("<title>%s</title><a href='%s%s%s'>before</a> <a href='%s%s%s'>after</a>", t.Format("January 2006"),
			c.Dir, prefix, t.AddDate(0, -1, 0).Format(layout), c.Dir, prefix, t.AddDate(0, 1, 0).Format(layout))
	}
}

// facets is the article list of a shop, in which filters can be combined.
func facets(c *Conn) {
	_, query, _ := strings.Cut(c.Target, "?")
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "<a href='%sarticle/%d'>article</a>\n", c.Dir, i+1)
	}
	for _, f := range []string{"colour", "size", "brand", "price", "rating", "sort", "material", "page"} {
		for v := range 4 {
			kept := []string{}
			for p := range strings.SplitSeq(query, "&") {
				if p != "" && !strings.HasPrefix(p, f+"=") {
					kept = append(kept, p)
				}
			}
			kept = append(kept, fmt.Sprintf("%s=v%c", f, 'a'+v))
			fmt.Fprintf(&b, "<a href='%s?%s'>%s</a>\n", c.Dir, strings.Join(kept, "&amp;"), f)
		}
	}
	c.HTML("<title>shop</title>%s %s", b.String(), noise(c.Target, 50))
}

// sessions is a site of ten pages, each linked with a new session id.
func sessions(form string) Answer {
	return func(c *Conn) {
		var b strings.Builder
		for i := range 10 {
			id := strings.ReplaceAll(noise(c.Target+fmt.Sprint(i), 8), " ", "")
			fmt.Fprintf(&b, "<a href='%spage%d%s'>x</a>\n", c.Dir, i,
				fmt.Sprintf(form, (id + "0123456789abcdef0123456789abcdef")[:32]))
		}
		c.HTML("<title>page</title>%s", b.String())
	}
}

func mirrored(c *Conn) {
	c.HTML("<title>tree</title><a href='copy/'>copy</a> <a href='mirror/'>mirror</a> <a href='old/'>old</a> the same page everywhere")
}

// softBody is a "not found" page with status 200 and only new links.
func softBody(c *Conn, echo string) {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, "<a href='%sx/%s'>see also</a>\n", c.Dir,
			strings.ReplaceAll(strings.TrimSpace(noise(fmt.Sprint(echo, i, len(c.Target)), 2)), " ", "-"))
	}
	if echo == "" {
		// Links relative to the address, so that all bodies are the same.
		b.Reset()
		b.WriteString("<a href='s/'>see also</a> <a href='t/'>see also</a> <a href='u/'>see also</a>")
	}
	c.HTML("<!DOCTYPE html><html><head><title>Page not found</title></head><body><nav><a href='%s'>Home</a></nav><h1>Sorry!</h1><p>We could not find %s on our server.</p><p>%s</p>%s<footer>%s</footer></body></html>",
		c.Dir, echo, "It may have been moved or deleted. Please use the search box, or go back to the home page and try again from there.", b.String(), noise("footer", 60))
}

// commit is the hash of a commit.
func commit(n int) string { return fmt.Sprintf("%040x", uint64(n+1)*0x9e3779b97f4a7c15) }

// versions links to n commits.
func versions(c *Conn, n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href='%s%s'>x</a>\n", c.Dir, fmt.Sprintf(form, commit(i)))
	}
	return b.String()
}
