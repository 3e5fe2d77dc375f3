package export

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"path"
	"time"

	"github.com/klauspost/compress/flate"
)

// pack writes a zip file whose local headers have sizes and checksums too, so that it can be
// read as a stream. They are patched into the header once an entry is complete.
type pack struct {
	f     *outFile
	z     *zip.Writer
	now   time.Time
	files []resource
}

// resource is an entry as datapackage.json lists it.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// entry is a zip entry being written.
type entry struct {
	p      *pack
	fh     *zip.FileHeader
	at     int64 // offset of the local header
	raw    io.Writer
	packed int64         // octets written to raw
	flate  *flate.Writer // nil: stored
	size   int64
	crc    hash.Hash32
	sum    hash.Hash
}

// Offsets in the local header (APPNOTE.TXT 4.3.7), and the Zip64 extra field of entries that
// may exceed 4 GiB (4.5.3).
const (
	atCRC       = 14
	headerSize  = 30
	zip64ID     = 1
	zip64Field  = 4 + 16
	zip64Needed = 45
)

// create begins an entry of at most most octets.
func (p *pack) create(name string, method uint16, most int64) (*entry, error) {
	if err := p.z.Flush(); err != nil {
		return nil, err
	}
	at, err := p.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, &DiskError{err}
	}
	fh := &zip.FileHeader{Name: name, Method: method, ReaderVersion: 20, CreatorVersion: 20}
	fh.SetMode(0o644)
	//lint:ignore SA1019 CreateRaw writes these fields only
	fh.SetModTime(p.now.UTC())
	if most >= 1<<32-1 {
		fh.ReaderVersion = zip64Needed
		fh.Extra = make([]byte, zip64Field)
		binary.LittleEndian.PutUint16(fh.Extra, zip64ID)
		binary.LittleEndian.PutUint16(fh.Extra[2:], zip64Field-4)
		fh.UncompressedSize64, fh.CompressedSize64 = 1<<32, 1<<32
	}
	e := &entry{p: p, fh: fh, at: at, crc: crc32.NewIEEE(), sum: sha256.New()}
	if e.raw, err = p.z.CreateRaw(fh); err != nil {
		return nil, err
	}
	if method == zip.Deflate {
		e.flate, err = flate.NewWriter(rawWriter{e}, flate.DefaultCompression)
	}
	return e, err
}

// rawWriter counts the octets written to the file.
type rawWriter struct{ e *entry }

func (w rawWriter) Write(p []byte) (int, error) {
	n, err := w.e.raw.Write(p)
	w.e.packed += int64(n)
	return n, err
}

func (e *entry) Write(p []byte) (n int, err error) {
	if e.flate != nil {
		n, err = e.flate.Write(p)
	} else {
		n, err = rawWriter{e}.Write(p)
	}
	e.crc.Write(p[:n])
	e.sum.Write(p[:n])
	e.size += int64(n)
	return n, err
}

// close completes the entry, if there is one, and patches its local header.
func (e *entry) close() error {
	if e == nil {
		return nil
	}
	if e.flate != nil {
		if err := e.flate.Close(); err != nil {
			return err
		}
	}
	if err := e.p.z.Flush(); err != nil {
		return err
	}
	e.fh.CRC32 = e.crc.Sum32()
	e.fh.UncompressedSize64, e.fh.CompressedSize64 = uint64(e.size), uint64(e.packed)
	//lint:ignore SA1019 Close writes these for entries below 4 GiB
	e.fh.UncompressedSize, e.fh.CompressedSize = uint32(min(e.size, 1<<32-1)), uint32(min(e.packed, 1<<32-1))
	if err := e.patch(); err != nil {
		return asDisk(err)
	}
	e.fh.Extra = nil // archive/zip writes its own into the central directory if needed
	e.p.files = append(e.p.files, resource{Name: path.Base(e.fh.Name), Path: e.fh.Name,
		Hash: fmt.Sprintf("sha256:%x", e.sum.Sum(nil)), Bytes: e.size})
	return nil
}

// patch writes checksum and sizes into the local header.
func (e *entry) patch() error {
	b := binary.LittleEndian.AppendUint32(nil, e.fh.CRC32)
	if e.fh.Extra == nil {
		b = binary.LittleEndian.AppendUint32(b, uint32(e.packed))
		b = binary.LittleEndian.AppendUint32(b, uint32(e.size))
	}
	_, err := e.p.f.WriteAt(b, e.at+atCRC)
	if err != nil || e.fh.Extra == nil {
		return err
	}
	b = binary.LittleEndian.AppendUint64(nil, uint64(e.size))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.packed))
	_, err = e.p.f.WriteAt(b, e.at+headerSize+int64(len(e.fh.Name))+4)
	return err
}

// add writes b as a compressed entry.
func (p *pack) add(name string, b []byte) error {
	e, err := p.create(name, zip.Deflate, int64(len(b)))
	if err != nil {
		return err
	}
	if _, err := e.Write(b); err != nil {
		return err
	}
	return e.close()
}
