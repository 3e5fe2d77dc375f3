package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrConflict says that an entry was changed by another.
var ErrConflict = errors.New("changed by another")

// Entry is one of the board. An entry is changed by whoever knows its last
// revision.
type Entry struct {
	Key   string
	Value []byte
	Rev   uint64
	Seen  time.Duration // when this machine first saw this revision, by the board's clock
}

// Board is the table that all machines of a fleet see, with a copy of it in
// memory that follows. It is for any goroutine.
type Board struct {
	kv      jetstream.KeyValue
	watcher jetstream.KeyWatcher
	clock   func() time.Duration

	mu      sync.Mutex
	entries map[string]Entry
	changed chan struct{} // closed when an entry changes
	done    chan struct{} // closed when the copy follows no more
}

const bucket = "curtsy"

// OpenBoard opens the board, or makes it, and waits until the copy is whole.
func OpenBoard(ctx context.Context, c *nats.Conn, nodes int, clock func() time.Duration) (*Board, error) {
	js, err := jetstream.New(c)
	if err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	kv, err := openBucket(ctx, js, nodes)
	if err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	b := &Board{kv: kv, clock: clock, entries: map[string]Entry{}, changed: make(chan struct{}), done: make(chan struct{})}
	if b.watcher, err = kv.WatchAll(ctx); err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	whole := make(chan struct{})
	go b.follow(whole)
	select {
	case <-whole:
		return b, nil
	case <-ctx.Done():
		b.Close()
		return nil, fmt.Errorf("board: %w", ctx.Err())
	}
}

// openBucket makes the bucket where it is not there. Nobody makes it smaller:
// a worker that joins knows not how many nodes there are.
func openBucket(ctx context.Context, js jetstream.JetStream, nodes int) (kv jetstream.KeyValue, err error) {
	for {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		kv, err = js.KeyValue(try, bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) && nodes > 0 {
			kv, err = js.CreateKeyValue(try, jetstream.KeyValueConfig{Bucket: bucket, History: 1, Storage: jetstream.FileStorage, Replicas: min(nodes, 3)})
		}
		cancel()
		if err == nil {
			return kv, nil
		}
		select { // the cluster may have no leader yet
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Close ends following.
func (b *Board) Close() { _ = b.watcher.Stop() }

// Done is closed when the copy follows no more.
func (b *Board) Done() <-chan struct{} { return b.done }

func (b *Board) follow(whole chan struct{}) {
	defer close(b.done)
	for e := range b.watcher.Updates() {
		if e == nil {
			close(whole)
			continue
		}
		value := e.Value()
		if e.Operation() != jetstream.KeyValuePut {
			value = nil
		}
		b.note(e.Key(), value, e.Revision())
	}
}

// note takes a revision into the copy, unless a later one is there.
func (b *Board) note(key string, value []byte, rev uint64) Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if had, ok := b.entries[key]; ok && had.Rev >= rev {
		return had
	}
	e := Entry{key, value, rev, b.clock()}
	b.entries[key] = e
	close(b.changed)
	b.changed = make(chan struct{})
	return e
}

// Changed is closed when the next entry changes.
func (b *Board) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// Entry is the copy of an entry; !ok where there is none.
func (b *Board) Entry(key string) (e Entry, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok = b.entries[key]
	return e, ok && e.Value != nil
}

// List is the copies of the entries whose keys begin with prefix, in no order.
func (b *Board) List(prefix string) (list []Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, e := range b.entries {
		if e.Value != nil && strings.HasPrefix(key, prefix) {
			list = append(list, e)
		}
	}
	return list
}

// Fresh reads an entry from the servers.
func (b *Board) Fresh(ctx context.Context, key string) (e Entry, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	got, err := b.kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, fmt.Errorf("read %s: %w", key, err)
	}
	return b.note(key, got.Value(), got.Revision()), true, nil
}

// timeout of one request; the death of a leader stops writes for 4 to 8 s.
const timeout = 3 * time.Second

// Swap writes an entry on the condition that had is its last revision; the zero
// Entry with a Key makes a new one. A write whose answer is lost is looked for:
// a value must say who wrote it.
func (b *Board) Swap(ctx context.Context, had Entry, value []byte) (Entry, error) {
	short, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var rev uint64
	var err error
	if had.Value == nil {
		rev, err = b.kv.Create(short, had.Key, value)
	} else {
		rev, err = b.kv.Update(short, had.Key, value, had.Rev)
	}
	if err == nil {
		return b.note(had.Key, value, rev), nil
	}
	now, ok, readErr := b.Fresh(ctx, had.Key)
	switch {
	case readErr != nil:
		return had, fmt.Errorf("write %s: %w", had.Key, err)
	case ok && string(now.Value) == string(value):
		return now, nil
	case ok && now.Rev != had.Rev, !ok && had.Value != nil:
		return now, fmt.Errorf("%s: %w", had.Key, ErrConflict)
	}
	return had, fmt.Errorf("write %s: %w", had.Key, err)
}

// Remove removes an entry.
func (b *Board) Remove(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return b.kv.Delete(ctx, key)
}
