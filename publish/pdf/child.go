package pdf

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"curtsy/htmlmeta"
)

// Command is the argument by which the program knows that it is such a child.
const Command = "pdf-text"

// maxTime is how long a child may live, by the clock: the bound on its processor
// time ends it earlier, unless the machine is very busy.
const maxTime = 2 * time.Minute

// errBounds says that a child was ended.
var errBounds = errors.New("it exceeds the time or memory limit for one document")

// budget is the processor time that the documents of one archive may take together:
// a minute, and for each document what an honest one takes.
type budget struct {
	mu   sync.Mutex
	left time.Duration
}

// What a document adds to the budget, by itself and for each MiB of it.
const (
	perDocument = 100 * time.Millisecond
	perMiB      = time.Second
)

// ask says whether a document of that size may be read.
func (b *budget) ask(size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += perDocument + perMiB*time.Duration(size)/(1<<20)
	return b.left > 0
}

func (b *budget) spend(took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left -= took
}

// errSpent says that a document was not tried.
var errSpent = errors.New("the documents of this archive took too much time together")

// Reader gives a function that reads the documents of an archive, each in a process
// of this program that is called with Command. It may be called from any number of
// goroutines; few children live at a time.
func Reader() func(ctx context.Context, body []byte) ([]htmlmeta.Block, error) {
	few, all := make(chan struct{}, 2), &budget{left: time.Minute}
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

// read gives the pages that a child could read, and the processor time that it took.
// An error says what it could not.
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
	c.Args[0] = os.Args[0] // by which a test binary knows what it is
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
	case c.ProcessState != nil && c.ProcessState.ExitCode() != 1: // a signal, or Go's runtime gave up
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

// bounded takes in so many octets and drops the others.
type bounded struct {
	bytes.Buffer
	most int
}

func (t *bounded) Write(p []byte) (int, error) {
	t.Buffer.Write(p[:min(len(p), max(0, t.most-t.Len()))])
	return len(p), nil
}
