package render

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// kill kills the browser's process, as a lack of memory would.
func kill(t *testing.T, b *Browser) {
	t.Helper()
	p := chromedp.FromContext(b.on.ctx).Browser.Process()
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	<-b.on.ctx.Done()
}
