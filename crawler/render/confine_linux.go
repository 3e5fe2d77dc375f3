package render

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/chromedp/chromedp"
	"golang.org/x/sys/unix"
)

// confine bounds the memory of each browser process (RLIMIT_DATA; RLIMIT_AS does not work, as V8
// reserves far more address space than it uses), drops overlong messages of the browser, and makes the
// kernel end it with this program.
func confine(memory int64) chromedp.ExecAllocatorOption {
	return chromedp.ModifyCmdFunc(func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		c.Args = append([]string{"/bin/sh", "-c", `ulimit -d "$0" && exec "$@"`, strconv.FormatInt(memory>>10, 10),
			c.Path}, c.Args[1:]...)
		c.Path = "/bin/sh"
		if err := filterFrames(c); err != nil {
			c.Err = err // returned by Start
		}
	})
}

// filterFrames puts copyFrames between the browser and the reader of its messages, which the browser
// writes to its second extra file.
func filterFrames(c *exec.Cmd) error {
	reads, writes, err := os.Pipe()
	if err != nil {
		return err
	}
	fd, err := unix.FcntlInt(c.ExtraFiles[1].Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		reads.Close()
		writes.Close()
		return err
	}
	to := os.NewFile(uintptr(fd), "browser")
	c.ExtraFiles[1] = writes
	go func() {
		defer to.Close()
		defer reads.Close()
		_ = copyFrames(to, onFirst{reads, writes}, maxFrame) // ends when either end is closed
	}()
	return nil
}

// onFirst closes this process's copy of the write end after the first read. The browser has its own
// copy by then, and the pipe ends when that is closed.
type onFirst struct{ reads, writes *os.File }

func (f onFirst) Read(b []byte) (int, error) {
	n, err := f.reads.Read(b)
	f.writes.Close()
	return n, err
}
