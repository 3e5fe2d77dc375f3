package cli

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/fleet"
	"curtsy/internal/localweb"
	"curtsy/internal/room"
	"curtsy/storage/crawllog"
)

// metrics are the Prometheus metrics of a process. No label has a value that a site controls,
// such as a URL or host.
type metrics struct {
	registry *prometheus.Registry
	ready    func() (why string) // why it is not ready; "" if it is
	status   func() any          // the content of /status
}

func newMetrics(dir string, ready func() (why string), status func() any) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), ready: ready, status: status}
	v := readVersion()
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "curtsy_build_info",
		Help:        "1; the labels say which program it is.",
		ConstLabels: prometheus.Labels{"version": v.Version, "revision": v.Commit, "goversion": runtime.Version()}})
	build.Set(1)
	free := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "curtsy_disk_free_bytes",
		Help: "Free bytes of the disk that archives are written to."},
		func() float64 { return float64(room.Free(dir)) })
	m.registry.MustRegister(build, free, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// unless returns text, or "" if is.
func unless(is bool, text string) string {
	if is {
		return ""
	}
	return text
}

// listen serves metrics at an address until end is called.
func (m *metrics) listen(address string) (end func(), err error) {
	// There is no authentication or TLS, so only this machine has access.
	if address, err = localAddress("--metrics", address, false, "--metrics 127.0.0.1:9464"); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, exitWith(exitFailed, fmt.Errorf("--metrics: %w", err), "another port, or 0 for any free one")
	}
	server := &http.Server{Handler: m.handler(), ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		MaxHeaderBytes: 1 << 16}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // always ErrServerClosed
	}()
	return func() {
		stopServer(server)
		<-done
	}, nil
}

func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := m.ready(); why != "" {
			http.Error(w, "not ready: "+why, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		line, err := jsonLine(m.status())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(line)
	})
	return localweb.Guard(func(r *http.Request) localweb.Access {
		if (localweb.Names{}).Has(r.Host) {
			return localweb.Own
		}
		return localweb.Refused
	}, mux)
}

// watchFleet serves the metrics of a worker and the totals of its crawls, if an address is
// given. The options of each crawl must be passed to with.
func watchFleet(address, dir string) (with func(*crawler.Options), listen func(*fleet.Worker) (end func(), err error)) {
	if address == "" {
		return func(*crawler.Options) {}, func(*fleet.Worker) (func(), error) { return func() {}, nil }
	}
	var w *fleet.Worker // set before requests are accepted
	c := newCrawlMetrics(func() []status.Status { return slices.Collect(maps.Values(w.Crawls())) })
	return func(o *crawler.Options) { o.OnCommit = c.commit }, func(worker *fleet.Worker) (end func(), err error) {
		w = worker
		m := newMetrics(dir, func() string { return w.NotReady() },
			func() any { return workerStatus(w.Gauges(), w.Crawls()) })
		m.registry.MustRegister(newFleetMetrics(w.Gauges), c)
		return m.listen(address)
	}
}

// workerStatus is the content of /status of a worker.
func workerStatus(g fleet.Gauges, crawls map[string]status.Status) any {
	return struct {
		Sites  map[string]int           `json:"sites"`
		Margin float64                  `json:"lease_margin_seconds"`
		Due    float64                  `json:"due_age_seconds"`
		Save   float64                  `json:"save_age_seconds"`
		Store  string                   `json:"store_trouble,omitempty"`
		Crawls map[string]status.Status `json:"crawls"`
	}{g.Sites, g.Margin.Seconds(), g.DueAge.Seconds(), g.SaveAge.Seconds(), g.Trouble, crawls}
}

// collector yields metrics on request.
type collector func(chan<- prometheus.Metric)

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) { c(ch) }

// yieldByLabel yields a gauge with a value per label.
func yieldByLabel(ch chan<- prometheus.Metric, name, help, label string, values map[string]int) {
	d := prometheus.NewDesc(name, help, []string{label}, nil)
	for of, n := range values {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), of)
	}
}

// newFleetMetrics returns the metrics of a worker.
func newFleetMetrics(gauges func() fleet.Gauges) prometheus.Collector {
	return collector(func(ch chan<- prometheus.Metric) {
		g := gauges()
		sites := map[string]int{}
		for _, state := range fleet.States() {
			sites[state] = g.Sites[state]
		}
		yieldByLabel(ch, "curtsy_fleet_sites", "Sites of the whole list by state.", "state", sites)
		say := func(kind prometheus.ValueType, name string, v float64, help string) {
			ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("curtsy_fleet_"+name, help, nil, nil), kind, v)
		}
		const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
		say(gauge, "running_sites", float64(g.Running), "Sites that this worker crawls.")
		say(gauge, "lease_margin_seconds", g.Margin.Seconds(),
			"How long this worker's session lasts if it is not renewed; 0 without one.")
		say(counter, "takeovers_total", float64(g.Takeovers), "Runs started here whose predecessor had not ended.")
		say(counter, "fenced_total", float64(g.Fenced),
			"Runs dropped here because another worker had claimed the site.")
		say(counter, "messages_total", float64(g.Messages),
			"Messages sent to the fleet's servers and received from them in this session.")
		say(gauge, "save_age_seconds", g.SaveAge.Seconds(),
			"Seconds since the least recent save among the archives being crawled here.")
		say(gauge, "store_failing_seconds", g.Unwritten.Seconds(),
			"Seconds since saves have been failing here; 0 while they do not.")
		say(gauge, "due_age_seconds", g.DueAge.Seconds(), "Seconds for which the longest-waiting site has been due.")
	})
}

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
