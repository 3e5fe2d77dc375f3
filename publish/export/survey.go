package export

import (
	"curtsy/htmlmeta"
	"curtsy/publish/corpus"
	"curtsy/storage"
)

// survey is what is known of the texts of all pages before a row is written: each is
// read twice.
type survey struct {
	a        *storage.Archive
	blocks   *corpus.Blocks
	clusters *corpus.Clusters
	first    map[int]string // by number: the first page of each cluster
	told     int            // pages
}

func newSurvey(a *storage.Archive, dir string) *survey {
	return &survey{a: a, blocks: corpus.NewBlocks(), clusters: corpus.NewClusters(dir), first: map[int]string{}}
}

func (s *survey) close() { _ = s.clusters.Close() }

// linesOf are the texts of blocks that may be shown.
func linesOf(blocks []htmlmeta.Block) (lines []string) {
	for i := range blocks {
		if text := blocks[i].Shown(); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// learn reads a page for the first time.
func (s *survey) learn(m *member) error {
	text := ""
	if m.flags&flagText != 0 {
		blocks, err := textOf(s.a, m.v)
		if err != nil {
			return err
		}
		s.blocks.Add(linesOf(blocks))
		text = joined(blocks)
	}
	if err := s.clusters.Add(text); err != nil {
		return &DiskError{err}
	}
	return nil
}

// tell fills in what depends on all pages, and the text. Pages come in the order in
// which they were learnt.
func (s *survey) tell(m *member, row *pageRow) error {
	number := s.told
	s.told++
	row.Boilerplate = []string{}
	if m.flags&flagText == 0 {
		return nil
	}
	blocks, err := textOf(s.a, m.v)
	if err != nil {
		return err
	}
	row.Text = joined(blocks)
	row.Language, row.Score = corpus.Language(row.Text)
	row.Boilerplate = s.blocks.Boilerplate(linesOf(blocks))
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
