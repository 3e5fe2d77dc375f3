package cli

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"curtsy/internal/localweb"
	"curtsy/internal/room"
)

// metrics are what a process says of itself to a Prometheus. No label holds a
// URL, a host or anything else that a site may choose.
type metrics struct {
	registry *prometheus.Registry
	ready    func() (why string) // why it is not ready; "" when it is
	status   func() any          // what /status says
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

// unless is a reason, but not where it does not hold.
func unless(is bool, why string) string {
	if is {
		return ""
	}
	return why
}

// listen answers at an address until the function that it returns is called.
func (m *metrics) listen(address string) (end func(), err error) {
	// What is asked has neither a login nor TLS, so nobody else may ask.
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
		_ = server.Serve(l) // ErrServerClosed
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
		w.Header().Set("Content-Type", "application/json")
		if err := (&ui{out: &dataWriter{w: w}}).json(m.status()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return localweb.Guard(func(r *http.Request) localweb.Access {
		if (localweb.Names{}).Has(r.Host) {
			return localweb.Own
		}
		return localweb.Refused
	}, mux)
}
