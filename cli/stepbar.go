package cli

import (
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// stepBar shows how something with a known end goes, on a terminal.
type stepBar struct {
	mu   sync.Mutex
	bars *mpb.Progress
	bar  *mpb.Bar
	text string
}

func newStepBar(u *ui) *stepBar {
	b := &stepBar{}
	if isTerminal(u.err) {
		b.bars = mpb.New(mpb.WithOutput(u.err), mpb.WithWidth(24))
		b.bar = b.bars.AddBar(0, mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return " " + b.text
		})))
	}
	return b
}

// show may be called from any goroutine.
func (b *stepBar) show(text string, done, total int64) {
	if b.bar == nil {
		return
	}
	b.mu.Lock()
	b.text = text
	b.mu.Unlock()
	b.bar.SetTotal(total, false)
	b.bar.SetCurrent(done)
}

func (b *stepBar) close() {
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
	}
}
