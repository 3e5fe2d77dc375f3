package storage

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"curtsy/storage/crawllog"
)

// factsDir is the directory of the sidecars, one per segment, with the facts of its pages (package facts), so
// that outlets need not read the bodies. They are derived data: if they are deleted, truncated or of another
// version, they are made again from the segments. So they are not synced, and their errors do not end a
// crawl.
//
// A sidecar is a sequence of frames, each with the captures of some commits:
//
//	4   "cf", 0, version
//	4   CRC-32C of what follows
//	16  number of captures; octets of the places, of the compressed facts, of the facts: 32 bits each
//	…   places: the offset of each capture in the segment, less the one before, as zigzag varints
//	…   the facts, compressed with zstd: for each capture its name, length and octets
const factsDir = "facts"

const (
	// frameVersion is raised when the format of the facts (facts.Of) changes: sidecars of other
	// versions are ignored and overwritten.
	frameVersion = 5
	frameHead    = 24
	// maxFrame bounds the octets of facts in a frame. A frame is written when it has fullFrame
	// octets or fullCount captures.
	maxFrame  = 8 << 20
	fullFrame = 128 << 10
	fullCount = 64
	maxFact   = maxFrame - fullFrame - 64
	// maxPlaces bounds the captures of a segment: a sidecar may come from an untrusted source.
	maxPlaces = 4 << 20
)

var frameMark = [4]byte{'c', 'f', 0, frameVersion}

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// sidecars are the open sidecars of an archive. They are safe for concurrent use.
type sidecars struct {
	mu  sync.Mutex
	all map[string]*sidecar // by segment
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// sidecar is the facts of one segment.
type sidecar struct {
	file    *os.File // nil if there is no file
	appends bool
	closed  bool  // nothing is added any more: it cannot be written
	end     int64 // end of the last valid frame
	frames  []frame
	places  []factPlace // by offset; for equal offsets the last one counts
	fresh   []fact      // not written yet
	size    int         // octets of fresh
	cache   [8]struct { // decoded frames
		n     int // number of the frame, from 1
		facts []byte
	}
	next int // index in cache that is replaced next
}

type frame struct {
	at, packed  int64 // offset where its places end and its facts begin, and octets of the facts
	raw, places int
	sum         uint32
}

// factPlace is the location of the facts of a capture: the n-th in a frame.
type factPlace struct {
	offset   int64
	frame, n int32
}

// fact has the facts of a capture.
type fact struct {
	factKey
	text []byte
}

// factKey identifies the facts of a capture.
type factKey struct {
	segment string
	offset  int64
	// name distinguishes captures that were at the same offset: a segment may have been truncated
	// and written again.
	name uint64
}

// factKeyOf returns the key of a visit; ok is false if no facts are kept for it.
func factKeyOf(v *crawllog.Visit) (k factKey, ok bool) {
	if v.Record == nil || !v.HasBody() {
		return k, false
	}
	h := fnv.New64a()
	for _, s := range []string{v.Record.ID, v.URL, v.Digest} {
		io.WriteString(h, s)
		h.Write([]byte{0})
	}
	return factKey{v.Record.Segment, v.Record.Offset, h.Sum64()}, true
}

// factsFile returns the name of a segment's sidecar within the archive's directory.
func factsFile(segment string) string {
	return factsDir + "/" + strings.TrimSuffix(segment, ".warc.gz") + ".facts"
}

// KeepFacts stores the facts of a visit's page: with the group when the archive is open for writing, else at
// once. It does nothing if the archive cannot be written, or while a crawl writes it.
func (a *Archive) KeepFacts(v *crawllog.Visit, text []byte) {
	k, ok := factKeyOf(v)
	switch {
	case !ok || len(text) > maxFact || a.live != nil:
	case a.db.IsReadOnly():
		a.keepFacts(fact{k, text})
	default:
		a.pend.facts = append(a.pend.facts, fact{k, text})
	}
}

func (a *Archive) keepFacts(list ...fact) {
	a.facts.mu.Lock()
	defer a.facts.mu.Unlock()
	for _, f := range list {
		s := a.sidecar(f.segment)
		if s.closed || !s.appends && !a.appendTo(s, f.segment) {
			continue
		}
		s.fresh = append(s.fresh, f)
		if s.size += len(f.text); s.size >= fullFrame || len(s.fresh) >= fullCount {
			a.flushFacts(s)
		}
	}
}

// Facts returns the stored facts of a visit's page; nil if there are none. The caller must have checked that
// the capture may be shown, and must not modify the result.
func (a *Archive) Facts(v *crawllog.Visit) []byte {
	k, ok := factKeyOf(v)
	if !ok {
		return nil
	}
	return a.factsAt(k)
}

func (a *Archive) factsAt(k factKey) []byte {
	a.facts.mu.Lock()
	defer a.facts.mu.Unlock()
	s := a.sidecar(k.segment)
	for i := range s.fresh {
		if s.fresh[i].factKey == k {
			return s.fresh[i].text
		}
	}
	i := sort.Search(len(s.places), func(i int) bool { return s.places[i].offset > k.offset })
	for i--; i >= 0 && s.places[i].offset == k.offset; i-- {
		if name, text := a.factIn(s, s.places[i]); name == k.name {
			return text
		}
	}
	return nil
}

// sidecar returns the sidecar of a segment, read up to its last valid frame.
func (a *Archive) sidecar(segment string) *sidecar {
	if s := a.facts.all[segment]; s != nil {
		return s
	}
	s := &sidecar{}
	a.facts.all[segment] = s
	if f, err := a.dir.open(factsFile(segment)); err == nil {
		s.file = f
		s.readPlaces()
	}
	return s
}

// appendTo opens a sidecar for adding to it. Of several processes with the archive open for reading, only
// one may.
func (a *Archive) appendTo(s *sidecar, segment string) bool {
	f, err := a.dir.openSidecar(factsFile(segment))
	if err == nil && a.db.IsReadOnly() && !lockFile(f) {
		f.Close()
		err = ErrInUse
	}
	if err != nil {
		a.opts.Logger.Debug("what pages say is not kept", "segment", segment, "err", err)
		s.closed = true
		return false
	}
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.appends = f, true
	s.readPlaces() // another process may have added to it
	if s.file.Truncate(s.end) != nil {
		s.closed = true
	}
	return !s.closed
}

// openSidecar opens or creates a sidecar for writing.
func (d *directory) openSidecar(name string) (*os.File, error) {
	if d.facts == nil {
		if err := d.makeSub(factsDir, &d.facts); err != nil {
			return nil, err
		}
	}
	return d.openFile(name, os.O_RDWR|os.O_CREATE, 0o644)
}

// readPlaces reads the places of the frames after the last known one.
func (s *sidecar) readPlaces() {
	st, err := s.file.Stat()
	if err != nil {
		return
	}
	known := len(s.places)
	for s.readFrame(st.Size()) {
	}
	s.sortPlaces(known)
}

// sortPlaces sorts the places from the n-th on into those before. Most are already in order, so that little
// is moved.
func (s *sidecar) sortPlaces(n int) {
	if n == len(s.places) {
		return
	}
	byOffset := func(x, y factPlace) int { return cmp.Compare(x.offset, y.offset) }
	least := slices.MinFunc(s.places[n:], byOffset).offset
	from := sort.Search(n, func(i int) bool { return s.places[i].offset > least })
	slices.SortStableFunc(s.places[from:], byOffset)
}

// readFrame reads head and places of the next frame, and reports whether it is valid.
func (s *sidecar) readFrame(size int64) bool {
	var head [frameHead]byte
	if _, err := s.file.ReadAt(head[:], s.end); err != nil || [4]byte(head[:4]) != frameMark {
		return false
	}
	u := func(at int) int64 { return int64(binary.LittleEndian.Uint32(head[at:])) }
	count, places, packed, raw := u(8), u(12), u(16), u(20)
	at := s.end + frameHead
	if count == 0 || count > places || raw > maxFrame || places > size-at || packed > size-at-places ||
		count > fullCount || len(s.places) > maxPlaces {
		return false
	}
	b := make([]byte, places)
	if _, err := s.file.ReadAt(b, at); err != nil {
		return false
	}
	offset, list := int64(0), s.places
	for n := range int32(count) {
		step, used := binary.Varint(b)
		if offset += step; used <= 0 || offset < 0 {
			return false
		}
		b = b[used:]
		list = append(list, factPlace{offset, int32(len(s.frames)), n})
	}
	s.places = list
	s.frames = append(s.frames, frame{at: at + places, packed: packed, raw: int(raw), places: int(places),
		sum: binary.LittleEndian.Uint32(head[4:])})
	s.end = at + places + packed
	return true
}

// factIn returns the fact at a place with the name of its capture; none if the frame is damaged.
func (a *Archive) factIn(s *sidecar, p factPlace) (name uint64, text []byte) {
	b := a.unpackFrame(s, int(p.frame))
	for range p.n + 1 {
		if len(b) < 8 {
			return 0, nil
		}
		name = binary.LittleEndian.Uint64(b)
		n, used := binary.Uvarint(b[8:])
		if b = b[8:]; used <= 0 || n > uint64(len(b)-used) {
			return 0, nil
		}
		text, b = b[used:used+int(n):used+int(n)], b[used+int(n):]
	}
	return name, text
}

// unpackFrame returns the facts of a frame; nil if it is damaged.
func (a *Archive) unpackFrame(s *sidecar, n int) []byte {
	for i := range s.cache {
		if s.cache[i].n == n+1 {
			return s.cache[i].facts
		}
	}
	b := a.readPacked(s, &s.frames[n])
	s.cache[s.next].n, s.cache[s.next].facts = n+1, b
	s.next = (s.next + 1) % len(s.cache)
	return b
}

func (a *Archive) readPacked(s *sidecar, f *frame) []byte {
	summed := int64(frameHead - 8 + f.places)
	b := make([]byte, summed+f.packed)
	if _, err := s.file.ReadAt(b, f.at-summed); err != nil || crc32.Checksum(b, crcTable) != f.sum {
		return nil
	}
	if a.facts.dec == nil {
		a.facts.dec, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(maxFrame)) // never fails with these options
	}
	facts, err := a.facts.dec.DecodeAll(b[summed:], make([]byte, 0, f.raw))
	if err != nil {
		return nil
	}
	return facts
}

// flushFacts writes the facts that are not written yet as a frame.
func (a *Archive) flushFacts(s *sidecar) {
	if len(s.fresh) == 0 || s.closed {
		return
	}
	b := a.packFrame(s.fresh)
	a.opts.Fail("facts")
	if _, err := s.file.WriteAt(b, s.end); err != nil {
		a.opts.Logger.Debug("what pages say is not kept", "file", s.file.Name(), "err", err)
		s.closed = true
	} else {
		known := len(s.places)
		s.readFrame(s.end + int64(len(b)))
		s.sortPlaces(known)
	}
	s.fresh, s.size = nil, 0
}

// packFrame encodes a frame.
func (a *Archive) packFrame(list []fact) []byte {
	if a.facts.enc == nil {
		a.facts.enc, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), // never fails with these options
			zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20))
	}
	b, last := make([]byte, frameHead, frameHead+8*len(list)), int64(0)
	var raw []byte
	for _, f := range list {
		b = binary.AppendVarint(b, f.offset-last)
		last = f.offset
		raw = binary.LittleEndian.AppendUint64(raw, f.name)
		raw = binary.AppendUvarint(raw, uint64(len(f.text)))
		raw = append(raw, f.text...)
	}
	places := len(b) - frameHead
	b = a.facts.enc.EncodeAll(raw, b)
	copy(b, frameMark[:])
	for i, n := range []int{len(list), places, len(b) - frameHead - places, len(raw)} {
		binary.LittleEndian.PutUint32(b[8+4*i:], uint32(n))
	}
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[8:], crcTable))
	return b
}

// closeFacts writes all remaining facts and closes the sidecars.
func (a *Archive) closeFacts() {
	a.facts.mu.Lock()
	defer a.facts.mu.Unlock()
	for _, s := range a.facts.all {
		a.flushFacts(s)
		if s.file != nil {
			s.file.Close()
		}
	}
	clear(a.facts.all)
}

// dropFacts removes the sidecars of segments that crawl.db does not know.
func (a *Archive) dropFacts(known map[string]segmentEntry) {
	list, _ := a.dir.list(factsDir) // cleaning up only
	for _, e := range list {
		name, ok := strings.CutSuffix(e.Name(), ".facts")
		if _, ours := known[name+".warc.gz"]; ok && !ours && !IsLink(name) {
			_ = a.dir.remove(factsDir + "/" + e.Name())
		}
	}
}
