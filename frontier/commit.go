package frontier

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
	"curtsy/internal/sum"
)

// Counts are the totals of a frontier. Discovered includes the queued URLs.
type Counts struct {
	Discovered  int `json:"discovered"`
	Fetched     int `json:"fetched"`
	Failed      int `json:"failed"`
	Disregarded int `json:"disregarded"`
	Orphans     int `json:"orphans"` // pages known from sitemaps only
	// Reasons counts failed and disregarded URLs by reason. A URL that was excluded softly (by
	// nofollow, for example) and later admitted through another link counts as judge.Overruled
	// until DropOverruled, and no longer as disregarded.
	Reasons judge.Tally `json:"reasons,omitempty"`
	NextID  uint64      `json:"next_id"`
}

// Queued returns how many URLs are queued or being visited.
func (c Counts) Queued() int { return c.Discovered - c.Fetched - c.Failed - c.Disregarded }

// OfSite returns the totals without URLs that are not part of the crawl (judge.Belongs). Reasons still
// includes them.
func (c Counts) OfSite() Counts {
	n := 0
	for reason, count := range c.Reasons {
		if !judge.Belongs(reason.Rule) {
			n += count
		}
	}
	n = min(n, c.Disregarded)
	c.Discovered -= n
	c.Disregarded -= n
	return c
}

// OtherSites returns how many URLs of other sites links lead to.
func (c Counts) OtherSites() int { return c.Reasons.Rules()[judge.Host] }

// add adds n URLs to the totals of a state.
func (c *Counts) add(s State, reason judge.Reason, n int) {
	switch s {
	case StateFetched:
		c.Fetched += n
		return
	case StateFailed:
		c.Failed += n
	case StateDisregarded:
		c.Disregarded += n
	}
	c.because(reason, n)
}

// because adds n URLs to the totals of a reason only.
func (c *Counts) because(reason judge.Reason, n int) {
	if c.Reasons == nil {
		c.Reasons = judge.Tally{}
	}
	if c.Reasons[reason] += n; c.Reasons[reason] <= 0 {
		delete(c.Reasons, reason)
	}
}

// Counts returns the totals as of the last Flush.
func (f *Frontier) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.counts
	c.Reasons = maps.Clone(f.counts.Reasons)
	return c
}

// Flush writes everything that was added, finished or postponed since the last Flush in the caller's
// transaction. Next hands out the added links after Publish.
func (f *Frontier) Flush(tx *bbolt.Tx) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	top, err := whole(tx)
	if err != nil {
		return err
	}
	for _, step := range []func(*bbolt.Bucket) error{f.putAgain, f.putBlocks, f.putLinked, f.putFinished,
		f.putOverruled, f.putRetries, f.putQueues, f.putCounts, f.putTally, f.saveNames} {
		if err := step(top); err != nil {
			return err
		}
	}
	return nil
}

func (f *Frontier) putTally(top *bbolt.Bucket) error {
	b := top.Bucket(bucketTally)
	for h, n := range f.tallied {
		if err := b.Put(idKey(h), binary.AppendUvarint(nil, uint64(n))); err != nil {
			return err
		}
	}
	clear(f.tallied)
	return nil
}

// putBlocks assigns ids to the staged links and writes them.
func (f *Frontier) putBlocks(top *bbolt.Bucket) error {
	blocks, seen := top.Bucket(bucketBlocks), top.Bucket(bucketSeen)
	blocks.FillPercent, seen.FillPercent = 0.95, 0.95
	for _, key := range f.order {
		for links := range slices.Chunk(f.staged[key], blockSize) {
			k := blockKey(key, f.nextID)
			if err := blocks.Put(k, sum.Seal(k, f.encodeBlock(nil, links))); err != nil {
				return err
			}
			if err := seen.Put(k, sum.Seal(k, f.fingerprints(links))); err != nil {
				return err
			}
			f.counts.Discovered += len(links)
			for i := range links {
				if f.onPlaced != nil {
					f.onPlaced(f.nextID+uint64(i), links[i].URL)
				}
				if links[i].Listed() {
					f.counts.Orphans++
				}
				if key.class == Disregarded {
					f.counts.add(StateDisregarded, links[i].Reason, 1)
				}
			}
			f.nextID += uint64(len(links))
		}
	}
	return nil
}

// putLinked records the URLs that are no longer orphans.
func (f *Frontier) putLinked(top *bbolt.Bucket) error {
	if len(f.linked) == 0 {
		return nil
	}
	b := top.Bucket(bucketLinked)
	n, err := b.NextSequence()
	if err != nil {
		return err
	}
	var v []byte
	for _, fp := range f.linked {
		v = binary.LittleEndian.AppendUint64(v, fp)
	}
	f.counts.Orphans -= len(f.linked)
	f.linked = f.linked[:0]
	k := idKey(n)
	return b.Put(k, sum.Seal(k, v))
}

// fingerprints returns the fingerprints of the links, followed by those of twins first found since the
// last Flush.
func (f *Frontier) fingerprints(links []Link) []byte {
	b := make([]byte, 0, 8*len(links))
	for i := range links {
		fp := f.fingerprint(links[i].URL.String())
		if links[i].Soft && links[i].Class == Disregarded {
			fp |= softBit
		}
		if links[i].Listed() {
			fp |= listedBit
		}
		if links[i].Class == Speculative {
			fp |= guessBit
		}
		b = binary.LittleEndian.AppendUint64(b, fp)
	}
	for _, fp := range f.twins {
		b = binary.LittleEndian.AppendUint64(b, fp)
	}
	f.twins = f.twins[:0]
	return b
}

// finishedValue encodes a state. StateQueued means that another entry has replaced this one; reason is
// then why this one was excluded.
func finishedValue(s State, reason uint32) []byte {
	return binary.AppendUvarint([]byte{byte(s)}, uint64(reason))
}

func (f *Frontier) putFinished(top *bbolt.Bucket) error {
	b := top.Bucket(bucketFinished)
	b.FillPercent = 0.9
	for _, d := range f.done {
		if err := b.Put(idKey(d.e.ID), finishedValue(d.state, d.reason)); err != nil {
			return err
		}
		if err := f.settleRetry(top, d.e); err != nil {
			return err
		}
		f.settled = append(f.settled, d.e.ID)
		f.counts.add(d.state, f.reasons.text(d.reason), 1)
		if d.was.State != StateQueued {
			f.counts.add(d.was.State, d.was.Reason, -1)
		}
	}
	f.done = f.done[:0]
	for _, s := range f.superseded {
		if err := f.putPast(top, s); err != nil {
			return err
		}
		f.counts.add(StateDisregarded, s.Reason, -1)
		f.counts.Discovered--
	}
	f.superseded = f.superseded[:0]
	for reason, n := range f.left {
		f.counts.because(reason, n)
	}
	clear(f.left)
	if f.overruled > 0 {
		f.counts.Discovered -= f.overruled
		f.counts.Disregarded -= f.overruled
		f.counts.because(overruled, f.overruled) // possibly before putBlocks counts the reason
		f.overruled = 0
	}
	return nil
}

func (f *Frontier) putRetries(top *bbolt.Bucket) error {
	b := top.Bucket(bucketRetries)
	for _, l := range f.later {
		if err := f.settleRetry(top, l.e); err != nil {
			return err
		}
		f.settled = append(f.settled, l.e.ID)
		k := retryKey(l.e.at.host, l.due, l.e.ID)
		if err := b.Put(k, sum.Seal(k, retryValue(l.e))); err != nil {
			return err
		}
		f.retries[l.e.at.host]++
	}
	f.later = f.later[:0]
	return nil
}

// settleRetry deletes the retry from which e was handed out, if any.
func (f *Frontier) settleRetry(top *bbolt.Bucket, e *Entry) error {
	if e.retry == nil {
		return nil
	}
	f.retries[e.at.host]--
	return top.Bucket(bucketRetries).Delete(e.retry)
}

func (f *Frontier) putQueues(top *bbolt.Bucket) error {
	b := top.Bucket(bucketQueues)
	for _, key := range f.order {
		if key.class == Disregarded {
			continue
		}
		q := f.queues[key]
		if q == nil {
			q = &queue{next: position{queueKey: key}, mark: position{queueKey: key}}
			f.queues[key] = q
		}
		q.dirty = true
	}
	for key, q := range f.queues {
		if !q.dirty {
			continue
		}
		k := queueName(key)
		if err := b.Put(k, sum.Seal(k, queueValue(q, len(f.staged[key])))); err != nil {
			return err
		}
		q.dirty = false
	}
	return nil
}

func queueName(k queueKey) []byte { return blockKey(k, 0)[:5] }

func queueValue(q *queue, staged int) []byte {
	b := binary.BigEndian.AppendUint64(nil, q.mark.first)
	b = binary.AppendUvarint(b, uint64(q.mark.index))
	return binary.AppendUvarint(b, uint64(q.remaining()+staged))
}

// Requeue queues a finished URL again, to be visited at once with the given number of attempts. A
// robots.txt is not requeued, as it is fetched anyway. It takes effect with the next commit.
func (f *Frontier) Requeue(id uint64, attempts int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = append(f.again, again{id, attempts})
}

func (f *Frontier) putAgain(top *bbolt.Bucket) error {
	for _, a := range f.again {
		if err := f.requeue(top, a.id, a.attempts); err != nil {
			return err
		}
	}
	f.again = f.again[:0]
	return nil
}

func (f *Frontier) requeue(top *bbolt.Bucket, id uint64, attempts int) error {
	found, ok := f.get(top, id)
	if !ok || found.State == StateQueued || found.Class == Disregarded || found.Class == Prerequisite ||
		found.Reason.Rule == judge.Probe {
		return nil
	}
	if err := top.Bucket(bucketFinished).Delete(idKey(id)); err != nil {
		return err
	}
	f.counts.add(found.State, found.Reason, -1)
	f.putOff[id] = true
	found.Attempts = attempts
	f.retries[found.at.host]++
	k := retryKey(found.at.host, time.Unix(0, int64(found.Class)), id) // sitemaps before pages
	return top.Bucket(bucketRetries).Put(k, sum.Seal(k, retryValue(&found.Entry)))
}

func (f *Frontier) putCounts(top *bbolt.Bucket) error {
	f.counts.NextID = f.nextID
	counts, err := json.Marshal(f.counts)
	if err != nil {
		return err
	}
	return top.Put(keyCounts, sum.Seal(keyCounts, counts))
}

// Publish lets Next hand out what the last Flush wrote. It must be called after the transaction has
// been committed.
func (f *Frontier) Publish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range f.order {
		if q := f.queues[key]; q != nil {
			q.waiting += len(f.staged[key])
		}
		if cap(f.staged[key]) > blockSize { // after a page with very many links
			delete(f.staged, key)
			continue
		}
		clear(f.staged[key])
		f.staged[key] = f.staged[key][:0]
	}
	f.order = f.order[:0]
	for _, id := range f.settled {
		delete(f.inFlight, id)
	}
	f.settled = f.settled[:0]
}
