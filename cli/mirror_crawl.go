package cli

import (
	"curtsy/internal/weburl"
)

// crawlAndMirror crawls and, where it was asked for, exports what there is,
// be the crawl complete or stopped. The crawl's own ending counts first.
func crawlAndMirror(u *ui, f *crawlFlags, c *config, seed weburl.URL) error {
	err := runCrawl(u, f, c, seed)
	if code := exitCode(err); f.mirror == "" || code != exitDone && code != exitStopped {
		return err
	}
	ctx, release := untilSignal()
	defer release()
	mirrored := exportMirror(ctx, u, &mirrorFlags{json: f.json}, c.Archive, f.mirror)
	if err != nil && mirrored != nil {
		u.fail(mirrored)
		return err
	}
	if err != nil {
		return err
	}
	return mirrored
}
