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

// live are lines at the end of a terminal that change where they are. Lines for people
// are written above them (ui.lines).
type live struct {
	u     *ui
	lines func(width int) []string        // as they are now; each is cut to the width
	paint func(n int, text string) string // sets line n off; nil for none
	end   chan struct{}
	ended sync.WaitGroup

	drawn []int // columns that each line took
	width int   // of the terminal at that time
}

// drawEvery is how often the lines are drawn.
const drawEvery = 150 * time.Millisecond

// draws begins to draw lines, until close is called.
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
			_ = l.draw(nil)
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

// draw replaces the lines by those of now, below what is written above. The caller holds u.mu.
func (l *live) draw(above []byte) error {
	width := cmp.Or(widthOf(l.u.err), 80)
	var b bytes.Buffer
	b.WriteString(l.erasure(width))
	b.Write(above)
	l.drawn, l.width = l.drawn[:0], width
	for n, text := range l.lines(width) {
		text = runewidth.Truncate(oneLine(text), max(width-1, 10), ellipsis(os.Getenv))
		l.drawn = append(l.drawn, runewidth.StringWidth(text))
		if l.paint != nil {
			text = l.paint(n, text)
		}
		b.WriteString(text + "\n")
	}
	_, err := l.u.err.Write(b.Bytes())
	return err
}

// erasure removes the lines: those of a terminal that has become narrower since take more
// rows. A key that was pressed has moved the cursor, so the first column comes first.
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

// close removes the lines for good.
func (l *live) close() {
	close(l.end)
	l.ended.Wait()
	l.u.mu.Lock()
	defer l.u.mu.Unlock()
	l.u.live = nil
	_, _ = io.WriteString(l.u.err, l.erasure(cmp.Or(widthOf(l.u.err), 80)))
}

// reflows says whether the terminal breaks lines anew when it becomes narrower, as
// all do but xterm, the console and screen, which cut them off.
func reflows(env func(string) string) bool {
	term := env("TERM")
	return env("TMUX") != "" || env("XTERM_VERSION") == "" && term != "linux" && !strings.HasPrefix(term, "screen")
}

// ellipsis is what a line that was cut ends with: a terminal of another encoding than
// UTF-8 would show three other letters.
func ellipsis(env func(string) string) string {
	locale := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	if locale == "" || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8") {
		return "…"
	}
	return "..."
}

// stepBar shows how something goes, on a terminal: a bar and what is being done.
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

// show may be called from any goroutine.
func (b *stepBar) show(text string, done, total int64) {
	if b.u.host != nil && b.u.host.Step != nil {
		b.u.host.Step(text, done, total)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text, b.done, b.total = text, done, total
}

func (b *stepBar) lines(int) []string {
	const columns = 22
	b.mu.Lock()
	defer b.mu.Unlock()
	full := int(columns * min(max(b.done, 0), b.total) / max(b.total, 1))
	return []string{"[" + strings.Repeat("=", full) + strings.Repeat("-", columns-full) + "] " + b.text}
}

// close takes the bar away; it may be called again.
func (b *stepBar) close() {
	if b.live != nil {
		b.live.close()
		b.live = nil
	}
}

// look is how text may be set off: in colours where the terminal has them and
// nobody asks for none (https://no-color.org).
type look struct{ colours bool }

func lookOf(w io.Writer) look {
	return look{isTerminal(w) && os.Getenv("NO_COLOR") == "" && !isDumb()}
}

// isDumb says whether the terminal can move no cursor.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }

// drawsBars says whether lines that change are drawn.
func (u *ui) drawsBars() bool { return isTerminal(u.err) && !u.quiet && !isDumb() }

// paint sets a line of the progress off: the first is bold, counts with errors
// are red, what is going on is dim.
func (l look) paint(line int, text string, failed bool) string {
	if !l.colours || text == "" {
		return text
	}
	switch {
	case line == 0:
		return "\x1b[1m" + text + "\x1b[0m"
	case line == 1 && failed:
		return "\x1b[31m" + text + "\x1b[0m"
	case line == 2:
		return "\x1b[2m" + text + "\x1b[0m"
	}
	return text
}
