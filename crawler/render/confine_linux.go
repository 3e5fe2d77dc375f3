package render

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/chromedp/chromedp"
	"golang.org/x/sys/unix"
)

// confine starts the browser with a bound on the memory of each of its processes
// (RLIMIT_DATA: V8 and its like reserve more addresses than any RLIMIT_AS would
// allow, and use few), and lets no message of it through that is too long. The
// kernel ends it with this program.
func confine(memory int64) chromedp.ExecAllocatorOption {
	return chromedp.ModifyCmdFunc(func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		c.Args = append([]string{"/bin/sh", "-c", `ulimit -d "$0" && exec "$@"`, strconv.FormatInt(memory>>10, 10),
			c.Path}, c.Args[1:]...)
		c.Path = "/bin/sh"
		if err := filterFrames(c); err != nil {
			c.Err = err // Start says so
		}
	})
}

// filterFrames puts a filter between the browser and who reads its messages, which
// it writes to the second of its further files.
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
		_ = copyFrames(to, onFirst{reads, writes}, maxFrame) // the browser's end, or the reader's
	}()
	return nil
}

// onFirst closes this process's copy of the writing end once the browser has written:
// it has its own then, and the end of its last copy is the end of the messages.
type onFirst struct{ reads, writes *os.File }

func (f onFirst) Read(b []byte) (int, error) {
	n, err := f.reads.Read(b)
	f.writes.Close()
	return n, err
}
