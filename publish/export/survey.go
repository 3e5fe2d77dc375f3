package export

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"

	"curtsy/htmlmeta"
	"curtsy/publish"
	"curtsy/publish/corpus"
	"curtsy/storage"
)

// survey is what is known of the texts of all pages before a row is written. It keeps
// the texts in a temporary file until then, so that each page is read once.
type survey struct {
	a        *storage.Archive
	main     bool
	blocks   *corpus.Blocks
	clusters *corpus.Clusters
	first    map[int]string // by number: the first page of each cluster
	number   int            // of the page that is told of next

	file  *spool
	in    *zstd.Encoder
	out   *zstd.Decoder
	texts *bufio.Reader
	buf   []byte
}

func newSurvey(a *storage.Archive, dir string, main bool) (*survey, error) {
	file, err := newSpool(dir)
	if err != nil {
		return nil, err
	}
	s := &survey{a: a, main: main, blocks: corpus.NewBlocks(), clusters: corpus.NewClusters(dir),
		first: map[int]string{}, file: file}
	s.in, err = zstd.NewWriter(file, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(128<<10))
	return s, err
}

func (s *survey) close() {
	if s.out != nil {
		s.out.Close()
	}
	s.file.close()
	_ = s.clusters.Close()
}

// linesOf are the texts of blocks that may be shown.
func linesOf(blocks []htmlmeta.Block) (lines []string) {
	for i := range blocks {
		if text := blocks[i].Shown(); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// learn reads a page.
func (s *survey) learn(m *member) error {
	var t told
	if m.flags&flagText != 0 {
		p, err := publish.ReadPage(s.a, m.v)
		if publish.IsOfArchive(err) {
			return err
		}
		if p.Header != nil {
			t = s.read(p)
		}
	}
	if err := s.clusters.Add(t.text); err != nil {
		return &DiskError{err}
	}
	s.buf = append(append(s.buf[:0], byte(len(t.language))), t.language...)
	s.buf = binary.BigEndian.AppendUint64(s.buf, math.Float64bits(t.score))
	s.buf = append(binary.AppendUvarint(s.buf, uint64(len(t.text))), t.text...)
	_, err := s.in.Write(s.buf)
	return err
}

// told is what is known of a page before all are.
type told struct {
	text     string
	language string // of its main text, ISO 639-3
	score    float64
}

func (s *survey) read(p htmlmeta.Page) (t told) {
	lines := linesOf(blocksOf(p, s.main))
	s.blocks.Add(lines)
	t.text = strings.Join(lines, "\n")
	main := t.text
	if !s.main {
		main = strings.Join(linesOf(blocksOf(p, true)), "\n")
	}
	t.language, t.score = corpus.Language(main)
	return t
}

// find ends the learning.
func (s *survey) find() error {
	if err := s.clusters.Find(); err != nil {
		return &DiskError{err}
	}
	if err := s.in.Close(); err != nil {
		return err
	}
	if _, err := s.file.rewind(); err != nil {
		return err
	}
	var err error
	s.out, err = zstd.NewReader(s.file.f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	s.texts = bufio.NewReaderSize(s.out, 64<<10)
	return err
}

// next is what was told of the next page.
func (s *survey) next() (t told, err error) {
	defer func() {
		if err != nil {
			err = &DiskError{err}
		}
	}()
	n, err := s.texts.ReadByte()
	if err != nil {
		return t, err
	}
	head := make([]byte, int(n)+8)
	if _, err = io.ReadFull(s.texts, head); err != nil {
		return t, err
	}
	size, err := binary.ReadUvarint(s.texts)
	if err != nil {
		return t, err
	}
	text := make([]byte, size)
	_, err = io.ReadFull(s.texts, text)
	return told{string(text), string(head[:n]), math.Float64frombits(binary.BigEndian.Uint64(head[n:]))}, err
}

// tell fills in what depends on all pages, and the text. Pages come in the order in
// which they were learnt.
func (s *survey) tell(row *pageRow) error {
	number := s.number
	s.number++
	row.Boilerplate = []string{}
	t, err := s.next()
	if row.Text, row.Language, row.Score = t.text, t.language, t.score; err != nil || t.text == "" {
		return err
	}
	row.Boilerplate = s.blocks.Boilerplate(strings.Split(row.Text, "\n"))
	first, size := s.clusters.Of(number)
	if size < 2 {
		return nil
	}
	if first == number {
		s.first[number] = row.URL
	}
	row.Near, row.Nears = s.first[first], int32(size)
	return nil
}
