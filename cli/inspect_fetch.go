package cli

import (
	"context"
	"net/http"

	"curtsy/htmlmeta"
)

// fetchPage gets a page politely; the lines of header are added to its own.
func fetchPage(_ context.Context, _ *ui, url string, _ http.Header) (htmlmeta.Page, error) {
	return htmlmeta.Page{}, usagef("curtsy inspect FILE --base "+url, "pages are read from files only, as yet: %s", url)
}
