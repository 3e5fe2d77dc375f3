package replay

import (
	"context"
	"net/http"
	"strings"

	"curtsy/storage/crawllog"
)

// Rewrite rewrites a page with a long URL.
func Rewrite(ctx context.Context, body []byte) ([]byte, error) {
	c := &capture{Visit: &crawllog.Visit{Asked: crawllog.Asked{URL: "http://example.test/" + strings.Repeat("d", 1000) + "/"}}}
	return new(Server).rewrite(ctx, address{ts: "2026"}, c, http.Header{"Content-Type": {"text/html"}}, body)
}

// Listed and Unlisted encode and decode URLs in paths.
var Listed, Unlisted = listed, unlisted
