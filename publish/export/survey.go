package export

import (
	"encoding/gob"
	"strings"

	"github.com/klauspost/compress/zstd"

	"curtsy/htmlmeta"
	"curtsy/publish/corpus"
)

// survey collects what depends on all pages before the first row is written. Texts are spooled
// to a temporary file, so that each page is read once.
type survey struct {
	*job
	blocks   *corpus.Blocks
	clusters *corpus.Clusters
	first    map[int]string // the first page of each cluster, by the page's number
	number   int            // of the next page for tell

	file   *spool
	in     *zstd.Encoder
	learnt *gob.Encoder // writes to in
	out    *zstd.Decoder
	texts  *gob.Decoder // reads from out
}

func newSurvey(j *job) (*survey, error) {
	file, err := newSpool(j.dir())
	if err != nil {
		return nil, err
	}
	s := &survey{job: j, blocks: corpus.NewBlocks(), clusters: corpus.NewClusters(j.dir()),
		first: map[int]string{}, file: file}
	s.in, err = zstd.NewWriter(file, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(128<<10))
	s.learnt = gob.NewEncoder(s.in)
	return s, err
}

func (s *survey) close() {
	if s.out != nil {
		s.out.Close()
	}
	s.file.close()
	_ = s.clusters.Close()
}

// linesOf returns the displayable text of each block.
func linesOf(blocks []htmlmeta.Block) (lines []string) {
	for i := range blocks {
		if text := blocks[i].Shown(""); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// learn reads a page.
func (s *survey) learn(m *member) error {
	var t told
	if m.flags&flagText != 0 {
		if err := s.readPage(m.v, func(p htmlmeta.Page) { t = s.read(p) }); err != nil {
			return err
		}
	}
	if err := s.clusters.Add(t.Text); err != nil {
		return asDisk(err)
	}
	return s.learnt.Encode(t)
}

// told is what a page alone tells about itself, without the rest of the site.
type told struct {
	Text     string
	Language string // of its main text, ISO 639-3
	Score    float64
}

func (s *survey) read(p htmlmeta.Page) (t told) {
	lines := linesOf(blocksOf(p, s.o.Main))
	s.blocks.Add(lines)
	t.Text = strings.Join(lines, "\n")
	main := t.Text
	if !s.o.Main {
		main = joined(blocksOf(p, true))
	}
	t.Language, t.Score = corpus.Language(main)
	return t
}

// find completes the survey; then tell may be called.
func (s *survey) find() error {
	if err := s.clusters.Find(); err != nil {
		return asDisk(err)
	}
	if err := s.in.Close(); err != nil {
		return err
	}
	if _, err := s.file.rewind(); err != nil {
		return err
	}
	var err error
	s.out, err = zstd.NewReader(s.file.f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	s.texts = gob.NewDecoder(s.out)
	return err
}

// tell fills in the text of a row and what depends on all pages. Pages must come in the order
// of learn.
func (s *survey) tell(row *pageRow) error {
	number := s.number
	s.number++
	row.Boilerplate = []string{}
	var t told
	err := s.texts.Decode(&t)
	if row.Text, row.Language, row.Score = t.Text, t.Language, t.Score; err != nil || t.Text == "" {
		return asDisk(err)
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
