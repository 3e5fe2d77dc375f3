// Colly crawls one host as fast as the colly framework does when it is set up
// with care, and keeps each body in a file: a peer for .ci/bench.
//
//	colly URL DIR PARALLELISM
package main

import (
	"crypto/sha1"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gocolly/colly/v2"
)

func main() {
	seed, dir := os.Args[1], os.Args[2]
	parallel, err := strconv.Atoi(os.Args[3])
	check(err)
	u, err := url.Parse(seed)
	check(err)
	check(os.MkdirAll(dir, 0o755))

	c := colly.NewCollector(colly.Async(true), colly.AllowedDomains(u.Hostname()), colly.UserAgent("colly"))
	c.IgnoreRobotsTxt = false
	check(c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: parallel}))
	var seen sync.Map
	c.OnHTML("a[href], link[href], img[src], script[src], frame[src], iframe[src]", func(e *colly.HTMLElement) {
		to := e.Attr("href")
		if to == "" {
			to = e.Attr("src")
		}
		// colly's own memory of visits keeps fragments apart and lets two workers through at once
		to, _, _ = strings.Cut(e.Request.AbsoluteURL(to), "#")
		if _, known := seen.LoadOrStore(to, true); !known && to != "" {
			_ = e.Request.Visit(to) // an error says that it is on another host
		}
	})
	c.OnResponse(func(r *colly.Response) {
		name := fmt.Sprintf("%x", sha1.Sum([]byte(r.Request.URL.String())))
		check(os.WriteFile(filepath.Join(dir, name), r.Body, 0o644))
	})
	check(c.Visit(seed))
	c.Wait()
}

func check(err error) {
	if err != nil {
		log.Fatal("colly: ", err)
	}
}
