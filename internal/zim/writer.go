// Package zim writes ZIM files, version 6.1 (openzim.org, "ZIM file format"): a site in one
// file, for Kiwix and other readers.
//
// Content is written as it is added, in clusters. The directory is kept in memory, about 150
// octets an entry, and written at the end.
package zim

import (
	"bytes"
	"cmp"
	"crypto/md5" // the checksum of the format
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// File is the output file. It must be empty.
type File interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
}

// Namespaces of entries.
const (
	content   = 'C'
	metadata  = 'M'
	wellKnown = 'W'
	indexes   = 'X'
)

const (
	headerSize = 80
	magic      = 72173914
	redirect   = 0xffff     // the MIME type number of redirects
	none       = 0xffffffff // no such page
	// firstCluster is the lowest offset of a cluster: older readers expect the MIME type list
	// below it.
	firstCluster = 1024
	typeListing  = "application/octet-stream+zimlisting"
	typeText     = "text/plain;charset=utf-8"
)

// Page is an entry of the site.
type Page struct {
	Path  string // without a leading slash
	Title string // if "", readers show the path
	Type  string // MIME
	// Front means that readers may suggest the page.
	Front bool
}

// entry is a directory entry.
type entry struct {
	space         byte
	path, title   string
	typ           int // index of the MIME type
	cluster, blob uint32
	to            string // of a redirect: a path in the content namespace
	front         bool
}

func (e *entry) name() string { return string(e.space) + cmp.Or(e.title, e.path) }

// byPath orders entries by namespace and path, as they are in the file.
func byPath(a, b entry) int {
	return cmp.Or(cmp.Compare(a.space, b.space), strings.Compare(a.path, b.path))
}

// Writer writes a ZIM file: call Add and Redirect, then Finish. After an error the file is
// unusable.
type Writer struct {
	f        File
	at       int64 // offset of the next octet
	types    []string
	entries  []entry
	counts   map[string]int // of content, by type
	sum      hash.Hash      // of the content, for the UUID
	clusters []int64        // offsets, by the cluster number in entries
	open     [2]cluster     // uncompressed and compressed
	zstd     *zstd.Encoder
}

// New starts a file whose content has these MIME types; others cannot be added. scraper, the
// name of the program, must be within the first 2 KiB of the file.
func New(f File, types []string, scraper string) (*Writer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, counts: map[string]int{}, sum: sha256.New(), zstd: z}
	w.types = slices.Sorted(slices.Values(append([]string{typeListing, typeText, "image/png"}, types...)))
	w.types = slices.Compact(w.types)
	list := strings.Join(w.types, "\x00") + "\x00\x00"
	w.open[1].packed = true
	if err := w.write(append(make([]byte, headerSize, headerSize+len(list)), list...), firstCluster); err != nil {
		return nil, err
	}
	e := entry{space: metadata, path: "Scraper"}
	e.typ, _ = slices.BinarySearch(w.types, typeText)
	e.cluster, e.blob, err = w.blob(false, int64(len(scraper)), strings.NewReader(scraper))
	w.entries = append(w.entries, e)
	return w, errors.Join(err, w.flush(&w.open[0]))
}

// write appends octets, and pads with zeros up to an offset.
func (w *Writer) write(b []byte, upTo int64) error {
	if short := upTo - w.at - int64(len(b)); short > 0 {
		b = append(b, make([]byte, short)...)
	}
	n, err := w.f.Write(b)
	w.at += int64(n)
	return err
}

// Add adds a page with a body of size octets.
func (w *Writer) Add(p Page, size int64, body io.Reader) error {
	e := entry{space: content, path: p.Path, title: p.Title, front: p.Front}
	w.counts[p.Type]++
	io.WriteString(w.sum, p.Path+"\x00"+p.Title+"\x00")
	return w.put(e, p.Type, size, io.TeeReader(body, w.sum))
}

// Redirect adds a path that redirects to another.
func (w *Writer) Redirect(path, to string) {
	w.entries = append(w.entries, entry{space: content, path: path, typ: redirect, to: to})
	io.WriteString(w.sum, path+"\x00"+to+"\x00")
}

// Meta adds metadata of the file (https://wiki.openzim.org/wiki/Metadata). It ignores an empty
// value.
func (w *Writer) Meta(name, value string) error {
	if value == "" {
		return nil
	}
	return w.put(entry{space: metadata, path: name}, typeText, int64(len(value)), strings.NewReader(value))
}

// Illustration adds the file's icon, a PNG of 48 by 48 pixels.
func (w *Writer) Illustration(png []byte) error {
	return w.put(entry{space: metadata, path: "Illustration_48x48@1"}, "image/png", int64(len(png)),
		bytes.NewReader(png))
}

func (w *Writer) put(e entry, typ string, size int64, body io.Reader) (err error) {
	var ok bool
	if e.typ, ok = slices.BinarySearch(w.types, typ); !ok {
		return fmt.Errorf("zim: %s: type %q was not announced", e.path, typ)
	}
	if e.cluster, e.blob, err = w.blob(compressible(typ), size, body); err != nil {
		return err
	}
	w.entries = append(w.entries, e)
	return nil
}

// ErrTwice means that two pages have the same path, ErrNowhere that a redirect or the main page
// leads to no page.
var (
	ErrTwice   = errors.New("zim: path is there twice")
	ErrNowhere = errors.New("zim: leads to no page")
)

// Finish writes the directory; main is the path of the main page.
func (w *Writer) Finish(main string) error {
	if err := w.Meta("Counter", w.counter()); err != nil {
		return err
	}
	if main != "" {
		w.entries = append(w.entries, entry{space: wellKnown, path: "mainPage", typ: redirect, to: main})
	}
	w.entries = append(w.entries, entry{space: indexes, path: "listing/titleOrdered/v1"})
	if err := w.sort(); err != nil {
		return err
	}
	front := w.byTitle(func(e *entry) bool { return e.front })
	listing := &w.entries[w.find(indexes, "listing/titleOrdered/v1")]
	listing.typ, _ = slices.BinarySearch(w.types, typeListing)
	var err error
	if listing.cluster, listing.blob, err = w.blob(false, int64(len(front)), bytes.NewReader(front)); err != nil {
		return err
	}
	for i := range w.open {
		if err := w.flush(&w.open[i]); err != nil {
			return err
		}
	}
	w.order()
	return w.directory()
}

// order renumbers the clusters by offset, since they are not written in the order of their
// numbers.
func (w *Writer) order() {
	ranks := make([]uint32, len(w.clusters))
	offsets := slices.Sorted(slices.Values(w.clusters))
	for i, at := range w.clusters {
		n, _ := slices.BinarySearch(offsets, at)
		ranks[i] = uint32(n)
	}
	for i := range w.entries {
		if e := &w.entries[i]; e.typ != redirect {
			e.cluster = ranks[e.cluster]
		}
	}
	w.clusters = offsets
}

// counter returns the number of entries by type.
func (w *Writer) counter() string {
	var list []string
	for _, typ := range slices.Sorted(maps.Keys(w.counts)) {
		list = append(list, fmt.Sprintf("%s=%d", typ, w.counts[typ]))
	}
	return strings.Join(list, ";")
}

// sort sorts the entries by namespace and path.
func (w *Writer) sort() error {
	slices.SortFunc(w.entries, byPath)
	for i := 1; i < len(w.entries); i++ {
		if byPath(w.entries[i-1], w.entries[i]) == 0 {
			return fmt.Errorf("%w: %s", ErrTwice, w.entries[i].path)
		}
	}
	for i := range w.entries {
		if e := &w.entries[i]; e.typ == redirect && w.find(content, e.to) < 0 {
			return fmt.Errorf("%w: %s to %s", ErrNowhere, e.path, e.to)
		}
	}
	return nil
}

// find returns the index of an entry, or -1.
func (w *Writer) find(space byte, path string) int {
	i, ok := slices.BinarySearchFunc(w.entries, entry{space: space, path: path}, byPath)
	if !ok {
		return -1
	}
	return i
}

// byTitle returns the indexes of the entries for which take is true, by title.
func (w *Writer) byTitle(take func(*entry) bool) []byte {
	var list []int
	for i := range w.entries {
		if take(&w.entries[i]) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return strings.Compare(w.entries[a].name(), w.entries[b].name()) })
	var b []byte
	for _, i := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
	}
	return b
}

// directory writes the entries, the pointer lists of entries and clusters, the header and the
// checksum.
func (w *Writer) directory() error {
	var places []byte
	for i := range w.entries {
		places = binary.LittleEndian.AppendUint64(places, uint64(w.at))
		if err := w.write(w.entry(&w.entries[i]), 0); err != nil {
			return err
		}
	}
	paths := w.at
	err := w.write(places, 0)
	titles := w.at
	err = errors.Join(err, w.write(w.byTitle(func(*entry) bool { return true }), 0))
	clusters := w.at
	places = places[:0]
	for _, at := range w.clusters {
		places = binary.LittleEndian.AppendUint64(places, uint64(at))
	}
	if err = errors.Join(err, w.write(places, 0)); err != nil {
		return err
	}
	if _, err := w.f.WriteAt(w.header(paths, titles, clusters), 0); err != nil {
		return err
	}
	sum := md5.New()
	if _, err := io.Copy(sum, io.NewSectionReader(w.f, 0, w.at)); err != nil {
		return err
	}
	return w.write(sum.Sum(nil), 0)
}

// header encodes the header, given the offsets of the lists.
func (w *Writer) header(paths, titles, clusters int64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, magic)
	b = binary.LittleEndian.AppendUint16(b, 6)
	b = binary.LittleEndian.AppendUint16(b, 1)
	id := w.sum.Sum(nil)[:16] // RFC 9562 §5.8: the same content has the same UUID
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	b = append(b, id...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(w.entries)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(w.clusters)))
	for _, at := range []int64{paths, titles, clusters, headerSize} {
		b = binary.LittleEndian.AppendUint64(b, uint64(at))
	}
	main := uint32(none)
	if i := w.find(wellKnown, "mainPage"); i >= 0 {
		main = uint32(i)
	}
	b = binary.LittleEndian.AppendUint32(b, main)
	b = binary.LittleEndian.AppendUint32(b, none) // layout page
	return binary.LittleEndian.AppendUint64(b, uint64(w.at))
}

// entry encodes a directory entry.
func (w *Writer) entry(e *entry) []byte {
	b := binary.LittleEndian.AppendUint16(nil, uint16(e.typ))
	b = append(b, 0, e.space, 0, 0, 0, 0) // no parameters, revision 0
	if e.typ == redirect {
		b = binary.LittleEndian.AppendUint32(b, uint32(w.find(content, e.to)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, e.cluster)
		b = binary.LittleEndian.AppendUint32(b, e.blob)
	}
	b = append(append(b, e.path...), 0)
	return append(append(b, e.title...), 0)
}
