package cli

import (
	"cmp"
	"context"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"curtsy/crawler"
)

// Variables of OpenTelemetry that say where traces go. The SDK reads the others
// (headers, certificates, sampler, resource).
const (
	otlpEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	otlpProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	otlpTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
)

// traces sends a trace of each durable visit to a collector.
type traces struct{ tracer oteltrace.Tracer }

// startTraces is nil where the environment names no collector.
func startTraces(u *ui) (t *traces, end func(), err error) {
	if cmp.Or(os.Getenv(otlpTracesEndpoint), os.Getenv(otlpEndpoint)) == "" || os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, func() {}, nil
	}
	if p := cmp.Or(os.Getenv(otlpTracesProtocol), os.Getenv(otlpProtocol), "http/protobuf"); p != "http/protobuf" {
		return nil, nil, usagef(otlpProtocol+"=http/protobuf", "traces are sent by http/protobuf only, not by %s", oneLine(p))
	}
	exporter, err := otlptracehttp.New(context.Background())
	if err != nil {
		return nil, nil, exitWith(exitUsage, err, "correct "+otlpEndpoint)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { u.logger(false).Warn("traces were not sent", "err", err) }))
	return newTraces(sdktrace.WithBatcher(exporter))
}

func newTraces(to sdktrace.TracerProviderOption) (t *traces, end func(), err error) {
	what := resource.NewSchemaless(attribute.String("service.name", "curtsy"), attribute.String("service.version", readVersion().Version))
	if what, err = resource.Merge(what, resource.Environment()); err != nil {
		return nil, nil, exitWith(exitUsage, err, "correct OTEL_RESOURCE_ATTRIBUTES")
	}
	p := sdktrace.NewTracerProvider(to, sdktrace.WithResource(what))
	return &traces{p.Tracer("curtsy")}, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			otel.Handle(err)
		}
	}, nil
}

// watch traces the visits of a crawl, if t is not nil.
func (t *traces) watch(o *crawler.Options) {
	if t == nil {
		return
	}
	seed, before := o.Seed.String(), o.OnCommit
	o.OnCommit = func(done crawler.Commit) {
		if before != nil {
			before(done)
		}
		for _, each := range done.Visits {
			t.visit(seed, &done, &each)
		}
	}
}

// visit makes the spans of one visit, from its request to its commit: a trace of
// its own, so that a sampler (OTEL_TRACES_SAMPLER) chooses among visits.
func (t *traces) visit(seed string, done *crawler.Commit, each *crawler.Timing) {
	v := each.Visit
	ctx, span := t.tracer.Start(context.Background(), "visit", oteltrace.WithTimestamp(v.At), oteltrace.WithNewRoot(), oteltrace.WithAttributes(
		attribute.String("url.full", v.URL), attribute.String("curtsy.seed", seed), attribute.String("curtsy.class", v.Class),
		attribute.Float64("curtsy.waited_seconds", v.Waited.Seconds()), attribute.String("curtsy.delay", v.Delay),
		attribute.Int64("http.response.body.size", v.Length), attribute.String("curtsy.kept", v.Kept)))
	if v.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", v.Status))
	}
	if v.Error != "" {
		span.SetStatus(codes.Error, v.Error)
	}
	fetched := v.At.Add(v.Took)
	t.step(ctx, "fetch", v.At, fetched)
	t.step(ctx, "read", fetched, fetched.Add(each.Read))
	t.step(ctx, "commit", done.Began, done.Began.Add(done.Took))
	span.End(oteltrace.WithTimestamp(done.Began.Add(done.Took)))
}

func (t *traces) step(ctx context.Context, name string, from, to time.Time) {
	_, span := t.tracer.Start(ctx, name, oteltrace.WithTimestamp(from))
	span.End(oteltrace.WithTimestamp(to))
}
