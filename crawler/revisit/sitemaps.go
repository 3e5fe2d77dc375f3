package revisit

import (
	"io"
	"time"

	"curtsy/internal/coding"
	"curtsy/internal/http1"
	"curtsy/internal/weburl"
	"curtsy/sitemap"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// LastMods tells what a kept sitemap says of when pages changed. What
// cannot be read says nothing.
func LastMods(a *storage.Archive, v *crawllog.Visit, each func(weburl.URL, time.Time)) {
	resp, err := a.Response(v)
	if err != nil {
		return
	}
	defer resp.Close()
	body := resp.Body
	if list := coding.Order(append(http1.Tokens(resp.Header["Content-Encoding"]), resp.Transfer...)); len(list) > 0 {
		decoded, err := new(coding.Pool).Open(body, list, sitemap.MaxBytes)
		if err != nil {
			return
		}
		defer decoded.Close()
		body = decoded
	}
	base := weburl.FromCanonical(v.URL)
	_, _ = sitemap.Read(io.LimitReader(body, sitemap.MaxBytes), base, func(e sitemap.Entry, child bool) error {
		if u, err := base.Resolve(e.Loc); err == nil && !child && !e.LastMod.IsZero() {
			each(u, e.LastMod)
		}
		return nil
	})
}
