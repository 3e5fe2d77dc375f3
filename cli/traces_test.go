package cli

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"curtsy/crawler"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// collected is a collector, and the spans that were sent to it, by name.
func collected(t *testing.T) (url string, spansOf func() map[string]*spans.Span) {
	var mu sync.Mutex
	all := map[string]*spans.Span{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		b, _ := io.ReadAll(body)
		var got collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(b, &got); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, of := range got.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, each := range scope.Spans {
					all[each.Name] = each
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() map[string]*spans.Span { mu.Lock(); defer mu.Unlock(); return all }
}

// Each visit is a trace: fetch, read and commit below one span that says what came.
func TestTracesGoToACollector(t *testing.T) {
	url, spansOf := collected(t)
	t.Setenv(otlpEndpoint, url)
	tr, end, err := startTraces(&ui{err: io.Discard})
	if err != nil || tr == nil {
		t.Fatal(tr, err)
	}
	o := crawler.Options{Seed: weburl.MustParse("http://example.org/")}
	commits := 0
	o.OnCommit = func(crawler.Commit) { commits++ }
	tr.watch(&o)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o.OnCommit(crawler.Commit{Began: at.Add(2 * time.Second), Took: time.Second, Visits: []crawler.Timing{
		{Visit: &crawllog.Visit{URL: "http://example.org/a", At: at, Took: time.Second, Waited: 5 * time.Second, Status: 503, Error: "cut off"}, Read: time.Millisecond}}})
	end()
	got := spansOf()
	visit := got["visit"]
	if visit == nil || commits != 1 || len(got) != 4 {
		t.Fatalf("%d commits counted, spans %v", commits, got)
	}
	attributes := map[string]string{}
	for _, a := range visit.Attributes {
		attributes[a.Key] = a.Value.String()
	}
	if attributes["url.full"] != `string_value:"http://example.org/a"` || attributes["curtsy.waited_seconds"] != "double_value:5" || attributes["http.response.status_code"] != "int_value:503" || visit.Status.Message != "cut off" {
		t.Errorf("the visit says %v, %v", attributes, visit.Status)
	}
	for name, want := range map[string]time.Duration{"visit": 3 * time.Second, "fetch": time.Second, "read": time.Millisecond, "commit": time.Second} {
		each := got[name]
		if took := time.Duration(each.EndTimeUnixNano - each.StartTimeUnixNano); took != want || string(each.TraceId) != string(visit.TraceId) {
			t.Errorf("%s took %s, want %s, in the trace of the visit", name, took, want)
		}
	}
}

// Without a collector nothing is hooked in; what cannot be done is refused.
func TestTracesAreOffByDefault(t *testing.T) {
	for _, env := range []map[string]string{{}, {otlpEndpoint: "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, {otlpEndpoint: "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}} {
		t.Run("", func(t *testing.T) {
			for k, v := range env {
				t.Setenv(k, v)
			}
			tr, end, err := startTraces(&ui{err: io.Discard})
			if err != nil || tr != nil {
				t.Fatalf("%v: %v, %v", env, tr, err)
			}
			defer end()
			var o crawler.Options
			if tr.watch(&o); o.OnCommit != nil {
				t.Error("a hook is set")
			}
		})
	}
	t.Setenv(otlpEndpoint, "http://127.0.0.1:1")
	t.Setenv(otlpProtocol, "grpc")
	if _, _, err := startTraces(&ui{err: io.Discard}); exitCode(err) != exitUsage {
		t.Errorf("grpc: %v", err)
	}
}
