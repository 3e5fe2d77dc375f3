package storage

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"curtsy/storage/crawllog"
)

// factsDir is the directory of the sidecars, one a segment: what the pages in it
// say (package facts), so that no outlet reads a body for that. They are derived:
// deleted, torn or of another version they are made again from the segments. So
// nothing here is synced, and no error of it ends a crawl.
//
// A sidecar is a row of frames, each of the captures of some commits:
//
//	4   "cf", 0, version
//	4   CRC-32C of what follows
//	16  captures; octets of the places, of the packed facts, of the facts: 32 bits each
//	…   places: the offset of each capture in the segment, less that before it, zigzag varints
//	…   zstd of the facts: of each capture the name that it has, the length, the octets
const factsDir = "facts"

const (
	// frameVersion is raised with the version of what the frames hold (facts.Of): a
	// sidecar of another one is none, and is written over.
	frameVersion = 5
	frameHead    = 24
	// maxFrame is more octets than the facts of any frame have, fullFrame what
	// is enough for one, and so is fullCount.
	maxFrame  = 8 << 20
	fullFrame = 128 << 10
	fullCount = 64
	maxFact   = maxFrame - fullFrame - 64
	// maxPlaces is more captures than a segment has: a sidecar may come from anybody.
	maxPlaces = 4 << 20
)

var frameMark = [4]byte{'c', 'f', 0, frameVersion}

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// sidecars are those of an archive that are open. They are for any goroutine.
type sidecars struct {
	mu  sync.Mutex
	all map[string]*sidecar // by segment
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// sidecar is the facts of one segment.
type sidecar struct {
	file    *os.File // nil: there is none
	appends bool
	closed  bool  // to what is to be added: it cannot be written
	end     int64 // of the last whole frame
	frames  []frame
	places  []factPlace // by offset; of one offset, the last counts
	fresh   []fact      // in no frame yet
	size    int         // of these
	cache   [8]struct { // frames that were read
		n     int // of the frame, from 1
		facts []byte
	}
	next int // of the cache, to be given up
}

type frame struct {
	at, packed  int64 // where its places end and its facts begin, and their octets
	raw, places int
	sum         uint32
}

// factPlace is where the facts of a capture are: the nth of a frame.
type factPlace struct {
	offset   int64
	frame, n int32
}

// fact is what the page of a capture says.
type fact struct {
	factKey
	text []byte
}

// factKey is by what the facts of a capture are found.
type factKey struct {
	segment string
	offset  int64
	// name tells the captures apart that were at one place: a segment may have been
	// cut and written anew.
	name uint64
}

// factKeyOf is the key of a visit; false where no facts of it are kept.
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

// factsFile is the name of a segment's sidecar within the archive's directory.
func factsFile(segment string) string {
	return factsDir + "/" + strings.TrimSuffix(segment, ".warc.gz") + ".facts"
}

// KeepFacts keeps what the page of a visit says: with the running group, where the archive
// is written, else at once, for those who ask after it. It does nothing where the archive
// cannot be written to, or another writes it.
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

// Facts are what the page of a visit says, as they were kept; nil where that is
// not known. The caller has seen that the capture may be shown, and changes nothing
// in what it gets.
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

// sidecar is that of a segment, read as far as it is whole.
func (a *Archive) sidecar(segment string) *sidecar {
	if s := a.facts.all[segment]; s != nil {
		return s
	}
	s := &sidecar{}
	if a.facts.all == nil {
		a.facts.all = map[string]*sidecar{}
	}
	a.facts.all[segment] = s
	if f, err := a.dir.open(factsFile(segment)); err == nil {
		s.file = f
		s.readPlaces()
	}
	return s
}

// appendTo opens a sidecar to add to it. Of those who only read the archive, one
// may.
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
	s.readPlaces() // another may have added to it
	if s.file.Truncate(s.end) != nil {
		s.closed = true
	}
	return !s.closed
}

// openSidecar opens a file of facts/ for writing, and makes what is not there.
func (d *directory) openSidecar(name string) (*os.File, error) {
	if d.facts == nil {
		if err := d.root.Mkdir(factsDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err := d.openSub(factsDir, &d.facts); err != nil {
			return nil, err
		}
	}
	return d.openFile(name, os.O_RDWR|os.O_CREATE, 0o644)
}

// readPlaces reads where facts are, from the last whole frame that is known on.
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

// sortPlaces puts the places from the nth on among those before, which are in order.
// Most come in the order of the segment: little is moved.
func (s *sidecar) sortPlaces(n int) {
	if n == len(s.places) {
		return
	}
	byOffset := func(x, y factPlace) int { return cmp.Compare(x.offset, y.offset) }
	least := slices.MinFunc(s.places[n:], byOffset).offset
	from := sort.Search(n, func(i int) bool { return s.places[i].offset > least })
	slices.SortStableFunc(s.places[from:], byOffset)
}

// readFrame reads the head and the places of the next frame.
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

// factIn is the fact at a place, and the name of its capture; none where the frame
// is not as it was written.
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

// unpackFrame gives the facts of a frame; nil where they are not what was written.
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
			zstd.WithDecoderMaxMemory(maxFrame)) // fails for no such options
	}
	facts, err := a.facts.dec.DecodeAll(b[summed:], make([]byte, 0, f.raw))
	if err != nil {
		return nil
	}
	return facts
}

// flushFacts writes a frame of what is in none yet.
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

// packFrame makes a frame.
func (a *Archive) packFrame(list []fact) []byte {
	if a.facts.enc == nil {
		a.facts.enc, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), // fails for no such options
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

// closeFacts writes what is left and closes all sidecars.
func (a *Archive) closeFacts() {
	a.facts.mu.Lock()
	defer a.facts.mu.Unlock()
	for _, s := range a.facts.all {
		a.flushFacts(s)
		if s.file != nil {
			s.file.Close()
		}
	}
	a.facts.all = nil
}

// dropFacts removes the sidecars of segments that crawl.db does not know.
func (a *Archive) dropFacts(known map[string]segmentEntry) {
	list, _ := a.dir.list(factsDir) // only to tidy up
	for _, e := range list {
		name, ok := strings.CutSuffix(e.Name(), ".facts")
		if _, ours := known[name+".warc.gz"]; ok && !ours && !IsLink(name) {
			_ = a.dir.remove(factsDir + "/" + e.Name())
		}
	}
}
