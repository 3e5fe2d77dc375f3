package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
)

// stores runs f with a store of each kind; S3 only where a server is installed.
func stores(t *testing.T, f func(t *testing.T, open func() Store)) {
	t.Run("directory", func(t *testing.T) {
		dir := t.TempDir()
		f(t, func() Store { return must(t)(Open(t.Context(), dir)) })
	})
	t.Run("s3", func(t *testing.T) {
		place := gateway(t)
		f(t, func() Store { return must(t)(Open(t.Context(), place)) })
	})
}

func must(t *testing.T) func(Store, error) Store {
	return func(s Store, err error) Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// gateway starts an S3 server over a directory and returns the URL of a bucket.
func gateway(t *testing.T) string {
	t.Helper()
	bin, err := exec.LookPath("versitygw")
	if err != nil {
		t.Skip("versitygw is not installed: S3 is not tested")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bucket"), 0o755); err != nil {
		t.Fatal(err)
	}
	address := freePort(t)
	t.Setenv("ROOT_ACCESS_KEY", "tester")
	t.Setenv("ROOT_SECRET_KEY", "testing-secret")
	c := exec.Command(bin, "--port", address, "posix", dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	t.Setenv("AWS_ACCESS_KEY_ID", "tester")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "testing-secret")
	place := "s3://bucket/archives?region=us-east-1&endpoint=http://" + address
	for range 100 {
		if _, err = Open(t.Context(), place); err == nil {
			return place
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Skipf("versitygw does not serve here: %v", err)
	return ""
}

func section(s string) *io.SectionReader {
	return io.NewSectionReader(strings.NewReader(s), 0, int64(len(s)))
}

func TestASwapHoldsItsCondition(t *testing.T) {
	stores(t, func(t *testing.T, open func() Store) {
		s, ctx := open(), t.Context()
		if _, _, err := s.Get(ctx, "a/M"); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		tag, err := s.Swap(ctx, "a/M", []byte("one"), "")
		if err != nil {
			t.Fatal(err)
		}
		old := tag
		for i := range 5 {
			if tag, err = s.Swap(ctx, "a/M", fmt.Appendf(nil, "more %d", i), tag); err != nil {
				t.Fatal(err)
			}
		}
		for what, condition := range map[string]string{"that there is none": "", "of an old tag": old,
			"of no tag": "x"} {
			if _, err := s.Swap(ctx, "a/M", []byte("late"), condition); !errors.Is(err, ErrConflict) {
				t.Errorf("the condition %s: got %v, want ErrConflict", what, err)
			}
		}
		b, now, err := s.Get(ctx, "a/M")
		if err != nil || string(b) != "more 4" || now != tag {
			t.Errorf("got %q with tag %q, %v; want the last, with %q", b, now, err, tag)
		}
		if err := s.Remove(ctx, "a/M"); err != nil {
			t.Error(err)
		}
		if _, _, err := s.Get(ctx, "a/M"); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	})
}

// Concurrent increments of one object lose no update, each through a store of its own, as on
// several machines.
func TestSwapsAreNotLost(t *testing.T) {
	stores(t, func(t *testing.T, open func() Store) {
		var writers sync.WaitGroup
		var won atomic.Int64
		for range 8 {
			s := open()
			writers.Go(func() {
				for range 10 {
					b, tag, err := s.Get(t.Context(), "n")
					if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrConflict) {
						t.Error(err)
						return
					}
					_, err = s.Swap(t.Context(), "n", append(b, 'x'), tag)
					switch {
					case err == nil:
						won.Add(1)
					case !errors.Is(err, ErrConflict):
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		b, _, err := open().Get(t.Context(), "n")
		if err != nil || int64(len(b)) != won.Load() || len(b) < 10 {
			t.Errorf("%d swaps succeeded, %d are there, %v", won.Load(), len(b), err)
		}
	})
}

func TestObjectsAreListedAndRead(t *testing.T) {
	stores(t, func(t *testing.T, open func() Store) {
		s, ctx := open(), t.Context()
		for _, key := range []string{"a/warc/1", "a/warc/2", "a/db/e1-1.zst", "ab/warc/3"} {
			if err := s.Put(ctx, key, section(key)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Put(ctx, "a/warc/1", section("short")); err != nil { // objects are written once: the first stays
			t.Error(err)
		}
		var got []string
		for key, err := range s.List(ctx, "a/warc/") {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, key)
		}
		if strings.Join(got, ", ") != "a/warc/1, a/warc/2" {
			t.Errorf("listed %q", got)
		}
		r, n, err := s.Open(ctx, "a/warc/1")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if b, err := io.ReadAll(r); err != nil || n != 8 || string(b) != "a/warc/1" {
			t.Errorf("read %q of %d, %v", b, n, err)
		}
		if _, _, err := s.Open(ctx, "a/warc/9"); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		if err := s.Remove(ctx, "a/warc/9"); err != nil {
			t.Error(err)
		}
	})
}

// A store that ignores conditional writes is refused before anything is stored in it.
func TestAStoreWithoutConditionsIsRefused(t *testing.T) {
	if err := probe(t.Context(), &careless{}); err == nil || !strings.Contains(err.Error(), "If-None-Match") {
		t.Errorf("got %v", err)
	}
}

type careless struct{ Store }

func (*careless) Swap(context.Context, string, []byte, string) (string, error) { return "tag", nil }
func (*careless) Remove(context.Context, string) error                         { return nil }

func TestCredentialsAreNoPartOfTheURL(t *testing.T) {
	_, err := Open(t.Context(), "s3://key:secret@bucket/prefix")
	if err == nil || strings.Contains(err.Error(), "secret@") {
		t.Errorf("got %v", err)
	}
}

// A write whose answer was lost is recognized as our own.
func TestASwapWhoseAnswerIsLost(t *testing.T) {
	s := &deaf{Store: must(t)(newDirStore(t))}
	tag, err := swap(t.Context(), s, "M", []byte("mine"), "")
	if err != nil || tag == "" {
		t.Fatalf("got %q, %v", tag, err)
	}
	if _, err := s.Store.Swap(t.Context(), "M", []byte("another's"), tag); err != nil {
		t.Fatal(err)
	}
	if _, err := swap(t.Context(), s, "M", []byte("mine again"), tag); !errors.Is(err, ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	b, _, _ := s.Get(t.Context(), "M")
	if !bytes.Equal(b, []byte("another's")) {
		t.Errorf("got %q", b)
	}
}

func newDirStore(t *testing.T) (Store, error) { return newDir(t.TempDir()) }

// deaf writes, but reports the answer as lost.
type deaf struct{ Store }

func (d *deaf) Swap(ctx context.Context, key string, data []byte, tag string) (string, error) {
	_, err := d.Store.Swap(ctx, key, data, tag)
	return "", errors.Join(errors.New("connection reset"), err)
}

// An unreachable store is retried; one that refuses is not.
func TestAStoreThatIsAway(t *testing.T) {
	unit := minio.DefaultRetryUnit
	minio.DefaultRetryUnit = time.Millisecond // for the retries of the client itself
	t.Cleanup(func() { minio.DefaultRetryUnit = unit })
	t.Setenv("AWS_ACCESS_KEY_ID", "tester")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "testing-secret")
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer refuses.Close()
	for address, away := range map[string]bool{"http://" + freePort(t): true, refuses.URL: false} {
		ctx, cancel := context.WithCancel(t.Context())
		waited := 0
		_, err := OpenOnceThere(ctx, "s3://bucket/fleet?region=us-east-1&endpoint="+address,
			func(error) { waited++; cancel() })
		if err == nil || (waited == 1) != away {
			t.Errorf("%s: waited %d times, %v", address, waited, err)
		}
		cancel()
	}
}

// busyStore refuses the first conditional writes although their condition holds.
type busyStore struct {
	Store
	left int
}

func (b *busyStore) Swap(ctx context.Context, key string, data []byte, tag string) (string, error) {
	if b.left > 0 {
		b.left--
		return "", ErrConflict
	}
	return b.Store.Swap(ctx, key, data, tag)
}

func TestARefusalWithoutACauseIsTriedAgain(t *testing.T) {
	d, err := newDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &busyStore{Store: d, left: 2}
	tag, err := swap(t.Context(), b, "x", []byte("1"), "")
	if err != nil || b.left != 0 {
		t.Fatalf("a new object: %v, %d refusals left", err, b.left)
	}
	b.left = 1
	if tag, err = swap(t.Context(), b, "x", []byte("2"), tag); err != nil {
		t.Fatalf("one that is there: %v", err)
	}
	b.left = 100
	if _, err = swap(t.Context(), b, "x", []byte("3"), tag); !errors.Is(err, ErrConflict) || b.left < 90 {
		t.Errorf("it never ends: %v, %d refusals left", err, b.left)
	}
}
