package pdf

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"curtsy/htmlmeta"
)

// Command is the argument that makes the program run as the child (Main).
const Command = "pdf-text"

// maxTime limits the wall-clock time of a child; normally the limit on processor time ends it
// earlier.
const maxTime = 2 * time.Minute

// errBounds means that a child was killed at a limit.
var errBounds = errors.New("it exceeds the time or memory limit for one document")

// budget is the processor time that all documents of an archive may take together: a minute,
// plus an allowance for each document.
type budget struct{ spent atomic.Int64 } // beyond the allowances

// The allowance for a document, and for each MiB of it.
const (
	perDocument = 100 * time.Millisecond
	perMiB      = time.Second
)

// ask adds the allowance of a document of size octets, and reports whether it may be read.
func (b *budget) ask(size int) bool {
	allowance := perDocument + perMiB*time.Duration(size)/(1<<20)
	return b.spent.Add(-int64(allowance)) < int64(time.Minute)
}

func (b *budget) spend(took time.Duration) { b.spent.Add(int64(took)) }

// errSpent means that a document was skipped.
var errSpent = errors.New("the documents of this archive took too much time together")

// Reader returns a function that reads the PDF documents of an archive, each in a child process
// of this program started with Command. It is safe for concurrent use; at most two children run
// at a time.
func Reader() func(ctx context.Context, body []byte) ([]htmlmeta.Block, error) {
	few, all := make(chan struct{}, 2), new(budget)
	return func(ctx context.Context, body []byte) ([]htmlmeta.Block, error) {
		select {
		case few <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() { <-few }()
		if !all.ask(len(body)) {
			return nil, errSpent
		}
		list, took, err := read(ctx, body, maxCPU)
		all.spend(took)
		return list, err
	}
}

// read returns the pages that a child could read, and the processor time it took. An error says
// what could not be read.
func read(ctx context.Context, body []byte, cpu int) (list []htmlmeta.Block, took time.Duration, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	var text, why bounded
	text.most, why.most = 2*maxText, 1<<10
	c := exec.CommandContext(limited, exe, Command, strconv.Itoa(cpu))
	c.Args[0] = os.Args[0] // so that a test binary knows that it is the child
	c.Env = []string{"GOTRACEBACK=none"}
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(body), &text, &why
	err = c.Run()
	if c.ProcessState != nil {
		took = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	if ctx.Err() != nil {
		return nil, took, ctx.Err()
	}
	switch {
	case err == nil:
	case c.ProcessState != nil && c.ProcessState.ExitCode() != 1: // killed by a signal, or by Go's runtime
		err = errBounds
	default:
		said, _, _ := strings.Cut(why.String(), "\n")
		if said != "" {
			err = errors.New(said)
		}
	}
	return blocks(text.String()), took, err
}

func blocks(text string) (list []htmlmeta.Block) {
	for page := range strings.SplitSeq(strings.ToValidUTF8(text, " "), "\f") {
		if page = strings.Join(strings.Fields(page), " "); page != "" {
			list = append(list, htmlmeta.Block{Text: page})
		}
	}
	return list
}

// bounded keeps the first most octets and drops the rest.
type bounded struct {
	bytes.Buffer
	most int
}

func (t *bounded) Write(p []byte) (int, error) {
	t.Buffer.Write(p[:min(len(p), max(0, t.most-t.Len()))])
	return len(p), nil
}
