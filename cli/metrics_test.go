package cli

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/fleet"
	"curtsy/storage/crawllog"
)

func TestMetricsListenOnThisMachineOnly(t *testing.T) {
	for address, want := range map[string]string{":9464": "127.0.0.1:9464", "localhost:1": "127.0.0.1:1",
		"[::1]:1":      "[::1]:1",
		"0.0.0.0:9464": "", "192.0.2.1:9464": "", "example.org:1": "", "9464": ""} {
		got, err := localAddress("--metrics", address, false, "")
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v; want %q", address, got, err, want)
		}
	}
}

func TestMetricsOfACrawl(t *testing.T) {
	var crawls []status.Status
	c := newCrawlMetrics(func() []status.Status { return crawls })
	c.commit(crawler.Commit{Took: 20 * time.Millisecond, Visits: []*crawllog.Visit{
		{Asked: crawllog.Asked{Class: "page", Took: time.Second, Waited: 2 * time.Second}, Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Length: 100}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse, Record: &crawllog.Record{Length: 80}}},
		{Asked: crawllog.Asked{Class: "page"}, Answer: crawllog.Answer{Error: "refused"}},
		{Asked: crawllog.Asked{Class: "page"}, Answer: crawllog.Answer{Status: 999}},
	}})
	m := newMetrics(t.TempDir(), func() string { return unless(crawls != nil, "not yet") },
		func() any { return crawls })
	m.registry.MustRegister(c)
	if got := ask(m, "/readyz"); got.Code != 503 {
		t.Errorf("it is ready before it began: %d", got.Code)
	}
	crawls = []status.Status{{State: "running", Queued: 7, Rules: map[string]int{"scope": 3}},
		{State: "running", Queued: 2, Rules: map[string]int{"scope": 1, "depth": 1}}, {State: "finished", Fetched: 4}}
	for path, code := range map[string]int{"/readyz": 200, "/livez": 200, "/metrics": 200, "/status": 200, "/": 404} {
		if got := ask(m, path); got.Code != code {
			t.Errorf("%s is answered %d, want %d", path, got.Code, code)
		}
	}
	text := ask(m, "/metrics").Body.String()
	for _, line := range []string{`curtsy_visits_total{class="page",outcome="2xx"} 1`,
		`curtsy_visits_total{class="page",outcome="error"} 1`,
		`curtsy_visits_total{class="page",outcome="other"} 1`, `curtsy_payload_bytes_total 100`,
		`curtsy_warc_bytes_total 80`,
		`curtsy_politeness_wait_seconds_total 2`, `curtsy_urls{state="queued"} 9`, `curtsy_urls{state="fetched"} 4`,
		`curtsy_urls_disregarded{rule="scope"} 4`, `curtsy_urls_disregarded{rule="depth"} 1`,
		`curtsy_crawl_state{state="running"} 2`, `curtsy_crawl_state{state="finished"} 1`,
		`curtsy_records_total{kept="response"} 1`, `curtsy_records_total{kept="revisit"} 0`,
		`curtsy_commit_duration_seconds_bucket{le="0.01"} 0`, `curtsy_commit_duration_seconds_bucket{le="0.025"} 1`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
	if problems, err := testutil.GatherAndLint(m.registry); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestMetricsOfAFleet(t *testing.T) {
	m := newMetrics(t.TempDir(), func() string { return "no session" }, func() any {
		return workerStatus(fleet.Gauges{Margin: 20 * time.Second},
			map[string]status.Status{"example.org": {State: "running"}})
	})
	m.registry.MustRegister(newFleetMetrics(func() fleet.Gauges {
		return fleet.Gauges{Sites: map[string]int{"due": 2}, Margin: 20 * time.Second, Takeovers: 1,
			Unwritten: time.Minute}
	}))
	if got := ask(m, "/readyz"); got.Code != 503 || !strings.Contains(got.Body.String(), "no session") {
		t.Errorf("readyz: %d %s", got.Code, got.Body)
	}
	text := ask(m, "/metrics").Body.String()
	for _, line := range []string{`curtsy_fleet_sites{state="due"} 2`, `curtsy_fleet_sites{state="done"} 0`,
		`curtsy_fleet_lease_margin_seconds 20`, `curtsy_fleet_takeovers_total 1`,
		`curtsy_fleet_store_failing_seconds 60`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
}

// The /status of a worker lists the crawl of each site by name; its metrics have only the sums
// and no site names.
func TestMetricsOfTheCrawlsOfAFleet(t *testing.T) {
	with, _ := watchFleet("127.0.0.1:0", t.TempDir())
	var o crawler.Options
	if with(&o); o.OnCommit == nil {
		t.Error("the commits of a worker's crawls are not counted")
	}
	got, err := json.Marshal(workerStatus(fleet.Gauges{Margin: 20 * time.Second},
		map[string]status.Status{"example.org": {State: "running"}}))
	for _, want := range []string{`"lease_margin_seconds":20`, `"crawls":{"example.org":{"state":"running"`} {
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s is not in %s (%v)", want, got, err)
		}
	}
}

func ask(m *metrics, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", path, nil)
	r.Host = "127.0.0.1:9464"
	m.handler().ServeHTTP(w, r)
	return w
}

// A page in a browser on this machine cannot read the metrics, even by DNS rebinding.
func TestMetricsAreNotForPages(t *testing.T) {
	h := newMetrics(t.TempDir(), func() string { return "" }, func() any { return 0 }).handler()
	for _, c := range []struct {
		says, method, host, origin string
		want                       int
	}{
		{"Prometheus", "GET", "localhost:9464", "", 200},
		{"through a tunnel", "GET", "127.0.0.1:19464", "", 200},
		{"a name that resolves here", "GET", "evil.test:9464", "", 421},
		{"a page of another origin", "GET", "127.0.0.1:9464", "http://evil.test", 403},
		{"a page without an origin", "GET", "127.0.0.1:9464", "null", 403},
		{"a form", "POST", "127.0.0.1:9464", "", 405},
	} {
		r, w := httptest.NewRequest(c.method, "/metrics", nil), httptest.NewRecorder()
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.says, w.Code, c.want)
		}
	}
}
