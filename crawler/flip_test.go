package crawler_test

import (
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/verify"
	"curtsy/storage/warc"
)

// places returns offsets in a segment of different kinds: in the warcinfo record, a record in the
// middle and the last one, for each part of the gzip member and of its content.
func places(t *testing.T, segment string) map[string]int64 {
	t.Helper()
	f, err := os.Open(segment)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := warc.NewReader(f, 0)
	var starts []int64
	for {
		if _, err := w.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, w.Offset())
	}
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	starts = append(starts, st.Size())
	list := map[string]int64{}
	n := len(starts) - 1
	for name, i := range map[string]int{"warcinfo": 0, "first": 1, "second": 2, "middle": n / 2, "next": n/2 + 1,
		"after": n/2 + 2, "last": n - 1} {
		from, to := starts[i], starts[i+1]
		for part, at := range map[string]int64{"magic": from, "method": from + 2, "flags": from + 3,
			"first octet": from + 10, "early": from + 14,
			"half": (from + to) / 2, "late": to - 12, "sum": to - 8, "sum's end": to - 5, "size": to - 4,
			"end": to - 1} {
			list[name+" record, "+part] = at
		}
	}
	return list
}

// chosen reports whether a case runs when not all do: a fixed one in sixteen. With
// CURTSY_TEST_FLIPS=more, as in CI, every case runs.
func chosen(name string) bool {
	h := fnv.New32a()
	io.WriteString(h, name)
	return os.Getenv("CURTSY_TEST_FLIPS") == "more" || h.Sum32()%16 == 0
}

// One flipped octet anywhere in a segment: verify names it, repair keeps everything else, and resume
// fetches only that visit again.
func TestFlippedOctetsInASegment(t *testing.T) {
	t.Parallel()
	s := small(t)
	base := crawled(t, s)
	name := filepath.Base(segments(t, base)[0])
	for place, at := range places(t, filepath.Join(base, "warc", name)) {
		if !chosen(place) {
			continue
		}
		t.Run(place, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "archive")
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "warc", name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[at] ^= 0x5a
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			report, err := verify.Archive(dir, nil)
			if err != nil || len(report.Problems) == 0 {
				t.Fatalf("offset %d: verify finds nothing (%v)", at, err)
			}
			for _, p := range report.Problems {
				if p.File != filepath.Join("warc", name) || p.What == "" {
					t.Errorf("verify: %+v", p)
				}
			}
			if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatalf("repair: %v", err)
			}
			check(t, dir)
			before := len(s.requests())
			if r := crawl(t, dir, options(s.URL+"/")); r.Ending != crawler.Done {
				t.Errorf("resume: %v, %s", r.Ending, r.Why)
			}
			asked := s.requests()[before:]
			again := 0
			for _, target := range asked {
				if target != "/robots.txt" {
					again++
				}
			}
			if again > 1 {
				t.Errorf("asked for %v again, want one visit at most", asked)
			}
			now := rows(t, dir)
			for target := range s.pages {
				if target != "/private" && now[target].Kept == "" {
					t.Errorf("%s is not kept: %v", target, fmt.Sprint(now[target]))
				}
			}
		})
	}
}
