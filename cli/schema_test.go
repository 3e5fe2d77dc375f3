package cli

import (
	"archive/zip"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/internal/testkit/crawltest"
)

// The output for an archive of an earlier schema is the same whether it comes from its
// segments, because facts/ is missing (5) or of an earlier version (6, 7), or from the facts
// that the first command makes.
func TestOutletsOfAnEarlierSchema(t *testing.T) {
	t.Parallel()
	for schema := 5; schema <= 7; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			t.Parallel()
			dir := crawltest.Unpacked(t, fmt.Sprintf("../crawler/testdata/schema%d.tar.gz", schema))
			first := outlets(t, dir)
			if again := outlets(t, dir); !maps.Equal(first, again) {
				t.Error("with the facts that the first commands made:", differing(first, again))
			}
			if err := os.RemoveAll(filepath.Join(dir, "facts")); err != nil {
				t.Fatal(err)
			}
			if again := outlets(t, dir); !maps.Equal(first, again) {
				t.Error("with facts made again:", differing(first, again))
			}
			if made, _ := filepath.Glob(filepath.Join(dir, "facts", "*.facts")); len(made) == 0 ||
				strings.Count(first["links"], "\n") < 10 || first["x.md"] == "" || len(first) < 20 {
				t.Errorf("facts %q, %d files", made, len(first))
			}
			said(t, "verify", dir)
		})
	}
}

// outlets returns the outputs for an archive by command or file name; for a WACZ the hashes of
// its entries, except those that contain the time of creation.
func outlets(t *testing.T, dir string) map[string]string {
	t.Helper()
	all, out := map[string]string{}, t.TempDir()
	all["links"], _ = said(t, "links", dir, "--format", "csv")
	all["list"], _ = said(t, "list", dir, "--json")
	all["audit"], _ = said(t, "audit", dir, "--json")
	said(t, "mirror", dir, filepath.Join(out, "copy"))
	for _, name := range []string{"x.md", "x.txt", "x.jsonl", "x.csv", "x.cdxj", "x.crawl.log", "x.wacz"} {
		said(t, "export", dir, filepath.Join(out, name))
	}
	said(t, "report", dir, "-o", filepath.Join(out, "report.html"))
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(out, path)
		if strings.HasSuffix(name, ".wacz") {
			return zipped(path, func(f *zip.File) { all[name+"/"+f.Name] = fmt.Sprint(f.CRC32) })
		}
		b, err := os.ReadFile(path)
		all[name] = made.ReplaceAllString(string(b), "$1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func zipped(path string, each func(*zip.File)) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "datapackage") {
			each(f)
		}
	}
	return z.Close()
}

func differing(a, b map[string]string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	return names
}
