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

// LastMods calls each with the URLs and lastmod dates of an archived sitemap. Errors are ignored.
func LastMods(a *storage.Archive, v *crawllog.Visit, each func(weburl.URL, time.Time)) {
	resp, err := a.Response(v)
	if err != nil {
		return
	}
	defer resp.Close()
	body := resp.Body
	if list := codings(resp); len(list) > 0 {
		decoded, err := new(coding.Pool).Open(body, list, sitemap.MaxBytes)
		if err != nil {
			decoded.Close()
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

// codings returns the codings to remove from an archived response.
func codings(r *storage.Response) []string {
	return coding.Order(append(http1.Tokens(r.Header["Content-Encoding"]), r.Transfer...))
}

// maxVerified bounds the octets that Decodes unpacks.
const maxVerified = 64 << 20

// Decodes reports whether the body of a visit decodes to its end. It reads the body only for visits of
// older versions, which did not record that.
func Decodes(a *storage.Archive, v *crawllog.Visit) bool {
	if v.Body != "" {
		return true // checked when it was fetched
	}
	resp, err := a.Response(v)
	if err != nil {
		return false
	}
	defer resp.Close()
	list := codings(resp)
	if len(list) == 0 {
		return true
	}
	r, err := new(coding.Pool).Open(resp.Body, list, maxVerified)
	if err == nil {
		err = r.End()
	}
	r.Close()
	return err == nil
}
