// Command manysites is many small sites on loopback, and judges what was asked
// of them by their own log alone.
//
//	manysites -sites 12 -shared 6 -pages 20 -delay 500ms -log LOG -list LIST
//	manysites -judge -sites 12 -pages 20 -delay 500ms -log LOG
//
// Of the sites the first few share addresses, three on each. A line of the log:
// site, address, client's connection, begin and end in ns, target.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type request struct {
	site, addr, conn string
	begin, end       int64
	target           string
}

func main() {
	sites := flag.Int("sites", 12, "how many")
	shared := flag.Int("shared", 6, "of these, so many three to an address")
	pages := flag.Int("pages", 20, "of each site")
	delay := flag.Duration("delay", 500*time.Millisecond, "Crawl-delay")
	logFile := flag.String("log", "", "the log")
	list := flag.String("list", "", "where the seeds go")
	network := flag.Int("net", 1, "sites are at 127.N.x.y, those that share an address at 127.N+1.0.y")
	judging := flag.Bool("judge", false, "judge the log")
	flag.Parse()
	if *judging {
		judge(read(*logFile), *sites, *pages, *delay)
		return
	}
	serve(*network, *sites, *shared, *pages, *delay, *logFile, *list)
}

func serve(network, sites, shared, pages int, delay time.Duration, logFile, list string) {
	// Appended to, so that a script may empty it: else what follows would stand behind a hole.
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	var mu sync.Mutex
	var seeds strings.Builder
	for i := range sites {
		addr := fmt.Sprintf("127.%d.%d.%d", network, i/250, i%250+1)
		if i < shared {
			addr = fmt.Sprintf("127.%d.0.%d", network+1, i/3+1)
		}
		l, err := net.Listen("tcp", addr+":0")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(&seeds, "http://%s/\n", l.Addr())
		go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begin := time.Now().UnixNano()
			time.Sleep(5 * time.Millisecond)
			body := page(w, r, pages, delay)
			mu.Lock()
			fmt.Fprintln(out, l.Addr(), addr, r.RemoteAddr, begin, time.Now().UnixNano(), r.URL.Path)
			mu.Unlock()
			io.WriteString(w, body)
		}))
	}
	if err := os.WriteFile(list+".new", []byte(seeds.String()), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(list+".new", list); err != nil {
		log.Fatal(err)
	}
	select {}
}

func page(w http.ResponseWriter, r *http.Request, pages int, delay time.Duration) string {
	if r.URL.Path == "/robots.txt" {
		return fmt.Sprintf("User-agent: *\nCrawl-delay: %g\n", delay.Seconds())
	}
	n := 0
	if r.URL.Path != "/" {
		var err error
		if n, err = strconv.Atoi(r.URL.Path[1:]); err != nil || n >= pages {
			w.WriteHeader(404)
			return ""
		}
	}
	w.Header().Set("Content-Type", "text/html")
	if n == pages-1 {
		return fmt.Sprintf("<title>%d</title>the last", n)
	}
	text := fmt.Sprintf("<title>%d</title>", n)
	for i := n + 1; i < min(n+20, pages); i++ {
		text += fmt.Sprintf("<a href=/%d>%d</a> ", i, i)
	}
	return text
}

func read(name string) (all []request) {
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var r request
		if n, _ := fmt.Sscan(s.Text(), &r.site, &r.addr, &r.conn, &r.begin, &r.end, &r.target); n == 6 {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(x, y request) int { return cmp.Compare(x.begin, y.begin) })
	return all
}

// judge prints: complete sites, requests, requests that were repeated, requests
// of an old owner after a new one's, requests sooner than the delay, requests
// while another site at the address was asked.
func judge(all []request, sites, pages int, delay time.Duration) {
	bySite, byAddr := map[string][]request{}, map[string][]request{}
	for _, r := range all {
		bySite[r.site] = append(bySite[r.site], r)
		byAddr[r.addr] = append(byAddr[r.addr], r)
	}
	complete, repeated, old, early, both := 0, 0, 0, 0, 0
	for _, list := range bySite {
		seen, gone := map[string]int{}, map[string]bool{}
		for i, r := range list {
			seen[r.target]++
			if seen[r.target] > 1 && r.target != "/robots.txt" {
				repeated++
			}
			if gone[r.conn] {
				old++
				fmt.Fprintln(os.Stderr, "old owner:", r)
			}
			if i == 0 {
				continue
			}
			if before := list[i-1]; before.conn != r.conn {
				gone[before.conn] = true
			}
			if gap := time.Duration(r.begin - list[i-1].end); gap < delay {
				early++
				fmt.Fprintln(os.Stderr, "early:", gap, list[i-1], r)
			}
		}
		if len(seen) == pages+1 {
			complete++
		} else {
			fmt.Fprintln(os.Stderr, "incomplete:", list[0].site, len(seen), "targets of", pages+1)
		}
	}
	for _, list := range byAddr {
		var busy request
		for _, r := range list {
			if r.begin < busy.end && r.site != busy.site {
				both++
				fmt.Fprintln(os.Stderr, "two at once:", busy, r)
			}
			if r.end > busy.end {
				busy = r
			}
		}
	}
	fmt.Println(complete, len(all), repeated, old, early, both)
}
