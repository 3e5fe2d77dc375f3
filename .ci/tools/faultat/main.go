//go:build linux && amd64

// Faultat runs a program and makes one system call on a directory fail: the
// so-manieth of the whole process. strace's when= counts each thread for
// itself, and a Go program's writes wander between threads; here every call is
// counted once, so that a sweep from 1 on leaves none out.
//
//	faultat -dir DIR -how HOW -at N [-stays] [-log FILE] PROGRAM ARGS...
//
// HOW is what happens to the call, and which calls count:
//
//	EIO      any: not made, the error returned
//	ENOSPC   those that need room: not made, the error returned; EDQUOT too
//	EMFILE   openat: not made, the error returned
//	kill     any: not made, the process gets SIGKILL
//	killed   any: made, then SIGKILL
//	short    write, pwrite64: half is written; the rest finds no room
//	torn     write, pwrite64: half is written, then SIGKILL
//	lie      write, pwrite64: not made, and success returned
//
// With -stays, all later calls that count fail too. The log has a line for the
// call: its number, name, path, offset or size; it is empty when the program
// made fewer calls. With -at 0 nothing fails, and every call is logged. It
// ends as the program did, with 137 for SIGKILL.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// call is a system call that changes files, or opens them.
type call struct {
	name  string
	path  int  // which argument is the path's address; -1: the first is a descriptor
	data  bool // it writes its third argument's number of octets
	grows bool // it needs room
}

var calls = map[uint64]call{
	syscall.SYS_WRITE:     {"write", -1, true, true},
	syscall.SYS_PWRITE64:  {"pwrite64", -1, true, true},
	syscall.SYS_FSYNC:     {"fsync", -1, false, true},
	syscall.SYS_FDATASYNC: {"fdatasync", -1, false, true},
	syscall.SYS_FTRUNCATE: {"ftruncate", -1, false, true},
	syscall.SYS_TRUNCATE:  {"truncate", 0, false, true},
	syscall.SYS_OPENAT:    {"openat", 1, false, false},
	syscall.SYS_RENAMEAT:  {"renameat", 1, false, true},
	syscall.SYS_MKDIRAT:   {"mkdirat", 1, false, true},
	syscall.SYS_UNLINKAT:  {"unlinkat", 1, false, false},
	syscall.SYS_LINKAT:    {"linkat", 1, false, true},
	306:                   {"syncfs", -1, false, true},
	316:                   {"renameat2", 1, false, true},
}

var errnos = map[string]syscall.Errno{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EDQUOT": syscall.EDQUOT, "EMFILE": syscall.EMFILE, "short": syscall.ENOSPC}

type tracer struct {
	dir, how string
	at, n    int
	stays    bool
	log      *os.File
	root     int
	after    map[int]func(*syscall.PtraceRegs) // what is done when a thread's call returns
	short    string                            // the file that has no room any more
}

func main() {
	t := &tracer{after: map[int]func(*syscall.PtraceRegs){}}
	flag.StringVar(&t.dir, "dir", "", "the directory whose calls count")
	flag.StringVar(&t.how, "how", "EIO", "what happens")
	flag.IntVar(&t.at, "at", 0, "which call; 0: none")
	flag.BoolVar(&t.stays, "stays", false, "and all after it")
	logName := flag.String("log", os.DevNull, "where the call is named")
	flag.Parse()
	var err error
	if t.log, err = os.Create(*logName); err != nil {
		fatal(err)
	}
	os.Exit(t.run(flag.Args()))
}

func fatal(v ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"faultat:"}, v...)...)
	os.Exit(125)
}

const (
	optSysgood  = 0x1
	optClone    = 0x8
	optExitKill = 0x100000
	waitAll     = 0x40000000
	getInfo     = 0x420e
	entry       = 1
	leave       = 2
)

func (t *tracer) run(args []string) int {
	runtime.LockOSThread() // only the thread that began it may trace
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		fatal(err)
	}
	t.root = p.Pid
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(t.root, &ws, 0, nil); err != nil {
		fatal(err)
	}
	if err := syscall.PtraceSetOptions(t.root, optSysgood|optClone|optExitKill); err != nil {
		fatal(err)
	}
	_ = syscall.PtraceSyscall(t.root, 0)
	for {
		tid, err := syscall.Wait4(-1, &ws, waitAll, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			fatal(err)
		}
		switch {
		case ws.Exited() && tid == t.root:
			return ws.ExitStatus()
		case ws.Signaled() && tid == t.root:
			return 128 + int(ws.Signal())
		case ws.Stopped():
			t.stopped(tid, ws)
		}
	}
}

func (t *tracer) stopped(tid int, ws syscall.WaitStatus) {
	pass := 0
	switch sig := ws.StopSignal(); {
	case sig == syscall.SIGTRAP|0x80:
		t.syscall(tid)
	case sig == syscall.SIGTRAP, sig == syscall.SIGSTOP: // a thread begins
	default:
		pass = int(sig)
	}
	_ = syscall.PtraceSyscall(tid, pass)
}

func (t *tracer) syscall(tid int) {
	var info [88]byte
	if _, _, e := syscall.Syscall6(syscall.SYS_PTRACE, getInfo, uintptr(tid), uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0); e != 0 {
		return // killed meanwhile
	}
	var r syscall.PtraceRegs
	switch info[0] {
	case entry:
		if syscall.PtraceGetRegs(tid, &r) == nil {
			t.enter(tid, &r)
		}
	case leave:
		if do := t.after[tid]; do != nil && syscall.PtraceGetRegs(tid, &r) == nil {
			delete(t.after, tid)
			do(&r)
			_ = syscall.PtraceSetRegs(tid, &r)
		}
	}
}

func (t *tracer) enter(tid int, r *syscall.PtraceRegs) {
	c, ok := calls[r.Orig_rax]
	if !ok || !t.counts(c) {
		return
	}
	path := t.path(c, r)
	if path != t.dir && !strings.HasPrefix(path, t.dir+"/") {
		return
	}
	t.n++
	switch {
	case t.at == 0:
		t.note(c, path, r)
	case t.n == t.at:
		t.note(c, path, r)
		t.fault(tid, c, path, r)
	case t.n > t.at && t.stays, t.short == path:
		t.refuse(tid, r, -int64(errnos[t.how]))
	}
}

// counts says whether a call is one that can fail so.
func (t *tracer) counts(c call) bool {
	switch t.how {
	case "short", "torn", "lie":
		return c.data
	case "EMFILE":
		return c.name == "openat"
	case "ENOSPC", "EDQUOT":
		return c.grows
	}
	return true
}

func (t *tracer) note(c call, path string, r *syscall.PtraceRegs) {
	fmt.Fprintf(t.log, "%d\t%s\t%s\t%d\t%d\t%s\n", t.n, c.name, path, r.Rdx, r.R10, t.how)
}

func (t *tracer) fault(tid int, c call, path string, r *syscall.PtraceRegs) {
	killAfter := func(*syscall.PtraceRegs) { _ = syscall.Kill(t.root, syscall.SIGKILL) }
	switch t.how {
	case "kill":
		t.refuse(tid, r, -int64(syscall.EINTR))
		_ = syscall.Kill(t.root, syscall.SIGKILL)
	case "killed":
		t.after[tid] = killAfter
	case "short", "torn":
		r.Rdx /= 2
		_ = syscall.PtraceSetRegs(tid, r)
		if t.how == "torn" {
			t.after[tid] = killAfter
		} else {
			t.short = path
		}
	case "lie":
		t.refuse(tid, r, int64(r.Rdx))
	default:
		t.refuse(tid, r, -int64(errnos[t.how]))
	}
}

// refuse makes no call of it and has it return a value.
func (t *tracer) refuse(tid int, r *syscall.PtraceRegs, value int64) {
	r.Orig_rax = ^uint64(0)
	_ = syscall.PtraceSetRegs(tid, r)
	t.after[tid] = func(r *syscall.PtraceRegs) { r.Rax = uint64(value) }
}

// atCwd is the descriptor of the working directory (AT_FDCWD).
const atCwd = -100

// path is what a call is about: that of its descriptor, or the one it names,
// which may begin at a directory's descriptor.
func (t *tracer) path(c call, r *syscall.PtraceRegs) string {
	of := func(fd uint64) string {
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.root, fd))
		return path
	}
	switch c.path {
	case -1:
		return of(r.Rdi)
	case 0:
		return t.text(r.Rdi)
	}
	name := t.text(r.Rsi)
	if filepath.IsAbs(name) || int32(r.Rdi) == atCwd {
		return name
	}
	return filepath.Join(of(r.Rdi), name)
}

// text reads a string of the process.
func (t *tracer) text(address uint64) string {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", t.root))
	if err != nil {
		return ""
	}
	defer mem.Close()
	b := make([]byte, 4096)
	n, _ := mem.ReadAt(b[:4096-address%4096], int64(address)) // a page has its end; a path may cross it
	if !bytes.ContainsRune(b[:n], 0) {
		more, _ := mem.ReadAt(b[n:], int64(address)+int64(n))
		n += more
	}
	text, _, _ := bytes.Cut(b[:n], []byte{0})
	return string(text)
}
