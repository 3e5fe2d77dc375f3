package crawler_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"curtsy/crawler/fetch"
)

const mega = 1 << 20

// large returns a body of about n octets that contains the mark throughout, with meta at offset at.
func large(n int, mark, meta string, at int) string {
	unit := mark + strings.Repeat(" lorem", 20) + "\n"
	var b strings.Builder
	b.Grow(n + len(unit))
	b.WriteString("<!DOCTYPE html><title>large</title>")
	for b.Len() < at {
		b.WriteString(unit)
	}
	b.WriteString(meta)
	for b.Len() < n {
		b.WriteString(unit)
	}
	return b.String()
}

const noarchiveMeta = `<meta name=robots content=noarchive>`

// inFiles looks for a text in every regular file below the directories and, where the system shows
// them, in the unnamed files that this process has open.
func inFiles(mark string, dirs ...string) (where []string) {
	var files []string
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return nil
		})
	}
	open, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range open {
		path := "/proc/self/fd/" + fd.Name()
		if to, err := os.Readlink(path); err == nil && strings.HasSuffix(to, " (deleted)") {
			files = append(files, path)
		}
	}
	for _, path := range files {
		if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
			continue
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(mark)) {
			where = append(where, path)
		}
	}
	return where
}

// A body that may not be archived is at no time in any file, named or unnamed; one that may be and is
// too large for memory is kept whole.
func TestNoArchiveIsInNoFile(t *testing.T) {
	long(t)
	dir, tmp := filepath.Join(t.TempDir(), "archive"), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var mu sync.Mutex
	sent := map[string]int{}
	var spilled atomic.Bool
	slowly := func(kind, header, body string) page {
		return page{serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			if header != "" {
				w.Header().Set("X-Robots-Tag", header)
			}
			for off := 0; off < len(body); off += 4 * mega {
				n, err := io.WriteString(w, body[off:min(off+4*mega, len(body))])
				mu.Lock()
				sent[r.URL.Path] += n
				mu.Unlock()
				if strings.HasSuffix(r.URL.Path, "/kept") && len(inFiles("kept-text")) > 0 {
					spilled.Store(true)
				}
				if where := inFiles(unkept, dir, tmp); len(where) > 0 {
					t.Errorf("%s after %d octets: in %v", r.URL.Path, off, where)
				}
				if err != nil {
					return
				}
			}
		}}
	}
	kept := large(36*mega, "kept-text", "", 0)
	picture := large(12*mega, "kept-image", "", 0)
	pages := map[string]page{
		"/head":       slowly("text/html", "noarchive", large(40*mega, unkept, "<a href=/linked>", 0)),
		"/ours":       slowly("text/html", "curtsy: noarchive", large(6*mega, unkept, "", 0)),
		"/head.png":   slowly("image/png", "noarchive", large(40*mega, unkept, "", 0)),
		"/small.png":  slowly("image/png", "noarchive", large(10_000, unkept, "", 0)),
		"/meta":       slowly("text/html", "", large(40*mega, unkept, noarchiveMeta, 0)),
		"/meta-late":  slowly("text/html", "", large(18*mega, unkept, noarchiveMeta, 15*mega)),
		"/meta-small": slowly("text/html", "", large(mega, unkept, noarchiveMeta, 0)),
		"/kept":       slowly("text/html", "", kept),
		"/kept.png":   slowly("image/png", "", picture),
		"/linked":     html("linked"),
	}
	list := []string{}
	for target := range pages {
		if target != "/linked" {
			list = append(list, target)
		}
	}
	pages["/"] = links(list...)
	s := newSite(t, pages)
	o := options(s.URL + "/")
	o.Pace.Concurrency = 4
	crawl(t, dir, o)
	got := rows(t, dir)
	for target := range pages {
		want := "response"
		if strings.Contains(target, "head") || strings.Contains(target, "meta") || target == "/ours" ||
			target == "/small.png" {
			want = "withheld"
		}
		if row := got[target]; row.State != "fetched" || row.Kept != want {
			t.Errorf("%s: %s, %q; want %s", target, row.State, row.Kept, want)
		}
	}
	if runtime.GOOS == "linux" && !spilled.Load() {
		t.Error("no file was seen that holds a body which may be kept: the search sees nothing")
	}
	if n := sent["/head.png"]; n > 24*mega { // octets in socket buffers are not counted as read
		t.Errorf("%d octets were taken of a picture that is not kept", n)
	}
	if all := warcText(t, dir); !strings.Contains(all, kept) || !strings.Contains(all, picture) {
		t.Error("what may be kept is not kept whole")
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left in $TMPDIR: %v", left)
	}
}

// A crawl that is killed in the middle of a body leaves nothing of the body, whether it was in memory
// or in a file.
func TestKilledInABody(t *testing.T) {
	long(t)
	for _, c := range []struct{ name, kind, meta string }{{"document", "text/html", noarchiveMeta},
		{"picture", "image/png", ""}} {
		t.Run(c.name, func(t *testing.T) {
			dir, tmp := filepath.Join(t.TempDir(), "archive"), t.TempDir()
			body := large(40*mega, unkept, c.meta, 0)
			half, gone := make(chan bool), make(chan bool)
			s := newSite(t, map[string]page{"/": {serve: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				n := 30 * mega
				if c.meta != "" {
					n = 14 * mega
				}
				io.WriteString(w, body[:n])
				half <- true
				<-gone
			}}})
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "CURTSY_TEST_ARCHIVE="+dir, "CURTSY_TEST_SEED="+s.URL+"/", "TMPDIR="+tmp)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-half
			cmd.Process.Kill()
			cmd.Wait()
			close(gone)
			if where := inFiles(unkept, dir, tmp); len(where) > 0 {
				t.Errorf("in %v", where)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "spill-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// If there is no room to store a body, its URL fails.
func TestNoRoomForABody(t *testing.T) {
	long(t)
	t.Parallel()
	dir := t.TempDir()
	s := newSite(t, map[string]page{"/": links("/large.png", "/small"), "/small": html("small"),
		"/large.png": {header: []string{"Content-Type: image/png"}, body: large(16*mega, "x", "", 0)}})
	o := options(s.URL + "/")
	o.Fetch.Spill = func() (fetch.File, error) {
		return nil,
			&os.PathError{Op: "write", Path: dir, Err: errors.New("full")}
	}
	crawl(t, dir, o)
	got := rows(t, dir)
	if row := got["/large.png"]; row.State != "failed" || !strings.Contains(row.Rule, "local") {
		t.Errorf("%+v", row)
	}
	if got["/small"].State != "fetched" {
		t.Error("the crawl did not go on")
	}
}
