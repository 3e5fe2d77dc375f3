package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"curtsy/internal/room"
)

// metricsUsage is of the flag that all commands with metrics share.
const metricsUsage = "serve /metrics for Prometheus, /status as JSON, /livez and /readyz at `HOST:PORT` of this machine (127.0.0.1:9464)"

// metrics are what a process says of itself to a Prometheus. No label holds a
// URL, a host or anything else that a site may choose.
type metrics struct {
	registry *prometheus.Registry
	ready    func() bool
	status   func() any // what /status says
}

func newMetrics(dir string, ready func() bool, status func() any) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), ready: ready, status: status}
	v := readVersion()
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "curtsy_build_info", Help: "1; the labels say which program it is.",
		ConstLabels: prometheus.Labels{"version": v.Version, "revision": v.Commit, "goversion": runtime.Version()}})
	build.Set(1)
	free := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "curtsy_disk_free_bytes", Help: "Free bytes of the disk that archives are written to."},
		func() float64 { return float64(room.Free(dir)) })
	m.registry.MustRegister(build, free, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// listen answers at an address until the function that it returns is called.
func (m *metrics) listen(address string) (end func(), err error) {
	if address, err = loopback(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, exitWith(exitFailed, fmt.Errorf("--metrics: %w", err), "another port, or 0 for any free one")
	}
	server := &http.Server{Handler: m.handler(), ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 16}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // ErrServerClosed
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-done
	}, nil
}

func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !m.ready() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(m.status()) // whoever asked has gone
	})
	return mux
}

// loopback is an address of this machine; without a host it is 127.0.0.1. What
// is asked has neither a login nor TLS, so nobody else may ask.
func loopback(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", usagef("--metrics 127.0.0.1:9464", "--metrics: %v", err)
	}
	switch host {
	case "", "localhost":
		return net.JoinHostPort("127.0.0.1", port), nil
	}
	if a, err := netip.ParseAddr(host); err != nil || !a.IsLoopback() {
		return "", usagef("--metrics 127.0.0.1:"+port, "--metrics: %s is not a loopback address", host)
	}
	return address, nil
}
