package export

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"curtsy/publish"
	"curtsy/publish/changes"
	"curtsy/publish/inventory"
	"curtsy/storage/crawllog"
)

// Dataset selects the table of a Parquet or JSONLZstd file.
type Dataset struct {
	Table   string // one of Tables; "" is the first
	Links   inventory.Options
	Changes changes.Options
}

// Tables are the tables of a Dataset:
//
//	pages     the pages that may be listed, in their current version, with their text
//	captures  the captures that may be shown, as in CDXJ
//	links     the links of each page, each target once, and their status
//	changes   the URLs that changed since a time
var Tables = []string{"pages", "captures", "links", "changes"}

// tables maps each table to the function that writes it.
var tables = map[string]func(*job) error{
	"pages": writePages, "captures": writeCaptures, "links": writeLinks, "changes": writeChanges,
}

func writeDataset(j *job) error {
	j.r.Table = cmp.Or(j.o.Data.Table, Tables[0])
	write := tables[j.r.Table]
	if write == nil {
		return fmt.Errorf("no table %q", j.r.Table)
	}
	j.r.card = newCard(j)
	if err := replaceable(cardName(j.out.name), j.o.Force, oursCard); err != nil {
		return err
	}
	return write(j)
}

// rowOctets is the approximate size of a row without its texts.
const rowOctets = 300

// writeRows writes the rows that give passes to put, each with the approximate size of its
// texts.
func writeRows[T any](j *job, give func(put func(row *T, size int) error) error) error {
	rows := jsonRows[T]
	if j.o.Format == Parquet {
		rows = parquetRows[T]
	}
	write, end, err := rows(j)
	if err != nil {
		return err
	}
	err = give(func(row *T, size int) error {
		j.r.Rows++
		return write(row, rowOctets+size)
	})
	return cmp.Or(err, end())
}

// jsonRows returns functions that write a row of JSON Lines in one Zstandard frame (RFC 8878), and
// its end.
func jsonRows[T any](j *job) (write func(row *T, size int) error, end func() error, err error) {
	z, err := zstd.NewWriter(j.w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, nil, err
	}
	w := bufio.NewWriterSize(z, 64<<10)
	return func(row *T, _ int) error {
		line, err := jsonLine(row)
		if err == nil {
			_, err = w.Write(line)
		}
		return err
	}, func() error { return cmp.Or(w.Flush(), z.Close()) }, nil
}

// writeCaptures writes a row for each capture that may be shown.
func writeCaptures(j *job) error {
	return writeRows(j, func(put func(*captureRow, int) error) error {
		return j.captures(func(m *member) error {
			row, err := captureOf(j.a, m)
			if err != nil {
				return err
			}
			return put(&row, 2*len(row.URL))
		})
	})
}

// writePages writes a row for each page that may be listed.
func writePages(j *job) error {
	chosen, err := j.choose()
	if err != nil {
		return err
	}
	defer chosen.places.Close()
	s, err := newSurvey(j)
	if err != nil {
		return err
	}
	defer s.close()
	if err := chosen.each(s.learn); err != nil {
		return err
	}
	if err := s.find(); err != nil {
		return err
	}
	return writeRows(j, func(put func(*pageRow, int) error) error {
		return chosen.each(func(m *member) error {
			row, err := pageOf(j.a, m, j.o.Now)
			if err == nil {
				err = s.tell(row)
			}
			if err != nil {
				return err
			}
			j.r.Pages++
			j.r.card.page(row, m.use)
			return put(row, 2*len(row.URL)+len(row.Text))
		})
	})
}

// writeLinks writes the links of the pages that may be listed.
func writeLinks(j *job) error {
	seed := maphash.MakeSeed()
	left := map[uint64]bool{} // pages that must not be published, by a hash of their URL
	links := j.o.Data.Links
	links.Visits = func(visits []*crawllog.Visit) {
		v, p := publish.CurrentPermit(visits, j.o.Now, j.a.VisitsAt)
		switch {
		case v == nil:
			return
		case !p.List:
			j.r.Withheld++
		case j.o.Consent.Admits(p.Usage):
			return
		}
		left[maphash.String(seed, v.URL)] = true
	}
	return writeRows(j, func(put func(*linkRow, int) error) error {
		return inventory.Links(j.ctx, j.a, links, func(from string, list []inventory.Link) error {
			if from == "" || left[maphash.String(seed, from)] {
				return nil
			}
			j.r.Pages++
			for _, l := range list {
				row := linkRow{from, l.To, l.Status, l.Broken, string(l.Verdict), l.Reason}
				if err := put(&row, len(row.To)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// writeChanges writes the changes that may be listed.
func writeChanges(j *job) error {
	return writeRows(j, func(put func(*changeRow, int) error) error {
		for c, err := range changes.Of(j.ctx, j.a, j.o.Data.Changes) {
			if err != nil {
				return err
			}
			if !c.Listed {
				j.r.Withheld++
				continue
			}
			if !j.o.Consent.Admits(c.Usage) {
				continue
			}
			row, size := changeOf(c)
			if err := put(row, size); err != nil {
				return err
			}
		}
		return nil
	})
}

// changeOf makes the row of a change, and returns the size of its texts.
func changeOf(c *changes.Change) (row *changeRow, size int) {
	row = &changeRow{URL: c.URL, Change: string(c.Kind), Title: c.Title, Now: c.Now.At.UTC(), Reason: c.Reason,
		Passages: []passage{}}
	if c.Was != nil {
		was := c.Was.At.UTC()
		row.Was = &was
	}
	for _, p := range c.Passages {
		row.Passages = append(row.Passages, passage{p.Was, p.Now})
		size += len(p.Was) + len(p.Now)
	}
	return row, size
}

type linkRow struct {
	From    string `parquet:"from" json:"from"`
	To      string `parquet:"to" json:"to"`
	Status  int    `parquet:"status" json:"status"` // of the target itself; 0: not requested
	Broken  bool   `parquet:"broken" json:"broken"`
	Verdict string `parquet:"verdict,dict" json:"verdict"`
	Reason  string `parquet:"reason,dict" json:"reason"`
}

type changeRow struct {
	URL      string     `parquet:"url" json:"url"`
	Change   string     `parquet:"change,dict" json:"change"`
	Title    string     `parquet:"title,optional" json:"title"`
	Was      *time.Time `parquet:"was,optional,timestamp(microsecond)" json:"was"`
	Now      time.Time  `parquet:"now,timestamp(microsecond)" json:"now"`
	Reason   string     `parquet:"reason,optional,dict" json:"reason"`
	Passages []passage  `parquet:"passages,list" json:"passages"`
}

type passage struct {
	Was string `parquet:"was" json:"was"`
	Now string `parquet:"now" json:"now"`
}

// oursDataset reports whether a file begins like a JSONLZstd table.
func oursDataset(_ string, head []byte) bool {
	z, err := zstd.NewReader(bytes.NewReader(head))
	if err != nil {
		return false
	}
	defer z.Close()
	var row [64]byte
	n, _ := io.ReadFull(z, row[:])
	return slices.ContainsFunc([]string{`{"url_surtkey":"`, `{"from":"`, `{"url":"`}, func(begin string) bool {
		return bytes.HasPrefix(row[:n], []byte(begin))
	})
}
