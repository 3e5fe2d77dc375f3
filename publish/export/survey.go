package export

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"curtsy/htmlmeta"
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
	told     int            // pages

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
	s := &survey{a: a, main: main, blocks: corpus.NewBlocks(), clusters: corpus.NewClusters(dir), first: map[int]string{}, file: file}
	s.in, err = zstd.NewWriter(file, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10))
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
	text := ""
	if m.flags&flagText != 0 {
		blocks, err := textOf(s.a, m.v, s.main)
		if err != nil {
			return err
		}
		lines := linesOf(blocks)
		s.blocks.Add(lines)
		text = strings.Join(lines, "\n")
	}
	if err := s.clusters.Add(text); err != nil {
		return &DiskError{err}
	}
	s.buf = append(binary.AppendUvarint(s.buf[:0], uint64(len(text))), text...)
	_, err := s.in.Write(s.buf)
	return err
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

// next is the text of the next page.
func (s *survey) next() (string, error) {
	n, err := binary.ReadUvarint(s.texts)
	if err != nil {
		return "", &DiskError{err}
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(s.texts, text); err != nil {
		return "", &DiskError{err}
	}
	return string(text), nil
}

// tell fills in what depends on all pages, and the text. Pages come in the order in
// which they were learnt.
func (s *survey) tell(row *pageRow) (err error) {
	number := s.told
	s.told++
	row.Boilerplate = []string{}
	if row.Text, err = s.next(); err != nil || row.Text == "" {
		return err
	}
	row.Language, row.Score = corpus.Language(row.Text)
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
