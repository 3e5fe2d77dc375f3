package importer

import (
	"bytes"
	"fmt"
	"io"

	"curtsy/storage/warc"
)

// block is the block of a record, in memory or, if it is large, in an unnamed file.
type block struct {
	mem  []byte
	file spilled // nil: it is in mem
	size int64
	sum  string // its digest, labelled, in the algorithm of the record's digest
	said string // remark: the record states another digest
}

type spilled interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

const (
	inMemory = 4 << 20 // octets of a block that are held in memory
	// maxBlock is the longest block that is imported. A longer one is a decompression bomb or needs
	// another tool.
	maxBlock = 8 << 30
)

var errTooLong = fmt.Errorf("longer than %d GB", maxBlock>>30)

// readBlock reads a block to its end and computes its digest. label is the digest that the record
// states; a mismatch is a remark, not an error.
func (i *importer) readBlock(r io.Reader, label string, length int64) (_ *block, err error) {
	if length > maxBlock {
		return nil, errTooLong
	}
	b, w := &block{}, warc.NewLabelled(label)
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	buf := bytes.NewBuffer(make([]byte, 0, min(length, inMemory)))
	if b.size, err = io.CopyN(io.MultiWriter(buf, w), r, min(length, inMemory)); err != nil {
		return nil, short(err)
	}
	b.mem = buf.Bytes()
	if b.size < length {
		if b.file, err = i.in.Archive().Spill(); err != nil {
			return nil, err
		}
		if _, err = b.file.Write(b.mem); err != nil {
			return nil, err
		}
		b.mem = nil
		n, err := io.CopyN(io.MultiWriter(b.file, w), r, length-b.size)
		if b.size += n; err != nil {
			return nil, short(err)
		}
	}
	// A wrong digest is a bug of the program that wrote it more often than a disk error: a gzip
	// member has its own checksum. It is no protection against forgery either.
	if b.sum = w.String(); !w.Matches(label) {
		b.said = fmt.Sprintf("its block digest is %s, the record says %.80s", b.sum, label)
	}
	return b, nil
}

func short(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (b *block) close() {
	if b == nil {
		return
	}
	b.mem = nil
	if b.file != nil {
		b.file.Close()
		b.file = nil
	}
}

// from returns a reader of the block, starting at offset at.
func (b *block) from(at int64) io.Reader {
	if b.file != nil {
		return io.NewSectionReader(b.file, at, b.size-at)
	}
	return bytes.NewReader(b.mem[at:])
}

// begin returns the first most octets of the block, or all of a shorter one.
func (b *block) begin(most int64) ([]byte, error) {
	if b.file == nil {
		return b.mem[:min(int64(len(b.mem)), most)], nil
	}
	buf := make([]byte, min(b.size, most))
	_, err := io.ReadFull(b.from(0), buf)
	return buf, err
}
