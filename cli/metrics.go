package cli

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/fleet"
	"curtsy/internal/localweb"
	"curtsy/internal/room"
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
		say(counter, "fenced_total", float64(g.Fenced), "Runs dropped here because another worker had claimed the site.")
		say(counter, "messages_total", float64(g.Messages),
			"Messages sent to the fleet's servers and received from them in this session.")
		say(gauge, "save_age_seconds", g.SaveAge.Seconds(),
			"Seconds since the least recent save among the archives being crawled here.")
		say(gauge, "store_failing_seconds", g.Unwritten.Seconds(),
			"Seconds since saves have been failing here; 0 while they do not.")
		say(gauge, "due_age_seconds", g.DueAge.Seconds(), "Seconds for which the longest-waiting site has been due.")
	})
}
