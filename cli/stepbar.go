package cli

import (
	"io"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// stepBar shows how something goes, on a terminal: one line that changes.
// While it does, lines for people are written above it.
type stepBar struct {
	u    *ui
	mu   sync.Mutex
	bars *mpb.Progress
	bar  *mpb.Bar
	text string
}

func newStepBar(u *ui) *stepBar {
	b := &stepBar{u: u}
	if u.drawsBars() {
		b.bars = mpb.New(mpb.WithOutput(u.err), mpb.WithWidth(24))
		b.bar = b.bars.AddBar(0, mpb.PrependDecorators(decor.Name(home)), mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return " " + b.text
		})))
		u.drawAbove(b.bars)
	}
	return b
}

// show may be called from any goroutine.
func (b *stepBar) show(text string, done, total int64) {
	if b.u.host != nil && b.u.host.Step != nil {
		b.u.host.Step(text, done, total)
	}
	if b.bar == nil {
		return
	}
	b.mu.Lock()
	b.text = text
	b.mu.Unlock()
	b.bar.SetTotal(total, false)
	b.bar.SetCurrent(done)
}

// close takes the bar away; it may be called again.
func (b *stepBar) close() {
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
		b.u.drawAbove(nil)
		_, _ = io.WriteString(b.u.err, home+"\x1b[J")
		b.bar = nil
	}
}
