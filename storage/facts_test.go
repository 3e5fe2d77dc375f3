package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

const factsSegment = "curtsy-20260101000000-00000.warc.gz"

// manyFacts returns facts of n captures.
func manyFacts(n int) (list []fact) {
	for i := range n {
		list = append(list, fact{factKey{factsSegment, int64(1000 * (n - i)), uint64(i)},
			fmt.Appendf(nil, "facts of %d %s", i, strings.Repeat("x", i))})
	}
	return list
}

// factsOf opens an archive, calls do, and closes it.
func factsOf(t *testing.T, dir string, do func(*Archive)) {
	t.Helper()
	a, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.update(func(tx *bbolt.Tx) error { return putSegment(tx, factsSegment, segmentEntry{}) }); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, warcDir, factsSegment), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	do(a)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

func haveFacts(a *Archive, list []fact) (n int) {
	for _, f := range list {
		if b := a.factsAt(f.factKey); b != nil {
			if !bytes.Equal(b, f.text) {
				return -1
			}
			n++
		}
	}
	return n
}

func TestFactsAreKept(t *testing.T) {
	dir, list := t.TempDir(), manyFacts(2*fullCount+3)
	factsOf(t, dir, func(a *Archive) {
		a.keepFacts(list...)
		if n := haveFacts(a, list); n != len(list) {
			t.Errorf("%d of %d while they are written", n, len(list))
		}
	})
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if n := haveFacts(a, list); n != len(list) {
		t.Errorf("%d of %d", n, len(list))
	}
	other := list[3].factKey
	other.name++
	if a.factsAt(other) != nil {
		t.Error("those of another capture that was at the same place")
	}
	a.keepFacts(fact{other, []byte("of the other")})
	if string(a.factsAt(other)) != "of the other" || !bytes.Equal(a.factsAt(list[3].factKey), list[3].text) {
		t.Error("the facts of two captures at one place are not told apart")
	}
}

// A kill or a disk error may leave any prefix of a sidecar: complete frames are read, and so are those
// added later.
func TestTornFacts(t *testing.T) {
	dir, list := t.TempDir(), manyFacts(fullCount+5)
	factsOf(t, dir, func(a *Archive) { a.keepFacts(list...) })
	path := filepath.Join(dir, filepath.FromSlash(factsFile(factsSegment)))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := frameHead + int(binary.LittleEndian.Uint32(whole[12:])+binary.LittleEndian.Uint32(whole[16:]))
	for n := range len(whole) + 2 {
		if n%17 != 0 && n != first && n != first-1 && n < len(whole)-1 {
			continue
		}
		torn := bytes.Clone(whole[:min(n, len(whole))])
		if n > len(whole) { // an octet of the first frame
			torn[first/2] ^= 1
		}
		if err := os.WriteFile(path, torn, 0o644); err != nil {
			t.Fatal(err)
		}
		a, err := OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		switch {
		case n == len(whole):
			want = len(list)
		case n > len(whole):
			want = 5
		case n >= first:
			want = fullCount
		}
		if had := haveFacts(a, list); had != want {
			t.Errorf("of %d octets: %d facts, want %d", n, had, want)
		}
		if n%85 == 0 || n >= len(whole) {
			for _, f := range list {
				if a.factsAt(f.factKey) == nil {
					a.keepFacts(f)
				}
			}
			if had := haveFacts(a, list); had != len(list) {
				t.Errorf("of %d octets: %d facts after they were made again", n, had)
			}
			a.Close()
			if a, err = OpenRead(dir); err != nil {
				t.Fatal(err)
			}
			if had := haveFacts(a, list); had != len(list) {
				t.Errorf("of %d octets: %d facts, made again and read from the file", n, had)
			}
		}
		a.Close()
	}
}

// A process that is killed while it writes frames leaves the complete ones readable, and frames added
// later are read too.
func TestFactsAfterAKill(t *testing.T) {
	list, random := manyFacts(40*fullCount), rand.NewChaCha8([32]byte{})
	for i := range list {
		list[i].text = make([]byte, 300) // incompressible
		random.Read(list[i].text)
	}
	if dir := os.Getenv("CURTSY_TEST_FACTS"); dir != "" {
		factsOf(t, dir, func(a *Archive) {
			a.keepFacts(list...)
			<-t.Context().Done() // until it is killed
		})
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, octets := range []int64{1, 20_000, 60_000} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(factsFile(factsSegment)))
		c := exec.Command(os.Args[0], "-test.run=^TestFactsAfterAKill$")
		c.Env = append(os.Environ(), "CURTSY_TEST_FACTS="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for t.Context().Err() == nil {
			if st, err := os.Stat(path); err == nil && st.Size() >= octets {
				break
			}
			runtime.Gosched()
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		factsOf(t, dir, func(a *Archive) {
			had := haveFacts(a, list)
			if had < 0 {
				t.Errorf("killed after %d octets: other facts than were written", octets)
			}
			for _, f := range list {
				if a.factsAt(f.factKey) == nil {
					a.keepFacts(f)
				}
			}
			if n := haveFacts(a, list); n != len(list) {
				t.Errorf("killed after %d octets, %d facts: %d of %d after they were added again", octets,
					had, n, len(list))
			}
		})
	}
}

func TestFactsThatCannotBeWritten(t *testing.T) {
	list := manyFacts(3)
	for says, spoil := range map[string]func(dir string) error{
		"a link in the place of the directory": func(dir string) error {
			return os.Symlink(t.TempDir(),
				filepath.Join(dir, factsDir))
		},
		"a file in the place of the directory": func(dir string) error {
			return os.WriteFile(filepath.Join(dir,
				factsDir), nil, 0o644)
		},
		"a directory in the place of the file": func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, filepath.FromSlash(factsFile(factsSegment))), 0o755)
		},
		"a link in the place of the file": func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, factsDir), 0o755); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(t.TempDir(), "x"),
				filepath.Join(dir, filepath.FromSlash(factsFile(factsSegment))))
		},
	} {
		dir := t.TempDir()
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		factsOf(t, dir, func(a *Archive) {
			if a.keepFacts(list...); haveFacts(a, list) != 0 {
				t.Errorf("%s: facts were kept", says)
			}
		})
	}
}

func TestSidecarsOfUnknownSegmentsGo(t *testing.T) {
	dir := t.TempDir()
	factsOf(t, dir, func(a *Archive) { a.keepFacts(manyFacts(3)...) })
	stray := filepath.Join(dir, factsDir, "curtsy-20250101000000-00000.facts")
	if err := os.WriteFile(stray, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	factsOf(t, dir, func(a *Archive) {
		if n := haveFacts(a, manyFacts(3)); n != 3 {
			t.Errorf("%d of 3 facts are left", n)
		}
	})
	if _, err := os.Lstat(stray); err == nil {
		t.Error("a sidecar without its segment is still there")
	}
}

// FuzzSidecar: whatever a sidecar contains, reading it does not panic, and facts added to it are found.
func FuzzSidecar(f *testing.F) {
	a := &Archive{}
	frame := a.packFrame(manyFacts(3))
	f.Add(frame)
	f.Add(append(bytes.Clone(frame), frame[:40]...))
	f.Add(append(bytes.Clone(frame[:frameHead]), bytes.Repeat([]byte{0xff}, 40)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		a, list := &Archive{}, manyFacts(5)
		a.opts.defaults()
		s := &sidecar{file: file, appends: true}
		a.facts.all = map[string]*sidecar{factsSegment: s}
		s.readPlaces()
		for _, f := range manyFacts(3) {
			a.factsAt(f.factKey)
		}
		a.keepFacts(list...)
		a.flushFacts(s)
		if n := haveFacts(a, list[3:]); n != 2 {
			t.Errorf("%d of 2", n)
		}
		a.closeFacts()
	})
}
