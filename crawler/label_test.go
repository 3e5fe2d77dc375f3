package crawler_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler/revisit"
	"curtsy/internal/testkit/sitetest"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Records are labelled with SHA-1 if asked for; payloads are still compared by SHA-256, and an archive
// with both labels is continued and rebuilt.
func TestRecordsLabelledWithSHA1(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"from the beginning": warc.LabelSHA1, "from a second run on": ""} {
		s := varied(t)
		o := options(s.URL + "/")
		dir := filepath.Join(t.TempDir(), "archive")
		o.Archive.Label, o.Limits.Pages = first, 3
		crawl(t, dir, o)
		o.Archive.Label, o.Limits.Pages = warc.LabelSHA1, 0
		crawl(t, dir, o)
		o.Round = &revisit.Options{}
		crawl(t, dir, o) // the same bytes: revisits with both labels
		o.Round = nil

		kinds := map[string]int{}
		list := records(t, dir)
		checkRecords(t, list)
		for _, r := range list {
			for _, field := range []string{"WARC-Block-Digest", "WARC-Payload-Digest"} {
				algorithm, _, _ := strings.Cut(r.fields[field], ":")
				kinds[algorithm+" "+r.kind()]++
			}
		}
		if kinds["sha1 revisit"] < 4 || kinds["sha1 request"] < 20 ||
			(kinds["sha256 response"]+kinds["sha256 request"] > 0) != (first == "") {
			t.Errorf("%s: labels %v", name, kinds)
		}
		visits := func() []string {
			return slices.DeleteFunc(told(t, dir), func(l string) bool { return !strings.Contains(l, " visit ") })
		}
		want := visits()
		labelled := labels(t, dir)
		if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
			t.Fatal(err)
		}
		rebuilt(t, dir, o)
		diff(t, visits(), want)
		if again := labels(t, dir); again != labelled || again == 0 {
			t.Errorf("%s: %d labels are rebuilt, want %d", name, again, labelled)
		}
	}
}

// labels counts the visits labelled with SHA-1 and checks that every label agrees with its record.
func labels(t *testing.T, dir string) (n int) {
	t.Helper()
	of := map[string]string{}
	for _, r := range records(t, dir) {
		of[strings.Trim(r.fields["WARC-Record-ID"], "<>")] = r.fields["WARC-Payload-Digest"]
	}
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		if v.HasBody() && v.Labelled() != of[v.Record.ID] {
			t.Errorf("%s: crawl.db has %s, the record %s", v.URL, v.Labelled(), of[v.Record.ID])
		}
		if _, ok := warc.ParseDigest(v.Digest); v.HasBody() && !ok {
			t.Errorf("%s is compared by %q", v.URL, v.Digest)
		}
		if v.Record != nil && v.Record.Label != "" {
			n++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}
