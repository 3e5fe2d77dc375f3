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
// costs one push. It is not safe for concurrent use.
type queue struct {
	worker string
	later  entries
	due    entries
	parked map[string][]entry
	valid  func(entry) bool // false for stale entries
}

// entry is a site in a queue.
type entry struct {
	name string
	rev  uint64
	due  time.Time
	turn uint32
}

func newQueue(worker string, valid func(entry) bool) *queue {
	return &queue{worker: worker, parked: map[string][]entry{}, valid: valid}
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

// add queues a revision of a record.
func (q *queue) add(r *Record, rev uint64) {
	if r.Paused || r.Due.IsZero() {
		return
	}
	e := entry{r.Name, rev, r.Due, q.turn(r.Name)}
	if r.atOnce() {
		heap.Push(&q.due, e)
		return
	}
	heap.Push(&q.later, e)
}

func (q *queue) turn(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(q.worker + "/" + name))
	return h.Sum32()
}

// again queues an entry returned by next.
func (q *queue) again(e entry) { heap.Push(&q.due, e) }

// park keeps an entry returned by next until unpark finds that its claim is free.
func (q *queue) park(key string, e entry) { q.parked[key] = append(q.parked[key], e) }

// next takes the site that has been due longest.
func (q *queue) next(now time.Time) (e entry, ok bool) {
	for len(q.later) > 0 && !q.later[0].due.After(now) {
		heap.Push(&q.due, heap.Pop(&q.later))
	}
	for len(q.due) > 0 {
		if e = heap.Pop(&q.due).(entry); q.valid(e) {
			return e, true
		}
	}
	return e, false
}

// unpark queues the first site of each free claim, since only one can have it.
func (q *queue) unpark(blocked func(entry) bool) {
	for key, list := range q.parked {
		for len(list) > 0 && !q.valid(list[0]) {
			list = list[1:]
		}
		if len(list) > 0 && !blocked(list[0]) {
			q.again(list[0])
			list = list[1:]
		}
		if q.parked[key] = list; len(list) == 0 {
			delete(q.parked, key)
		}
	}
}
