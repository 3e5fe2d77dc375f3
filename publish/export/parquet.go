package export

import (
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// groupOctets is the approximate uncompressed size of a row group. Its compressed pages are
// held in memory until the group is complete.
const groupOctets = 48 << 20

// parquetRows returns functions that write a row of an Apache Parquet file, and its end.
func parquetRows[T any](j *job) (write func(row *T, size int) error, end func() error, err error) {
	w := parquet.NewGenericWriter[T](j.out,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}),
		parquet.CreatedBy("curtsy", j.o.Software, ""),
		parquet.KeyValueMetadata("curtsy.table", j.r.Table),
		parquet.KeyValueMetadata("curtsy.seed", j.o.Seed.String()),
		parquet.PageBufferSize(1<<20),
		parquet.SkipPageBounds("text"), // bounds would repeat two complete texts
	)
	group := 0 // size of the current row group
	return func(row *T, size int) error {
		if _, err := w.Write([]T{*row}); err != nil {
			return err
		}
		if group += size; group < groupOctets {
			return nil
		}
		group = 0
		return w.Flush()
	}, w.Close, nil
}

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
