package warc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// unpacked is a decompressed file; the compression is recognized by its first octets.
type unpacked struct {
	src  *counter
	seek io.Seeker     // nil: src cannot seek
	file *bufio.Reader // the file itself, compressed or not
	rec  *bufio.Reader // decompressed
	z    *gzip.Reader  // nil: not gzip
	zs   *zstd.Decoder // nil: not zstd

	out    int64   // octets decompressed
	starts []start // members: the one that contains rec's position, and later ones
	inside bool    // a member is being read
	failed error   // error in this member
	back   int64   // octets that were read again after damage
	probe  Probe
}

// start is where a member begins, in the file and in the decompressed data.
type start struct{ file, out int64 }

// damagedMember is a gzip member, or data in place of one, that cannot be decompressed.
type damagedMember struct {
	at  int64
	err error
}

func (d *damagedMember) Error() string { return "it cannot be decompressed: " + d.err.Error() }
func (d *damagedMember) Unwrap() error { return d.err }

const (
	magicGzip  = "\x1f\x8b"
	magicZstd  = "\x28\xb5\x2f\xfd"
	magicDict  = "\x5d\x2a\x4d\x18" // a skippable frame with the dictionary for all that follow
	maxDict    = 16 << 20
	maxZstd    = 128 << 20 // window size, as the format's draft allows
	foreignBuf = 64 << 10
	maxBack    = 1 << 30 // limit on reading again, for a file with nested members
)

// ErrNotWARC reports that a file is not a WARC file.
var ErrNotWARC = errors.New("not a WARC file")

func unpack(r io.Reader, offset int64) (*unpacked, error) {
	u := &unpacked{src: &counter{r: r, n: offset}}
	u.seek, _ = r.(io.Seeker)
	u.file = bufio.NewReaderSize(u.src, 256<<10)
	u.starts = []start{{file: offset}}
	head, err := u.file.Peek(4)
	if len(head) == 0 && err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte(magicGzip)):
		u.z, u.starts = new(gzip.Reader), nil
	case string(head) == magicZstd, string(head) == magicDict:
		if err := u.openZstd(); err != nil {
			return nil, err
		}
	}
	u.rec = bufio.NewReaderSize(u, foreignBuf)
	if begin, err := u.rec.Peek(len("WARC/")); string(begin) != "WARC/" && offset == 0 {
		u.close()
		return nil, u.notWARC(begin, err)
	}
	return u, nil
}

func (u *unpacked) notWARC(begin []byte, err error) error {
	switch {
	case string(begin) == "filed":
		return fmt.Errorf("%w: an ARC file, which is not read: convert it first, as with warcio recompress", ErrNotWARC)
	case bytes.HasPrefix(begin, []byte(magicGzip)):
		return fmt.Errorf("%w: gzip within gzip", ErrNotWARC)
	case len(begin) == 0 && err == io.EOF:
		return fmt.Errorf("%w: empty", ErrNotWARC)
	case err != nil && err != io.EOF:
		return fmt.Errorf("%w: %w", ErrNotWARC, err)
	}
	return fmt.Errorf("%w: it begins with %q", ErrNotWARC, begin)
}

func (u *unpacked) openZstd() error {
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstd)}
	dict, err := u.dictionary()
	if dict != nil {
		options = append(options, zstd.WithDecoderDicts(dict))
	}
	if err == nil {
		u.zs, err = zstd.NewReader(u.file, options...)
	}
	if err != nil {
		return fmt.Errorf("%w: its zstd dictionary cannot be read: %w", ErrNotWARC, err)
	}
	return nil
}

// dictionary reads the frame with the dictionary, if the file begins with one; it may itself be compressed.
func (u *unpacked) dictionary() ([]byte, error) {
	var head [8]byte
	if b, _ := u.file.Peek(4); string(b) != magicDict {
		return nil, nil
	}
	if _, err := io.ReadFull(u.file, head[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxDict {
		return nil, fmt.Errorf("%d bytes long", size)
	}
	dict := make([]byte, size)
	if _, err := io.ReadFull(u.file, dict); err != nil || !bytes.HasPrefix(dict, []byte(magicZstd)) {
		return dict, err
	}
	z, err := zstd.NewReader(bytes.NewReader(dict), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDict))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(io.LimitReader(z, maxDict))
}

func (u *unpacked) close() {
	if u.zs != nil {
		u.zs.Close()
	}
}

// Read returns the decompressed data of one member after the other.
func (u *unpacked) Read(p []byte) (n int, err error) {
	switch {
	case u.failed != nil:
		return 0, u.failed
	case u.z != nil:
		n, err = u.member(p)
	case u.zs != nil:
		n, err = u.zs.Read(p)
	default:
		n, err = u.file.Read(p)
	}
	u.out += int64(n)
	if err != nil && u.zs != nil && err != io.EOF {
		u.failed = &damagedMember{u.starts[0].file, err}
		err = u.failed
	}
	return n, err
}

func (u *unpacked) member(p []byte) (int, error) {
	for {
		at := u.src.n - int64(u.file.Buffered())
		if !u.inside {
			if _, err := u.file.Peek(1); err != nil {
				return 0, err
			}
			u.starts = append(u.starts, start{at, u.out})
			if err := u.z.Reset(u.file); err != nil {
				return 0, u.fail(err)
			}
			u.z.Multistream(false)
			u.inside = true
		}
		n, err := u.z.Read(p)
		if err == io.EOF {
			u.inside, err = false, nil
		}
		if err != nil {
			return n, u.fail(err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

// fail records an error of the present member, which stays until resync.
func (u *unpacked) fail(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	u.failed = &damagedMember{u.starts[len(u.starts)-1].file, err}
	return u.failed
}

// place returns the position of the next data from rec.
func (u *unpacked) place() Place {
	at := u.out - int64(u.rec.Buffered())
	for len(u.starts) > 1 && u.starts[1].out <= at {
		u.starts = u.starts[1:]
	}
	if len(u.starts) == 0 {
		return Place{Offset: u.src.n - int64(u.file.Buffered())}
	}
	first := u.starts[0]
	if u.z == nil && u.zs == nil {
		return Place{Offset: first.file + at - first.out}
	}
	return Place{first.file, at - first.out}
}

// atMember reports whether a gzip member begins here.
func (u *unpacked) atMember() bool { return u.z != nil && u.place().Inside == 0 }

// ofMember returns how many octets can be read of a record that began in the given member. A record may
// continue in the next member, unless that begins with a record: then the record's length is wrong.
func (u *unpacked) ofMember(begun int64) (int, error) {
	if _, err := u.rec.Peek(1); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	at := u.place()
	if at.Inside == 0 && at.Offset != begun && u.begins() {
		return 0, io.ErrUnexpectedEOF
	}
	most := u.rec.Buffered()
	if len(u.starts) > 1 {
		most = min(most, int(u.starts[1].out-u.starts[0].out-at.Inside))
	}
	return most, nil
}

// skipLineEnds skips the line ends after a block.
func (u *unpacked) skipLineEnds() error {
	for {
		b, err := u.rec.Peek(1)
		if err != nil {
			return err
		}
		if b[0] != '\r' && b[0] != '\n' {
			return nil
		}
		_, _ = u.rec.Discard(1)
	}
}

// resync moves to the next record: the next member, or line, that begins with one.
func (u *unpacked) resync() error {
	if u.failed == nil && u.place().Inside == 0 && u.begins() {
		return nil
	}
	if u.z != nil && (u.failed != nil || u.starts[len(u.starts)-1].out == u.starts[0].out) {
		return u.nextMember()
	}
	if u.failed != nil {
		return io.EOF // the beginning of a zstd frame cannot be found
	}
	for {
		_, err := u.rec.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			var bad *damagedMember
			if errors.As(err, &bad) && u.z != nil {
				return u.nextMember()
			}
			return err
		}
		if err == nil && u.begins() {
			return nil
		}
	}
}

// begins reports whether a record begins here.
func (u *unpacked) begins() bool {
	b, _ := u.rec.Peek(len("WARC/"))
	return string(b) == "WARC/"
}

// nextMember finds the next member that begins with a record. If the file can seek, it searches from the
// beginning of the last member, else from the present position.
func (u *unpacked) nextMember() error {
	u.rec.Reset(u)
	u.failed, u.inside = nil, false
	last := u.starts[len(u.starts)-1].file
	u.starts = nil
	if u.back += u.src.n - last; u.seek != nil && u.back < maxBack {
		if _, err := u.seek.Seek(last+1, io.SeekStart); err != nil {
			return err
		}
		u.src.n = last + 1
		u.file.Reset(u.src)
	}
	for {
		b, err := u.file.Peek(ProbeSize)
		if len(b) < 4 {
			if err == nil || err == bufio.ErrBufferFull {
				err = io.EOF
			}
			return err
		}
		i := bytes.Index(b, []byte(magicGzip+"\x08"))
		switch {
		case i < 0:
			_, _ = u.file.Discard(len(b) - 3)
			continue
		case i > 0:
			_, _ = u.file.Discard(i)
			continue
		}
		if u.probe.beginsAny(b) {
			return nil
		}
		_, _ = u.file.Discard(1)
	}
}
