package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// Host shows how politely a host was crawled, as its owner could check in a log.
type Host struct {
	Name          string
	Requests      int
	Least, Median time.Duration // between the end of a response and the next request
	Mean          time.Duration
	Overlapped    int // requests started before the previous one ended
	PerHour       int // maximum in any hour
	Delays        []Place
	Robots        []Version
	OldRobots     int // earlier versions
}

// Version is a robots.txt that was in force.
type Version struct {
	At     time.Time
	Text   string
	Origin string
}

// request is the timing of a visit.
type request struct {
	at   int64 // ns since 1970
	took int64
	host uint16
}

// longPause is the pause from which on the crawl counts as interrupted. Such pauses are not in
// the mean.
const longPause = time.Hour

// requests collects the timing of all visits.
type requests struct {
	hosts  map[string]uint16
	names  []string
	all    []request
	delays map[[2]string]int
	slow   []*crawllog.Visit // the slowest, at most mostSlow
}

// mostSlow is the most visits listed for their response times.
const mostSlow = 5

// visited adds the visits of a URL.
func (g *gatherer) visited(visits []*crawllog.Visit) {
	g.changes(visits)
	q := &g.requests
	for _, v := range visits {
		name := weburl.FromCanonical(v.URL).Host()
		id, ok := q.hosts[name]
		if !ok && len(q.names) < 1<<16-1 {
			id = uint16(len(q.names))
			q.hosts[name], q.names = id, append(q.names, name)
		}
		q.all = append(q.all, request{at: v.At.UnixNano(), took: int64(v.Took), host: id})
		if why, _, _ := strings.Cut(v.Delay, ", "); why != "" {
			q.delays[[2]string{name, kindOfDelay(why)}]++
		}
		if !g.unlisted[v.URL] && (len(q.slow) < mostSlow || v.Took > q.slow[mostSlow-1].Took) {
			q.slow = append(q.slow, v)
			slices.SortStableFunc(q.slow, func(a, b *crawllog.Visit) int { return cmp.Compare(b.Took, a.Took) })
			q.slow = q.slow[:min(mostSlow, len(q.slow))]
		}
	}
}

// sumVisits computes when requests were made, and how politely.
func (g *gatherer) sumVisits(context.Context) error {
	all := g.requests.all
	slices.SortFunc(all, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	if len(all) == 0 {
		return nil
	}
	g.r.First, g.r.Last = time.Unix(0, all[0].at), time.Unix(0, all[len(all)-1].at)
	g.overTime(all)
	g.responseTimes(all)
	for _, v := range g.requests.slow {
		g.r.Slowest = append(g.r.Slowest, Line{URL: v.URL, Text: pauseText(v.Took) + ", " + legible.Bytes(v.Length)})
	}
	for id, name := range g.requests.names {
		h := pace(name, uint16(id), all)
		h.Delays = top(g.requests.delays, name, 3)
		if err := g.robots(&h); err != nil {
			return err
		}
		g.r.Hosts = append(g.r.Hosts, h)
	}
	slices.SortStableFunc(g.r.Hosts, func(a, b Host) int { return b.Requests - a.Requests })
	g.r.Fewer = max(0, len(g.r.Hosts)-5)
	g.r.Hosts = g.r.Hosts[:min(5, len(g.r.Hosts))]
	return nil
}

// kindOfDelay removes from the reason of a delay what differs between visits.
func kindOfDelay(s string) string {
	if strings.Contains(s, "response time") {
		return "a multiple of the server's response time"
	}
	if strings.HasPrefix(s, "slowed down") {
		return "slowed down after a failure"
	}
	return s
}

// changes counts the URLs that were visited more than once.
func (g *gatherer) changes(visits []*crawllog.Visit) {
	var digests []string
	for _, v := range visits {
		if v.Digest != "" && v.Class == "page" {
			digests = append(digests, v.Digest)
		}
	}
	if len(digests) < 2 {
		return
	}
	g.r.Again++
	if digests[len(digests)-1] != digests[len(digests)-2] {
		g.r.Changed++
	}
}

// pace measures the pauses between the requests to a host.
func pace(name string, id uint16, all []request) Host {
	h := Host{Name: name}
	var pauses []int64
	var end, sum int64
	var hour []int64 // starts of the requests within the last hour
	for _, r := range all {
		if r.host != id {
			continue
		}
		h.Requests++
		for len(hour) > 0 && r.at-hour[0] >= int64(time.Hour) {
			hour = hour[1:]
		}
		hour = append(hour, r.at)
		h.PerHour = max(h.PerHour, len(hour))
		if p := r.at - end; h.Requests > 1 && p < int64(longPause) {
			if p < 0 {
				h.Overlapped++
				p = 0
			}
			pauses, sum = append(pauses, p), sum+p
		}
		end = max(end, r.at+r.took)
	}
	if len(pauses) > 0 {
		slices.Sort(pauses)
		h.Least, h.Median, h.Mean = time.Duration(pauses[0]), time.Duration(pauses[len(pauses)/2]),
			time.Duration(sum/int64(len(pauses)))
	}
	return h
}

// maxVersions is the most versions of a robots.txt shown.
const maxVersions = 5

// robots adds the versions of a host's robots.txt.
func (g *gatherer) robots(h *Host) error {
	for _, scheme := range []string{"https://", "http://"} {
		history, err := g.a.Robots(scheme + h.Name)
		if err != nil {
			return err
		}
		before := "none"
		for _, v := range history {
			if now := fmt.Sprint(v.Status, v.Digest, v.Error); now != before {
				before = now
				h.Robots = append(h.Robots, Version{At: v.At, Origin: v.Origin, Text: versionText(v)})
			}
		}
	}
	h.OldRobots = max(0, len(h.Robots)-maxVersions)
	h.Robots = h.Robots[h.OldRobots:]
	return nil
}

func versionText(v crawllog.RobotsVersion) string {
	switch {
	case v.Error != "":
		return "no answer: " + v.Error
	case v.Status == 200 && v.Cut:
		return "status 200, version " + v.Short() + ", over 500 KiB: the rules behind that were not read"
	case v.Status == 200:
		return "status 200, version " + v.Short()
	case v.Status >= 400 && v.Status < 500:
		return fmt.Sprintf("status %d: there is none, so everything is allowed", v.Status)
	}
	return fmt.Sprintf("status %d", v.Status)
}

// overTime plots the number of requests over time.
func (g *gatherer) overTime(all []request) {
	const columns = 60
	first, last := all[0].at, all[len(all)-1].at
	width := max((last-first)/columns+1, 1)
	n := make([]int, columns)
	for _, r := range all {
		n[(r.at-first)/width]++
	}
	layout := "15:04:05"
	if last-first > int64(24*time.Hour) {
		layout = "2006-01-02 15:04"
	}
	p := Plot{Title: "Requests over time", Upright: true}
	for i, v := range n {
		at := time.Unix(0, first+int64(i)*width).UTC()
		p.Bars = append(p.Bars, Bar{Label: at.Format(layout), Value: float64(v),
			Text: fmt.Sprintf("%s in %s", countText(v), span(time.Duration(width)))})
	}
	p.Bars[columns-1].Label = time.Unix(0, last).UTC().Format(layout)
	g.r.Time = p
}

// responseTimes plots the distribution of response times.
func (g *gatherer) responseTimes(all []request) {
	bounds := []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
		200 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2 * time.Second, 5 * time.Second}
	n := make([]int, len(bounds)+1)
	for _, r := range all {
		i, _ := slices.BinarySearch(bounds, time.Duration(r.took)+1)
		n[i]++
	}
	g.r.Took.Title = "Response times"
	for len(n) > 1 && n[len(n)-1] == 0 {
		n = n[:len(n)-1]
	}
	for i, v := range n {
		label := "longer"
		if i < len(bounds) {
			label = "up to " + bounds[i].String()
		}
		g.r.Took.Bars = append(g.r.Took.Bars, Bar{Label: label, Value: float64(v), Text: countText(v)})
	}
}
