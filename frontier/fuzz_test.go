package frontier

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"curtsy/frontier/judge"
	"curtsy/internal/sum"
	"curtsy/internal/weburl"
)

// FuzzDecodeBlock: any octets in place of a block decode to entries or give an error.
func FuzzDecodeBlock(f *testing.F) {
	fr := &Frontier{}
	good := fr.encodeBlock(nil, []Link{
		{URL: weburl.MustParse("http://h/"), Class: Page, How: "seed"},
		{URL: weburl.MustParse("http://h/a/b?c=d"), Class: Page, Via: 1, Depth: 2, Redirects: 3, How: "a href"},
		{URL: weburl.MustParse("http://h/a/c"), Class: Disregarded, Via: 2, Soft: true,
			Reason: judge.Reason{Rule: judge.Length}},
	})
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		links, err := fr.decodeBlock(nil, sum.Seal(nil, bytes.Clone(b)))
		if err == nil && len(links) > blockSize {
			t.Errorf("%d entries", len(links))
		}
	})
}

// FuzzEntries: any octets with a correct checksum in place of the frontier's other values are read or
// give an error.
func FuzzEntries(f *testing.F) {
	q := queueKey{0, Page}
	f.Add(queueName(q), queueValue(&queue{}, 3))
	e := &Entry{ID: 7, Attempts: 2, at: position{queueKey: queueKey{class: Page}, first: 5}}
	f.Add(retryKey(0, time.Unix(9, 0), 7), retryValue(e))
	f.Add(blockKey(q, 1), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		fr := &Frontier{seen: &seenSet{}, waiting: waiting{queues: map[queueKey]*queue{}, retries: map[uint32]int{},
			putOff: map[uint64]bool{}}}
		sealed := sum.Seal(key, bytes.Clone(value))
		for name, load := range map[string]func(k, v []byte) error{
			"seen": fr.loadSeen, "linked": fr.loadLinked, "queue": fr.loadQueue, "retry": fr.loadRetry,
		} {
			load = opened(load)
			if err := load(key, sealed); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", name, err)
			}
			if err := load(key, value); err == nil {
				if _, ok := sum.Open(key, value); !ok {
					t.Errorf("%s: read with a wrong sum", name)
				}
			}
		}
		_ = fr.loadTally(key, value)
		_, _ = fr.decodeOne(key, sealed, 0)
	})
}
