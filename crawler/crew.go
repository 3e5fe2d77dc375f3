package crawler

import (
	"context"
	"runtime"
	"sync"

	"curtsy/storage"
)

// crew is the goroutines that make visits, and the channels between them, the loop and the
// committer.
type crew struct {
	jobs      chan *job      // to idle workers
	fetched   chan *download // to the loop
	outcomes  chan *outcome  // to the committer
	processor chan struct{}  // holds one token per visit that is being parsed or compressed
	workers   sync.WaitGroup // those of this run
}

func newCrew() *crew {
	return &crew{jobs: make(chan *job), fetched: make(chan *download, 1024),
		outcomes:  make(chan *outcome, storage.MaxGroup),
		processor: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// visit gives a job to an idle worker, or starts a new one.
func (w *crew) visit(ctx context.Context, j *job, work func(context.Context, *job)) {
	select {
	case w.jobs <- j:
	default: // no worker is idle
		w.workers.Go(func() { work(ctx, j) })
	}
}

// process runs CPU-bound work (parsing, compressing), at most GOMAXPROCS at a time: more would
// only hold more buffers.
func (w *crew) process(read func()) {
	w.processor <- struct{}{}
	defer func() { <-w.processor }()
	read()
}

// dismissed waits until all workers have finished and closes the channels. No job may follow.
func (w *crew) dismissed() {
	close(w.jobs)
	w.workers.Wait()
	close(w.outcomes)
}
