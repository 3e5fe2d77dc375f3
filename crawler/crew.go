package crawler

import (
	"context"
	"runtime"
	"sync"

	"curtsy/storage"
)

// crew is the goroutines that make visits, and what they share: a place each
// to be idle, to say that a download has ended, and to hand an outcome over.
type crew struct {
	jobs      chan *job      // to workers that are idle
	fetched   chan *download // to the loop
	outcomes  chan *outcome  // to the committer
	processor chan struct{}  // holds a token for each visit being read or compressed
	workers   sync.WaitGroup // those of this run
}

func newCrew() *crew {
	return &crew{jobs: make(chan *job), fetched: make(chan *download, 1024),
		outcomes:  make(chan *outcome, storage.MaxGroup),
		processor: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// visit gives a job to a worker that is idle, or to a new one.
func (w *crew) visit(ctx context.Context, j *job, work func(context.Context, *job)) {
	select {
	case w.jobs <- j:
	default: // nobody is idle
		w.workers.Go(func() { work(ctx, j) })
	}
}

// process does what is all processor, as reading and compressing are: more at once
// than there are processors would only hold more buffers.
func (w *crew) process(read func()) {
	w.processor <- struct{}{}
	defer func() { <-w.processor }()
	read()
}

// dismissed waits until all workers have ended what they do. No job may follow.
func (w *crew) dismissed() {
	close(w.jobs)
	w.workers.Wait()
	close(w.outcomes)
}
