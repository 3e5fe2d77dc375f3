package fleet

import (
	"cmp"
	"container/heap"
	"hash/fnv"
	"time"
)

// queue determines which site is tried next, without scanning the list. Sites waiting for a
// date are in one heap, due sites in another, and sites waiting for another worker's claim are
// listed by the key of that claim. Each entry belongs to a revision of a record. If the record
// has changed or is gone, the entry is stale and is dropped when it is met, so that a change
// costs one push.
type queue struct {
	later  entries
	due    entries
	parked map[string][]entry
}

// entry is a site in a queue.
type entry struct {
	name string
	rev  uint64
	due  time.Time
	turn uint32
}

// entries is a heap, longest due first. Among those due in the same minute, each worker has its
// own order.
type entries []entry

func (h entries) Len() int      { return len(h) }
func (h entries) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h entries) Less(i, j int) bool {
	x, y := &h[i], &h[j]
	return cmp.Or(x.due.Truncate(time.Minute).Compare(y.due.Truncate(time.Minute)), cmp.Compare(x.turn, y.turn)) < 0
}
func (h *entries) Push(x any) { *h = append(*h, x.(entry)) }
func (h *entries) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// enqueue queues a revision of a record. The caller holds the lock.
func (b *book) enqueue(r *Record, rev uint64) {
	if r.Paused || r.Due.IsZero() {
		return
	}
	turn := fnv.New32a()
	turn.Write([]byte(b.worker + "/" + r.Name))
	e := entry{r.Name, rev, r.Due, turn.Sum32()}
	if r.atOnce() {
		heap.Push(&b.due, e)
		return
	}
	heap.Push(&b.later, e)
}

// valid reports whether an entry is not stale. The caller holds the lock.
func (b *book) valid(e entry) bool {
	i := b.items[e.name]
	return i != nil && !i.gone && i.rev == e.rev
}

// next takes the site that has been due longest.
func (b *book) next() (e entry, r Record, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for now := b.now(); len(b.later) > 0 && !b.later[0].due.After(now); {
		heap.Push(&b.due, heap.Pop(&b.later))
	}
	for len(b.due) > 0 {
		if e = heap.Pop(&b.due).(entry); b.valid(e) {
			return e, b.items[e.name].record, true
		}
	}
	return e, r, false
}

// again queues an entry returned by next.
func (b *book) again(e entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	heap.Push(&b.due, e)
}

// park keeps an entry returned by next until unpark finds that its claim is free.
func (b *book) park(key string, e entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parked[key] = append(b.parked[key], e)
}

// unpark queues the first site of each free claim, since only one can have it.
func (b *book) unpark(blocked func(*Record) string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, list := range b.parked {
		for len(list) > 0 && !b.valid(list[0]) {
			list = list[1:]
		}
		if len(list) > 0 && blocked(&b.items[list[0].name].record) == "" {
			heap.Push(&b.due, list[0])
			list = list[1:]
		}
		if b.parked[key] = list; len(list) == 0 {
			delete(b.parked, key)
		}
	}
}
