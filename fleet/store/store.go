// Package store stores the archives of a fleet, which move between machines. A store has
// objects in an S3 bucket or a shared directory. For each site:
//
//	SITE/MANIFEST                 describes the archive; written by compare-and-swap
//	SITE/warc/NAME                sealed segments, written once; other tools may read them
//	SITE/tail/NAME/OFFSET+SIZE.eEPOCH-SEQ   pieces of the segment that is being written
//	SITE/db/eEPOCH-SEQ.zst        crawl.db as of one commit, or its changes since another
//
// An owner claims a site by raising the epoch in its manifest. The previous owner then fails at
// its next save with ErrFenced, and drops what it has. So a manifest never mixes the work of two
// owners, and names only objects that existed before it.
package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"
)

// Errors of a store.
var (
	ErrNotFound = errors.New("not in the store")
	// ErrConflict: the object is not in the required state.
	ErrConflict = errors.New("changed by another")
	// ErrAway: the store does not respond, or is temporarily unable to.
	ErrAway = errors.New("the store is unreachable")
)

// Store stores objects by key, a path of plain names. It is safe for concurrent use.
type Store interface {
	// Get reads a small object, and the tag of its version.
	Get(ctx context.Context, key string) (data []byte, tag string, err error)
	// Swap writes a small object if it still has the tag or, with an empty tag, if it does not
	// exist; otherwise it returns ErrConflict. After any other error it is unknown whether the
	// object was written.
	Swap(ctx context.Context, key string, data []byte, tag string) (newTag string, err error)
	// Put writes an object that is never swapped, from a file or a part of it.
	Put(ctx context.Context, key string, body *io.SectionReader) error
	// Open opens an object for reading, and returns its size.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// List lists the keys that begin with prefix, unordered.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Remove removes an object, if it exists.
	Remove(ctx context.Context, key string) error
}

// Open opens the store at a place: s3://BUCKET/PREFIX, or a directory. It rejects one that
// ignores the conditions of writes.
func Open(ctx context.Context, place string) (Store, error) {
	s, err := at(place)
	if err != nil {
		return nil, err
	}
	if err := probe(ctx, s); err != nil {
		return nil, fmt.Errorf("store %s: %w", place, err)
	}
	_, local := s.(*dirStore)
	return &guarded{Store: s, local: local}, nil
}

// OpenOnceThere is Open for a store that may be unreachable, as after a power failure: it
// retries until the store responds. waits is called once before the first wait.
func OpenOnceThere(ctx context.Context, place string, waits func(error)) (Store, error) {
	for first := true; ; first = false {
		s, err := Open(ctx, place)
		if !errors.Is(err, ErrAway) {
			return s, err
		}
		if first {
			waits(err)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(tryAgain):
		}
	}
}

// tryAgain is the interval of these retries.
const tryAgain = 2 * time.Second

func at(place string) (Store, error) {
	u, err := url.Parse(place)
	if err != nil || !strings.Contains(place, "://") {
		return newDir(place)
	}
	switch u.Scheme {
	case "s3":
		return newS3(u)
	case "file":
		return newDir(u.Path)
	}
	return nil, fmt.Errorf("store %s: expected s3://BUCKET/PREFIX or a directory", place)
}

// probe checks that the store enforces conditions: on a server that ignores them, two owners
// could write the same manifest.
func probe(ctx context.Context, s Store) error {
	key := ".probe/" + rand.Text()
	tag, err := swap(ctx, s, key, []byte("1"), "") // with retries if the response is lost
	if err != nil {
		return err
	}
	defer s.Remove(ctx, key) //nolint:errcheck // it is in nobody's way
	if _, err := s.Swap(ctx, key, []byte("2"), ""); !errors.Is(err, ErrConflict) {
		return fmt.Errorf("it does not honour If-None-Match (result: %v), "+
			"so it cannot hold archives for several machines", err)
	}
	if _, err := swap(ctx, s, key, []byte("3"), tag); err != nil {
		return err
	}
	if _, err := s.Swap(ctx, key, []byte("4"), tag); !errors.Is(err, ErrConflict) {
		return fmt.Errorf("it does not honour If-Match (result: %v), so it cannot hold archives for several machines",
			err)
	}
	return nil
}

// swap is Swap with retries. If an error leaves open whether the object was written, it reads
// the object. If the write was refused although the condition holds, the server was busy with
// it (S3 answers 409: ConditionalRequestConflict), and it tries again.
func swap(ctx context.Context, s Store, key string, data []byte, tag string) (string, error) {
	for wait := swapWait; ; wait *= 2 {
		fresh, err := s.Swap(ctx, key, data, tag)
		if err == nil {
			return fresh, nil
		}
		had, now, readErr := s.Get(ctx, key)
		holds := readErr == nil && now == tag || tag == "" && errors.Is(readErr, ErrNotFound)
		switch {
		case readErr == nil && string(had) == string(data):
			return now, nil // written after all: the value identifies its writer
		case readErr == nil && now != tag:
			return "", ErrConflict
		case !holds || !errors.Is(err, ErrConflict) || wait > 16*swapWait:
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-time.After(wait):
		}
	}
}

// swapWait is the first retry delay for a busy object.
const swapWait = 20 * time.Millisecond
