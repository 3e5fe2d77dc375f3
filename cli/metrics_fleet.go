package cli

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/fleet"
)

// fleetMetrics are those of a worker, read when they are asked for.
type fleetMetrics struct {
	gauges                                                                    func() fleet.Gauges
	sites, running, margin, takeovers, fenced, messages, save, unwritten, due *prometheus.Desc
}

// watchFleet lets a worker be asked at an address, if one is given: as a worker,
// and for the sums of the crawls that it runs. Each crawl's options pass through with.
func watchFleet(address, dir string) (with func(*crawler.Options), listen func(*fleet.Worker) (end func(), err error)) {
	if address == "" {
		return func(*crawler.Options) {}, func(*fleet.Worker) (func(), error) { return func() {}, nil }
	}
	var w *fleet.Worker // set before anybody may ask
	c := newCrawlMetrics(func() []status.Status { return slices.Collect(maps.Values(w.Crawls())) })
	return func(o *crawler.Options) { o.OnCommit = c.commit }, func(worker *fleet.Worker) (end func(), err error) {
		w = worker
		m := newMetrics(dir, func() string { return w.NotReady() },
			func() any { return workerStatus(w.Gauges(), w.Crawls()) })
		m.registry.MustRegister(newFleetMetrics(w.Gauges), c)
		return m.listen(address)
	}
}

// workerStatus is /status of a worker.
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

func newFleetMetrics(gauges func() fleet.Gauges) *fleetMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("curtsy_fleet_"+name, help, labels, nil)
	}
	return &fleetMetrics{gauges,
		desc("sites", "Sites of the whole list by state.", "state"),
		desc("running_sites", "Sites that this worker crawls."),
		desc("lease_margin_seconds", "How long this worker's session lasts if it is not renewed; 0 without one."),
		desc("takeovers_total", "Runs started here whose predecessor had not ended."),
		desc("fenced_total", "Runs dropped here because another worker had claimed the site."),
		desc("messages_total", "Messages sent to the fleet's servers and received from them in this session."),
		desc("save_age_seconds", "Seconds since the least recent save among the archives being crawled here."),
		desc("store_failing_seconds", "Seconds since saves have been failing here; 0 while they do not."),
		desc("due_age_seconds", "Seconds for which the longest-waiting site has been due."),
	}
}

// Describe implements prometheus.Collector.
func (c *fleetMetrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *fleetMetrics) Collect(ch chan<- prometheus.Metric) {
	g := c.gauges()
	say := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	for _, state := range fleet.States() {
		say(c.sites, prometheus.GaugeValue, float64(g.Sites[state]), state)
	}
	say(c.running, prometheus.GaugeValue, float64(g.Running))
	say(c.margin, prometheus.GaugeValue, g.Margin.Seconds())
	say(c.takeovers, prometheus.CounterValue, float64(g.Takeovers))
	say(c.fenced, prometheus.CounterValue, float64(g.Fenced))
	say(c.messages, prometheus.CounterValue, float64(g.Messages))
	say(c.save, prometheus.GaugeValue, g.SaveAge.Seconds())
	say(c.unwritten, prometheus.GaugeValue, g.Unwritten.Seconds())
	say(c.due, prometheus.GaugeValue, g.DueAge.Seconds())
}
