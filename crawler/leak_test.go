package crawler_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"curtsy/crawler"
)

// However a run ends, all its goroutines have ended when it returns. In a bubble the moment at which it
// is stopped is the same on every machine.
func TestRunOwnsEveryGoroutine(t *testing.T) {
	for name, prepare := range map[string]func(o *crawler.Options) (ctx, stop context.Context){
		"done": func(*crawler.Options) (context.Context, context.Context) {
			return context.Background(), context.Background()
		},
		"limited": func(o *crawler.Options) (context.Context, context.Context) {
			o.Limits.Pages = 2
			return context.Background(), context.Background()
		},
		"asked to stop": func(o *crawler.Options) (context.Context, context.Context) {
			stop, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			t.Cleanup(cancel)
			return context.Background(), stop
		},
		"stopped at once": func(o *crawler.Options) (context.Context, context.Context) {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			t.Cleanup(cancel)
			return ctx, ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, chain(20), func(t *testing.T, s *site) {
				s.slower(2 * time.Millisecond)
				before := goleak.IgnoreCurrent()
				o := s.options()
				o.Pace.Concurrency = 4
				ctx, stop := prepare(&o)
				dir := t.TempDir()
				c, err := crawler.Open(dir, o)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Run(ctx, stop); err != nil {
					t.Fatal(err)
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				s.CloseClientConnections()
				// Goroutines of the test's own server do not count.
				goleak.VerifyNone(t, before,
					goleak.IgnoreAnyFunction("net/http.(*Server).Serve"),
					goleak.IgnoreAnyFunction("net/http.(*conn).serve"))
				check(t, dir)
			})
		})
	}
}
