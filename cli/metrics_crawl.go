package cli

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/storage"
)

// crawlMetrics are those of one crawl: counted at each commit, and what the
// last status says.
type crawlMetrics struct {
	last                        atomic.Pointer[status.Status]
	visits                      *prometheus.CounterVec
	payload, warc               prometheus.Counter
	waited                      prometheus.Counter
	took                        prometheus.Histogram
	committed                   prometheus.Gauge
	urls, skipped, records, run *prometheus.Desc
}

// watchMetrics lets a crawl be asked at an address, if one is given.
func watchMetrics(address, dir string, o *crawler.Options) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	c := newCrawlMetrics()
	m := newMetrics(dir, func() bool { return c.last.Load() != nil })
	m.registry.MustRegister(c)
	watch := o.Watch
	o.Watch = func(s status.Status) { c.last.Store(&s); watch(s) }
	o.OnVisit = c.visit
	return m.listen(address)
}

func newCrawlMetrics() *crawlMetrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	desc := func(name, help, label string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{label}, nil)
	}
	return &crawlMetrics{
		visits:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "curtsy_visits_total", Help: "Durable visits, by class and result."}, []string{"class", "outcome"}),
		payload: counter("curtsy_payload_bytes_total", "Payload bytes as sent by the server."),
		warc:    counter("curtsy_warc_bytes_total", "Bytes of visits' records in WARC segments."),
		waited:  counter("curtsy_politeness_wait_seconds_total", "Seconds that the next URL waited for the site's pace."),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "curtsy_fetch_duration_seconds", Help: "Seconds from connecting to the last byte.",
			Buckets: []float64{.005, .02, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}}),
		committed: prometheus.NewGauge(prometheus.GaugeOpts{Name: "curtsy_last_commit_timestamp_seconds", Help: "When the last durable visit was made."}),
		urls:      desc("curtsy_urls", "URLs of the site by state.", "state"),
		skipped:   desc("curtsy_urls_disregarded", "URLs that failed or were skipped, by the rule that decided.", "rule"),
		records:   desc("curtsy_records_total", "Visits of the archive by what is kept of them.", "kept"),
		run:       desc("curtsy_crawl_state", "1 for the state that the crawl is in.", "state"),
	}
}

// visit is crawler.Options.OnVisit.
func (c *crawlMetrics) visit(_ context.Context, v *storage.Visit) error {
	c.visits.WithLabelValues(v.Class, outcomeOf(v)).Inc()
	c.payload.Add(float64(max(v.Length, 0)))
	if v.Record != nil {
		c.warc.Add(float64(max(v.Record.Length, 0)))
	}
	c.waited.Add(max(v.Waited, 0).Seconds())
	c.took.Observe(v.Took.Seconds())
	c.committed.Set(float64(v.At.UnixMilli()) / 1000)
	return nil
}

// outcomeOf is what came: 2xx to 5xx, other, or error where no answer came.
func outcomeOf(v *storage.Visit) string {
	switch {
	case v.Status == 0:
		return "error"
	case v.Status < 200 || v.Status > 599:
		return "other"
	}
	return string('0'+byte(v.Status/100)) + "xx"
}

// Describe implements prometheus.Collector.
func (c *crawlMetrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *crawlMetrics) Collect(ch chan<- prometheus.Metric) {
	for _, each := range []prometheus.Collector{c.visits, c.payload, c.warc, c.waited, c.took, c.committed} {
		each.Collect(ch)
	}
	s := c.last.Load()
	if s == nil {
		s = &status.Status{State: "starting"}
	}
	say := func(d *prometheus.Desc, n int, label string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), label)
	}
	say(c.run, 1, s.State)
	for state, n := range map[string]int{"queued": s.Queued, "in_process": s.InProcess, "fetched": s.Fetched, "failed": s.Failed, "disregarded": s.Disregarded} {
		say(c.urls, n, state)
	}
	for rule, n := range s.Rules {
		say(c.skipped, n, rule)
	}
	for kept, n := range map[string]int{"response": s.Kept, "revisit": s.Revisits, "withheld": s.Withheld} {
		ch <- prometheus.MustNewConstMetric(c.records, prometheus.CounterValue, float64(n), kept)
	}
}
