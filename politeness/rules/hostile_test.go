package rules

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/temoto/robotstxt"
)

// hostileFiles are designed to cost time and memory; docs/hostile.md, section 8, says how much.
func hostileFiles() map[string]string {
	long := strings.Repeat("a", 60)
	var wild, literal, agents, stars, sitemaps strings.Builder
	wild.WriteString("User-agent: *\n")
	for i := 0; wild.Len() < maxBytes-64; i++ {
		fmt.Fprintf(&wild, "Disallow: /*a%d*b%d*c$\n", i, i)
	}
	literal.WriteString("User-agent: *\n")
	for literal.Len() < maxBytes-64 {
		literal.WriteString("allow:/\n")
	}
	for i := range 12000 {
		fmt.Fprintf(&agents, "User-agent: bot%c%d\n", 'a'+i%26, i)
	}
	agents.WriteString("User-agent: *\n")
	for i := range 12000 {
		fmt.Fprintf(&agents, "Disallow: /x%d\n", i)
	}
	stars.WriteString("User-agent: *\n")
	for i := range 100 {
		fmt.Fprintf(&stars, "Disallow: /%s%dx\n", strings.Repeat("*a", 100), i)
	}
	for sitemaps.Len() < maxBytes-64 {
		fmt.Fprintf(&sitemaps, "Sitemap: /%d\nClean-param: a%d /x*y\n", sitemaps.Len(), sitemaps.Len())
	}
	return map[string]string{
		"500 KiB of wildcards":      wild.String(),
		"500 KiB of short rules":    literal.String(),
		"12000 agents, 12000 rules": agents.String(),
		"100 rules of 100 stars":    stars.String(),
		"one line of 10 MB":         "User-agent: *\nDisallow: /" + strings.Repeat(long, 10<<20/60),
		"500 KiB of sitemaps":       sitemaps.String(),
		"500 KiB of junk":           strings.Repeat("<p>\n", maxBytes/4),
	}
}

// hostileURLs are ordinary URLs, and one that makes every pattern do work.
var hostileURLs = []string{
	"/", "/wiki/Some_page?action=edit&section=3", "/x11999",
	"/" + strings.Repeat("a", 120), "/*a1*b1*c", "/" + strings.Repeat("a/b1c", 300),
}

// BenchmarkHostileParse parses the hostile files.
func BenchmarkHostileParse(b *testing.B) {
	for name, file := range hostileFiles() {
		body := []byte(file)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(body, Options{Agents: []string{"curtsy"}})
			}
		})
	}
}

// BenchmarkHostileVerdict decides URLs by the hostile files, with this package and with plain temoto.
func BenchmarkHostileVerdict(b *testing.B) {
	for name, file := range hostileFiles() {
		r := Parse([]byte(file), Options{Agents: []string{"curtsy"}})
		for i, url := range hostileURLs {
			b.Run(fmt.Sprintf("%s/url %d", name, i), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r.Verdict(url)
				}
			})
		}
	}
}

// BenchmarkAgainstTemoto reports the ratio to plain temoto on the same files and URLs in the same run.
// (12,000 agents × 12,000 rules take temoto 15 s and 2.5 GB.)
func BenchmarkAgainstTemoto(b *testing.B) {
	files := hostileFiles()
	for _, name := range []string{"500 KiB of wildcards", "100 rules of 100 stars"} {
		body := []byte(files[name])
		r := Parse(body, Options{Agents: []string{"curtsy"}})
		raw, err := robotstxt.FromBytes(body)
		if err != nil {
			b.Fatal(err)
		}
		group := raw.FindGroup("curtsy")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var ours, theirs time.Duration
			for b.Loop() {
				start := time.Now()
				for _, url := range hostileURLs {
					r.Verdict(url)
				}
				middle := time.Now()
				for _, url := range hostileURLs {
					group.Test(url)
				}
				ours, theirs = ours+middle.Sub(start), theirs+time.Since(middle)
			}
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N*len(hostileURLs)), "ours-ns/url")
			b.ReportMetric(float64(theirs)/float64(max(ours, 1)), "times-faster")
		})
	}
}

// BenchmarkVerdict uses an ordinary file and ordinary URLs.
func BenchmarkVerdict(b *testing.B) {
	r := Parse([]byte("User-agent: *\nDisallow: /w/\nDisallow: /api/\nAllow: /w/load.php?\nDisallow: /wiki/Special:\nDisallow: /*?action=\nDisallow: /*.pdf$\n"), Options{})
	for _, url := range []string{"/wiki/Main_Page", "/wiki/X?action=edit", "/wiki/%d0%9f(x)"} {
		b.Run(url, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Verdict(url)
			}
		})
	}
}

// TestHostileFilesAreBounded: each file is parsed in bounded time and memory, and one URL is decided in
// bounded time. The bounds are a thousand times the usual cost, since test machines may be slow and
// busy, and the faults to catch would take hours; the benchmarks give the figures.
func TestHostileFilesAreBounded(t *testing.T) {
	for name, file := range hostileFiles() {
		body := []byte(file)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		r := Parse(body, Options{Agents: []string{"curtsy"}})
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if took > time.Minute {
			t.Errorf("%s: read in %v", name, took)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
		for i, url := range hostileURLs {
			start := time.Now()
			r.Verdict(url)
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("%s: URL %d decided in %v", name, i, took)
			}
		}
		if n := len(r.Warnings()); n > maxWarnings {
			t.Errorf("%s: %d warnings", name, n)
		}
	}
}

// TestNormalTargetsDoNotAllocate: Verdict does not allocate for ordinary targets.
func TestNormalTargetsDoNotAllocate(t *testing.T) {
	r := Parse([]byte("User-agent: *\nDisallow: /w/\nDisallow: /*.pdf$\nAllow: /w/x\n"), Options{})
	for _, url := range []string{"/wiki/Main?a=b&c=%D0%9F", "/w/y", "/w/x/z"} {
		if n := testing.AllocsPerRun(100, func() { r.Verdict(url) }); n != 0 {
			t.Errorf("%s: %v allocations", url, n)
		}
	}
}
