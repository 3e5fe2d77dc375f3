package cli

import (
	"fmt"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"curtsy/publish/mirror"
)

// mirrorBar shows how an export goes, on a terminal.
type mirrorBar struct {
	mu   sync.Mutex
	bars *mpb.Progress
	bar  *mpb.Bar
	text string
}

func newMirrorBar(u *ui) *mirrorBar {
	b := &mirrorBar{}
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
func (b *mirrorBar) show(p mirror.Progress) {
	if b.bar == nil {
		return
	}
	b.mu.Lock()
	b.text = fmt.Sprintf("%s %d of %d", p.Step, p.Done, p.Total)
	b.mu.Unlock()
	b.bar.SetTotal(int64(p.Total), false)
	b.bar.SetCurrent(int64(p.Done))
}

func (b *mirrorBar) close() {
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
	}
}
