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

// ErrConflict means that an entry was changed by another writer.
var ErrConflict = errors.New("changed by another")

// Entry is an entry of the board. It can only be changed by a writer that knows its latest
// revision.
type Entry struct {
	Key   string
	Value []byte        // nil: removed
	Rev   uint64        // 0: never written
	Seen  time.Duration // when this machine first saw this revision, by the board's clock
}

// BoardOptions are the options of a board.
type BoardOptions struct {
	Nodes int // number of servers, if this process may create the bucket; 0: it may not
	Clock func() time.Duration
	// Prefix selects the entries that are passed to Follow, in the order of revisions, and not
	// kept here, since there may be a million of them. watched means that no older revision can
	// follow.
	Prefix string
	Follow func(e Entry, watched bool)
}

// Board is the table shared by all machines of a fleet, with a copy in memory that follows it.
// It is safe for concurrent use.
type Board struct {
	o    BoardOptions
	kv   jetstream.KeyValue
	stop context.CancelFunc // ends the watch

	order sync.Mutex // of revisions; held while Follow is called

	mu       sync.Mutex
	entries  map[string]Entry
	changed  chan struct{} // closed when an entry changes
	done     chan struct{} // closed when the copy no longer follows
	followed uint64        // the latest revision from the watch
	owed     uint64        // a revision written here that the watch has not delivered; 0: none
	since    time.Duration // when it was written
}

const bucket = "curtsy"

// stalled is the timeout for each step of opening the board.
const stalled = time.Minute

// OpenBoard opens or creates the board, and waits until the copy is complete. ctx applies to
// opening only: the copy follows until Close.
func OpenBoard(ctx context.Context, c *nats.Conn, o BoardOptions) (*Board, error) {
	js, err := jetstream.New(c)
	if err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	kv, err := openBucket(ctx, js, o.Nodes)
	if err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	b := &Board{o: o, kv: kv, entries: map[string]Entry{}, changed: make(chan struct{}), done: make(chan struct{})}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	watcher, err := kv.WatchAll(watching)
	if err != nil {
		stop()
		return nil, fmt.Errorf("board: %w", err)
	}
	whole := make(chan struct{})
	go b.follow(watcher, whole)
	if err := b.filled(ctx, whole); err != nil {
		b.Close()
		return nil, fmt.Errorf("board: %w", err)
	}
	return b, nil
}

// filled waits until the copy is complete, while it makes progress.
func (b *Board) filled(ctx context.Context, whole chan struct{}) error {
	var had uint64
	for {
		select {
		case <-whole:
			return nil
		case <-b.done:
			return errors.New("the watch has ended")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(stalled):
		}
		b.mu.Lock()
		now := b.followed
		b.mu.Unlock()
		if now == had {
			return fmt.Errorf("no answer for %s", stalled)
		}
		had = now
	}
}

// openBucket creates the bucket if it does not exist. Joining workers never change it, since
// they do not know the number of nodes.
func openBucket(ctx context.Context, js jetstream.JetStream, nodes int) (kv jetstream.KeyValue, err error) {
	ctx, cancel := context.WithTimeout(ctx, stalled)
	defer cancel()
	for {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		kv, err = js.KeyValue(try, bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) && nodes > 0 {
			kv, err = js.CreateKeyValue(try, jetstream.KeyValueConfig{Bucket: bucket, History: 1,
				Storage:  jetstream.FileStorage,
				Replicas: min(nodes, 3), LimitMarkerTTL: removedFor})
		}
		cancel()
		if err == nil {
			return kv, nil
		}
		select { // the cluster may not have elected a leader yet
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Close ends the watch.
func (b *Board) Close() { b.stop() }

// Done is closed when the copy no longer follows.
func (b *Board) Done() <-chan struct{} { return b.done }

// Behind returns for how long the watch has not delivered a revision written here, which is the
// age of the copy.
func (b *Board) Behind() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owed == 0 {
		return 0
	}
	return b.o.Clock() - b.since
}

func (b *Board) follow(watcher jetstream.KeyWatcher, whole chan struct{}) {
	defer close(b.done)
	for e := range watcher.Updates() {
		if e == nil {
			close(whole)
			continue
		}
		value := e.Value()
		if e.Operation() != jetstream.KeyValuePut {
			value = nil
		}
		b.note(e.Key(), value, e.Revision(), true)
	}
}

// note applies a revision to the copy, unless it has a later one.
func (b *Board) note(key string, value []byte, rev uint64, watched bool) Entry {
	e := Entry{key, value, rev, b.o.Clock()}
	b.order.Lock()
	defer b.order.Unlock()
	follows := b.o.Follow != nil && strings.HasPrefix(key, b.o.Prefix)
	if !b.counted(&e, watched) || !follows && !b.keep(&e, watched) {
		return e
	}
	if follows {
		b.o.Follow(e, watched)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
	return e
}

// counted records the progress of the watch, and reports whether a revision is new. A revision
// written here may be noted after the watch delivered it or later ones.
func (b *Board) counted(e *Entry, watched bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case watched:
		b.followed = e.Rev
		if e.Rev >= b.owed {
			b.owed = 0
		}
	case e.Rev <= b.followed:
		if had, ok := b.entries[e.Key]; ok && had.Rev > e.Rev {
			*e = had
		}
		return false
	case b.owed == 0:
		b.owed, b.since = e.Rev, e.Seen
	}
	return true
}

// keep stores an entry, unless a newer one is stored; then e becomes that. Removed entries are
// deleted once the watch has delivered the removal.
func (b *Board) keep(e *Entry, watched bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	had, ok := b.entries[e.Key]
	gone := watched && e.Value == nil
	if ok && (had.Rev > e.Rev || had.Rev == e.Rev && !gone) {
		*e = had
		return false
	}
	if b.entries[e.Key] = *e; gone {
		delete(b.entries, e.Key)
	}
	return true
}

// Changed returns a channel that is closed when the next entry changes.
func (b *Board) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// Entry returns the copy of an entry; ok is false if there is none.
func (b *Board) Entry(key string) (e Entry, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok = b.entries[key]
	return e, ok && e.Value != nil
}

// List returns the copies of the entries whose keys begin with prefix, unordered.
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
	e = b.note(key, got.Value(), got.Revision(), false)
	return e, e.Value != nil, nil
}

// timeout is the timeout of a request. Writes fail for 4 to 8 s after the death of a leader.
const timeout = 3 * time.Second

// Swap writes an entry if had is its latest revision; a zero revision creates it. If the
// response to a write is lost, it reads the entry back; so values must identify their writer.
func (b *Board) Swap(ctx context.Context, had Entry, value []byte) (Entry, error) {
	short, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var rev uint64
	var err error
	if had.Rev == 0 {
		rev, err = b.kv.Create(short, had.Key, value)
	} else {
		rev, err = b.kv.Update(short, had.Key, value, had.Rev)
	}
	if err == nil {
		return b.note(had.Key, value, rev, false), nil
	}
	now, ok, readErr := b.Fresh(ctx, had.Key)
	switch {
	case readErr != nil:
		return had, fmt.Errorf("write %s: %w", had.Key, err)
	case ok && string(now.Value) == string(value):
		return now, nil
	case ok && now.Rev != had.Rev, !ok && had.Rev != 0,
		!ok && refused(err): // another writer created it; the server that was read from lags behind
		return now, fmt.Errorf("%s: %w", had.Key, ErrConflict)
	}
	return had, fmt.Errorf("write %s: %w", had.Key, err)
}

// removedFor is how long the servers keep the marker of a removed entry.
const removedFor = time.Hour

// Remove removes an entry if had is its latest revision.
func (b *Board) Remove(ctx context.Context, had Entry) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := b.kv.Purge(ctx, had.Key, jetstream.LastRevision(had.Rev), jetstream.PurgeTTL(removedFor))
	if refused(err) {
		return fmt.Errorf("%s: %w", had.Key, ErrConflict)
	}
	return err
}

// refused reports whether the servers rejected a write because of its condition.
func refused(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == wrongSequenceOfReplicas)
}

// wrongSequenceOfReplicas is the error code of replicated streams for a failed condition.
const wrongSequenceOfReplicas jetstream.ErrorCode = 10164
