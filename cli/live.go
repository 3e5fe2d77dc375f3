package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
)

// live draws lines at the bottom of a terminal and updates them in place. Other messages are
// written above them (lineWriter).
type live struct {
	u     *ui
	lines func(width int) []styled // the current lines; each is truncated to the width
	end   chan struct{}
	ended sync.WaitGroup

	drawn []int // width of each drawn line
	width int   // width of the terminal when they were drawn
}

// styled is a line and the escape sequence for its look; "": none.
type styled struct{ style, text string }

// drawEvery is the interval of redrawing.
const drawEvery = 150 * time.Millisecond

// draws starts drawing, until close is called.
func (l *live) draws() *live {
	l.end = make(chan struct{})
	l.u.mu.Lock()
	l.u.live = l
	l.u.mu.Unlock()
	l.ended.Go(func() {
		tick := time.NewTicker(drawEvery)
		defer tick.Stop()
		for {
			l.u.mu.Lock()
			_ = l.draw("")
			l.u.mu.Unlock()
			select {
			case <-tick.C:
			case <-l.end:
				return
			}
		}
	})
	return l
}

// draw redraws the lines, below the text above. The caller holds u.mu.
func (l *live) draw(above string) error {
	width := cmp.Or(widthOf(l.u.err), 80)
	var b bytes.Buffer
	b.WriteString(l.erasure(width))
	b.WriteString(above)
	l.drawn, l.width = l.drawn[:0], width
	colours := hasColours(l.u.err)
	for _, line := range l.lines(width) {
		text := runewidth.Truncate(oneLine(line.text), max(width-1, 10), ellipsis(os.Getenv))
		l.drawn = append(l.drawn, runewidth.StringWidth(text))
		if colours && line.style != "" && text != "" {
			text = line.style + text + plain
		}
		b.WriteString(text + "\n")
	}
	_, err := l.u.err.Write(b.Bytes())
	return err
}

// erasure erases the lines. If the terminal has become narrower, they may take more rows. Since
// the echo of a key may have moved the cursor, it starts at the first column.
func (l *live) erasure(width int) string {
	rows := len(l.drawn)
	if width < l.width && reflows(os.Getenv) {
		for _, n := range l.drawn {
			rows += max(n-1, 0) / width
		}
	}
	if rows == 0 {
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows)
}

// close erases the lines and stops drawing.
func (l *live) close() {
	close(l.end)
	l.ended.Wait()
	l.u.mu.Lock()
	defer l.u.mu.Unlock()
	l.u.live = nil
	_, _ = io.WriteString(l.u.err, l.erasure(cmp.Or(widthOf(l.u.err), 80)))
}

// reflows reports whether the terminal rewraps lines when it becomes narrower. Most do; xterm,
// the Linux console and screen truncate them.
func reflows(env func(string) string) bool {
	term := env("TERM")
	return env("TMUX") != "" || env("XTERM_VERSION") == "" && term != "linux" && !strings.HasPrefix(term, "screen")
}

// ellipsis returns the end of a truncated line, in ASCII if the locale is not UTF-8.
func ellipsis(env func(string) string) string {
	locale := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	if locale == "" || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8") {
		return "…"
	}
	return "..."
}

// stepBar shows progress on a terminal: a bar and the current step.
type stepBar struct {
	u    *ui
	live *live

	mu          sync.Mutex
	text        string
	done, total int64
}

func newStepBar(u *ui) *stepBar {
	b := &stepBar{u: u}
	if u.drawsBars() {
		b.live = (&live{u: u, lines: b.lines}).draws()
	}
	return b
}

// show updates the bar. It is safe for concurrent use.
func (b *stepBar) show(text string, done, total int64) {
	if b.u.host != nil && b.u.host.Step != nil {
		b.u.host.Step(text, done, total)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text, b.done, b.total = text, done, total
}

func (b *stepBar) lines(int) []styled {
	const columns = 22
	b.mu.Lock()
	defer b.mu.Unlock()
	full := int(columns * min(max(b.done, 0), b.total) / max(b.total, 1))
	return []styled{{text: "[" + strings.Repeat("=", full) + strings.Repeat("-", columns-full) + "] " + b.text}}
}

// close removes the bar; it may be called repeatedly.
func (b *stepBar) close() {
	if b.live != nil {
		b.live.close()
		b.live = nil
	}
}

// hasColours reports whether text is colored: on terminals, unless NO_COLOR is set
// (https://no-color.org).
func hasColours(w io.Writer) bool { return isTerminal(w) && os.Getenv("NO_COLOR") == "" && !isDumb() }

// isDumb reports whether the terminal cannot move its cursor.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }

// drawsBars reports whether progress is drawn.
func (u *ui) drawsBars() bool { return isTerminal(u.err) && !u.quiet && !isDumb() }
