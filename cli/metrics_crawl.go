package cli

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/storage/crawllog"
)

// crawlMetrics are the metrics of the crawls in this process: counters updated at each commit,
// and totals of the latest statuses.
type crawlMetrics struct {
	collector       // yields all of them, and totals of the latest statuses
	visits, records *prometheus.CounterVec
	payload, warc   prometheus.Counter
	waited          prometheus.Counter
	took, commits   prometheus.Histogram
	committed       prometheus.Gauge
}

// watchMetrics serves the metrics of a crawl, if an address is given.
func watchMetrics(address, dir string, o *crawler.Options) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	var last atomic.Pointer[status.Status]
	c := newCrawlMetrics(func() []status.Status {
		if s := last.Load(); s != nil {
			return []status.Status{*s}
		}
		return nil
	})
	m := newMetrics(dir, func() string { return unless(last.Load() != nil, "the crawl does not run yet") },
		func() any { return last.Load() })
	m.registry.MustRegister(c)
	watch := o.Watch
	o.Watch = func(s status.Status) { last.Store(&s); watch(s) }
	o.OnCommit = c.commit
	return m.listen(address)
}

func newCrawlMetrics(running func() []status.Status) *crawlMetrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	seconds := func(name, help string, buckets ...float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	c := &crawlMetrics{
		visits: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "curtsy_visits_total",
			Help: "Durable visits, by class and result."}, []string{"class", "outcome"}),
		payload: counter("curtsy_payload_bytes_total", "Payload bytes as sent by the server."),
		warc:    counter("curtsy_warc_bytes_total", "Bytes of visits' records in WARC segments."),
		waited: counter("curtsy_politeness_wait_seconds_total",
			"Seconds that the next URL waited for the site's pace."),
		took: seconds("curtsy_fetch_duration_seconds", "Seconds from connecting to the last byte.", .005, .02, .1,
			.25, .5, 1, 2.5, 5, 10, 30, 60),
		commits: seconds("curtsy_commit_duration_seconds", "Seconds to make a group of visits durable: records "+
			"written and synced, then the transaction.", .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10),
		committed: prometheus.NewGauge(prometheus.GaugeOpts{Name: "curtsy_last_commit_timestamp_seconds",
			Help: "When the last durable visit was made."}),
		records: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "curtsy_records_total",
			Help: "Durable visits, by what is kept of them."}, []string{"kept"}),
	}
	for _, kept := range []string{crawllog.KeptResponse, crawllog.KeptRevisit, crawllog.KeptElsewhere,
		crawllog.KeptWithheld} {
		c.records.WithLabelValues(kept)
	}
	c.collector = func(ch chan<- prometheus.Metric) {
		for _, each := range []prometheus.Collector{c.visits, c.records, c.payload, c.warc, c.waited, c.took,
			c.commits, c.committed} {
			each.Collect(ch)
		}
		yieldStatuses(ch, running())
	}
	return c
}

// commit implements crawler.Options.OnCommit.
func (c *crawlMetrics) commit(done crawler.Commit) {
	c.commits.Observe(done.Took.Seconds())
	for _, v := range done.Visits {
		c.visit(v)
	}
}

func (c *crawlMetrics) visit(v *crawllog.Visit) {
	c.visits.WithLabelValues(v.Class, outcomeOf(v)).Inc()
	c.payload.Add(float64(max(v.Length, 0)))
	if v.Record != nil {
		c.warc.Add(float64(max(v.Record.Length, 0)))
	}
	if v.Kept != "" {
		c.records.WithLabelValues(v.Kept).Inc()
	}
	c.waited.Add(max(v.Waited, 0).Seconds())
	c.took.Observe(v.Took.Seconds())
	c.committed.Set(float64(v.At.UnixMilli()) / 1000)
}

// outcomeOf classifies a response: 2xx to 5xx, other, or error without response.
func outcomeOf(v *crawllog.Visit) string {
	switch {
	case v.Status == 0:
		return "error"
	case v.Status < 200 || v.Status > 599:
		return "other"
	}
	return string('0'+byte(v.Status/100)) + "xx"
}

// yieldStatuses yields the totals of the statuses of crawls.
func yieldStatuses(ch chan<- prometheus.Metric, crawls []status.Status) {
	states, rules := map[string]int{"running": 0}, map[string]int{}
	urls := map[string]int{"queued": 0, "in_process": 0, "fetched": 0, "failed": 0, "disregarded": 0}
	for _, s := range crawls {
		states[s.State]++
		urls["queued"] += s.Queued
		urls["in_process"] += s.InProcess
		urls["fetched"] += s.Fetched
		urls["failed"] += s.Failed
		urls["disregarded"] += s.Disregarded
		for rule, n := range s.Rules {
			rules[rule] += n
		}
	}
	yieldByLabel(ch, "curtsy_crawl_state", "How many crawls of this process are in the state.", "state", states)
	yieldByLabel(ch, "curtsy_urls", "URLs of the sites that are being crawled, by state.", "state", urls)
	yieldByLabel(ch, "curtsy_urls_disregarded", "URLs that failed or were skipped, by the rule that decided.", "rule",
		rules)
}
