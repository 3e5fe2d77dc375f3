package export

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"os"
)

// groupOctets is the approximate uncompressed size of a row group. Its compressed pages are
// held in memory until the group is complete.
const groupOctets = 48 << 20

// parquetRows writes the rows of an Apache Parquet file.
type parquetRows[T any] struct {
	w    *parquet.GenericWriter[T]
	one  [1]T
	size int // of the current row group
}

func newParquet[T any](j *job) *parquetRows[T] {
	return &parquetRows[T]{w: parquet.NewGenericWriter[T](j.out,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}),
		parquet.CreatedBy("curtsy", j.o.Software, ""),
		parquet.KeyValueMetadata("curtsy.table", j.r.Table),
		parquet.KeyValueMetadata("curtsy.seed", j.o.Seed.String()),
		parquet.PageBufferSize(1<<20),
		parquet.SkipPageBounds("text"), // bounds would repeat two complete texts
	)}
}

func (p *parquetRows[T]) write(row *T, size int) error {
	p.one[0] = *row
	if _, err := p.w.Write(p.one[:]); err != nil {
		return err
	}
	if p.size += size; p.size < groupOctets {
		return nil
	}
	p.size = 0
	return p.w.Flush()
}

func (p *parquetRows[T]) close() error { return p.w.Close() }

// oursParquet reports whether a file is a Parquet export of this program, by its footer.
func oursParquet(path string, _ []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false
	}
	p, err := parquet.OpenFile(f, st.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return false
	}
	_, ok := p.Lookup("curtsy.table")
	return ok
}
