package cli

import (
	"curtsy/internal/weburl"
)

func dryRun(u *ui, f *crawlFlags, c *config, seed weburl.URL) error { return nil }
