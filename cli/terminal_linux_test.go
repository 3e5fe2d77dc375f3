package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudo-terminal of so many columns: what a process writes
// to its end is read from ours.
func openTerminal(t *testing.T, columns uint16) (ours, its *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { ours.Close() })
	control := func(f *os.File, request uintptr, arg unsafe.Pointer) {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); e != 0 {
			t.Skip(e)
		}
	}
	var unlocked, n int32
	control(ours, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	control(ours, syscall.TIOCGPTN, unsafe.Pointer(&n))
	its, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	size := [4]uint16{24, columns}
	control(its, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	return ours, its
}

var upAndErase = regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J`)

// screen returns the final lines of a terminal on which a bar was redrawn, and each line that
// was on the screen at any time.
func screen(written []byte) (at []string, ever string) {
	row, column := 0, 0
	var all []string
	at = []string{""}
	for rest := string(written); rest != ""; {
		if m := upAndErase.FindStringSubmatch(rest); m != nil {
			var n int
			fmt.Sscan(m[1], &n)
			all = append(all, at...)
			row = max(row-n, 0)
			at = append(at[:row], at[row][:min(column, len(at[row]))])
			rest = rest[len(m[0]):]
			continue
		}
		if after, ok := strings.CutPrefix(rest, "\x1b[J"); ok {
			at = append(at[:row], at[row][:min(column, len(at[row]))])
			rest = after
			continue
		}
		switch c := rest[0]; c {
		case '\n': // the column stays, as \r comes with it
			if row++; row == len(at) {
				at = append(at, "")
			}
		case '\r':
			column = 0
		default:
			line := at[row] + strings.Repeat(" ", max(column-len(at[row]), 0))
			at[row] = line[:column] + string([]byte{c}) + line[min(column+1, len(line)):]
			column++
		}
		rest = rest[1:]
	}
	return at, strings.Join(append(all, at...), "\n")
}

// person is a user at a terminal.
type person struct {
	t       *testing.T
	keys    *os.File
	written chan struct{} // signals new output
	ended   chan struct{} // closed when there is no more output

	mu  sync.Mutex
	all []byte
}

func (p *person) press(keys string) {
	if _, err := p.keys.WriteString(keys); err != nil {
		p.t.Error(err)
	}
}

func (p *person) read() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.all)
}

// sees waits until text appears in the output from offset from on, and returns the offset after
// it.
func (p *person) sees(from int, text string) int {
	p.t.Helper()
	for {
		if n := bytes.Index(p.read()[from:], []byte(text)); n >= 0 {
			return from + n + len(text)
		}
		select {
		case <-p.written:
		case <-p.ended:
			p.t.Fatalf("%q is not in %q", text, p.read()[from:])
		}
	}
}

// watch reads the output until the other end is closed, which reads as EIO.
func (p *person) watch() {
	defer close(p.ended)
	b := make([]byte, 4096)
	for {
		n, err := p.keys.Read(b)
		p.mu.Lock()
		p.all = append(p.all, b[:n]...)
		p.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case p.written <- struct{}{}:
		default:
		}
	}
}

// onTerminal runs a curtsy whose stderr is a terminal. step is called while it runs, and may
// press keys; the result is all that was written to the terminal.
func onTerminal(t *testing.T, columns uint16, c *exec.Cmd, step func(*person)) []byte {
	t.Helper()
	ours, its := openTerminal(t, columns)
	c.Stderr = its
	c.Env = append(c.Environ(), "TERM=xterm", "NO_COLOR=") // independent of the environment of the tests
	if c.SysProcAttr != nil {                              // with a controlling terminal
		c.Stdin = its
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	its.Close()
	p := &person{t: t, keys: ours, written: make(chan struct{}, 1), ended: make(chan struct{})}
	go p.watch()
	step(p)
	_ = c.Wait()
	<-p.ended
	return p.read()
}

func TestOnATerminalLinesStandAboveTheBar(t *testing.T) {
	t.Parallel()
	s := newEndless(t, 10, true)
	dir := filepath.Join(t.TempDir(), "archive")
	c := curtsy(t, "crawl", s.URL+"/", "--archive", dir, "-v")
	written := onTerminal(t, 80, c.Cmd, func(p *person) {
		wait(t, s.reached)
		drawn := p.sees(0, " errors, ")
		p.press("\x03") // the terminal echoes it as ^C
		p.sees(p.sees(drawn, "^C"), " errors, ")
		_ = c.Process.Signal(os.Interrupt)
		s.release()
	})
	at, ever := screen(written)
	final := strings.Join(at, "\n")
	contains(t, ever, " errors, ")
	contains(t, final, "finishing requests in flight; interrupt again to stop at once\n")
	contains(t, final, "try: curtsy resume "+dir)
	if strings.Contains(final, " errors, ") {
		t.Errorf("the bar stays:\n%s", final)
	}
	for _, line := range at {
		if strings.Contains(line, "finishing") &&
			line != "finishing requests in flight; interrupt again to stop at once" {
			t.Errorf("a broken line: %q", line)
		}
	}
}

func TestOnATerminalNothingIsSaidIntoABarThatIsGone(t *testing.T) {
	long(t)
	t.Parallel()
	s := newEndless(t, -1, false)
	dir := filepath.Join(t.TempDir(), "archive")
	curtsy(t, "crawl", s.URL+"/", "--archive", dir).run(t, exitDone)
	for _, args := range [][]string{{"crawl", s.URL + "/", "--archive", dir},
		{"crawl", s.URL + "/other", "--archive", dir}} {
		at, _ := screen(onTerminal(t, 80, curtsy(t, args...).Cmd, func(*person) {}))
		said := strings.Join(at, "\n")
		if !strings.Contains(said, "is finished") && !strings.Contains(said, "holds another crawl") {
			t.Errorf("%q said %q", args, said)
		}
	}
}

// readWholeLines sets a terminal to canonical mode with echo, as in a shell.
func readWholeLines(t *testing.T, f *os.File) {
	mode, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	mode.Lflag |= unix.ICANON | unix.ECHO
	if err := unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, mode); err != nil {
		t.Fatal(err)
	}
}

func TestKeysOnATerminal(t *testing.T) {
	t.Parallel()
	s := newEndless(t, 10, true)
	dir := filepath.Join(t.TempDir(), "archive")
	c := curtsy(t, "crawl", s.URL+"/", "--archive", dir)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	at, ever := screen(onTerminal(t, 40, c.Cmd, func(p *person) {
		wait(t, s.reached)
		readWholeLines(t, p.keys) // as a shell does that continues a stopped job
		p.press("pp-q")
		p.sees(0, "finishing requests in flight")
		s.release()
	}))
	final := strings.Join(at, "\n")
	for _, want := range []string{"paused; press p to continue", "the crawl continues", "the pause is now 100ms",
		"finishing requests in flight", "try: curtsy resume "} {
		contains(t, final, want)
	}
	for line := range strings.SplitSeq(ever, "\n") {
		if strings.Contains(line, "/s, ") && len(line) > 55 {
			t.Errorf("40 columns do not hold %q", line)
		}
	}
}
