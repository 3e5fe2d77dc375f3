package zim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// maxCluster is the most octets collected in a cluster. A larger body gets its own cluster and
// is streamed.
const maxCluster = 1 << 20

// Values of the first octet of a cluster.
const (
	plain      = 1
	packedZstd = 5
	extended   = 0x10 // offsets have 8 octets
)

// cluster is a group of bodies written together.
type cluster struct {
	packed bool
	number uint32
	ends   []int // of each body, in data
	data   bytes.Buffer
}

// compressible reports whether bodies of a type should be compressed, because the type is not
// compressed itself.
func compressible(typ string) bool {
	t, _, _ := strings.Cut(typ, ";")
	switch {
	case t == typeListing:
		return false // readers map it into memory
	case strings.HasPrefix(t, "text/"), strings.HasSuffix(t, "+xml"), strings.HasSuffix(t, "json"),
		strings.HasSuffix(t, "javascript"):
		return true
	}
	switch t {
	case "application/wasm", "image/bmp", "image/x-icon", "font/ttf", "font/otf", "application/vnd.ms-fontobject",
		"application/xml":
		return true
	}
	return false
}

// blob adds a body to a cluster, and returns its position.
func (w *Writer) blob(packed bool, size int64, body io.Reader) (number, blob uint32, err error) {
	if size > maxCluster {
		return w.large(packed, size, body)
	}
	c := &w.open[0]
	if packed {
		c = &w.open[1]
	}
	if c.data.Len()+int(size) > maxCluster {
		if err := w.flush(c); err != nil {
			return 0, 0, err
		}
	}
	if len(c.ends) == 0 {
		c.number = uint32(len(w.clusters))
		w.clusters = append(w.clusters, 0)
	}
	n, err := c.data.ReadFrom(io.LimitReader(body, size))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	c.ends = append(c.ends, c.data.Len())
	return c.number, uint32(len(c.ends) - 1), err
}

// flush writes a cluster, unless it is empty.
func (w *Writer) flush(c *cluster) error {
	if len(c.ends) == 0 {
		return nil
	}
	w.clusters[c.number] = w.at
	table := make([]byte, 0, 4*(len(c.ends)+1))
	start := cap(table)
	for _, end := range append([]int{0}, c.ends...) {
		table = binary.LittleEndian.AppendUint32(table, uint32(start+end))
	}
	err := w.cluster(c.packed, false, table, &c.data)
	c.ends = c.ends[:0]
	c.data.Reset()
	return err
}

// large writes a body as its own cluster.
func (w *Writer) large(packed bool, size int64, body io.Reader) (number, blob uint32, err error) {
	number = uint32(len(w.clusters))
	w.clusters = append(w.clusters, w.at)
	long := size+8 > 1<<32-1
	var table []byte
	if long {
		table = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 16), uint64(16+size))
	} else {
		table = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 8), uint32(8+size))
	}
	r := &io.LimitedReader{R: body, N: size}
	if err = w.cluster(packed, long, table, r); err == nil && r.N > 0 {
		err = fmt.Errorf("zim: a body ends %d octets early: %w", r.N, io.ErrUnexpectedEOF)
	}
	return number, 0, err
}

// cluster writes a cluster.
func (w *Writer) cluster(packed, long bool, table []byte, data io.Reader) error {
	info := byte(plain)
	if packed {
		info = packedZstd
	}
	if long {
		info |= extended
	}
	if err := w.write([]byte{info}, 0); err != nil {
		return err
	}
	out := io.Writer(writeCounter{w})
	if packed {
		w.zstd.Reset(out)
		out = w.zstd
	}
	if _, err := out.Write(table); err != nil {
		return err
	}
	if _, err := io.Copy(out, data); err != nil || !packed {
		return err
	}
	return w.zstd.Close()
}

// writeCounter counts the octets written to the file.
type writeCounter struct{ w *Writer }

func (c writeCounter) Write(b []byte) (int, error) {
	n, err := c.w.f.Write(b)
	c.w.at += int64(n)
	return n, err
}
