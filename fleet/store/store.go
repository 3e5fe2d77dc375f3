// Package store answers: where is an archive kept that belongs to no machine?
// It is a place of objects, an S3 bucket or a directory that machines share,
// and in it, for each site:
//
//	SITE/MANIFEST                 what the archive is; written only where nobody else wrote it meanwhile
//	SITE/warc/NAME                sealed segments, whole; written once. Other tools read them here
//	SITE/tail/NAME/OFFSET+SIZE.eEPOCH-SEQ   pieces of the segment that is being written
//	SITE/db/eEPOCH-SEQ.zst        crawl.db as of one commit
//
// An owner claims a site by raising the epoch in its manifest. Whoever claimed
// it before fails at its next save, with ErrFenced, and drops what it has. So a
// manifest is never a mixture of what two owners did, and names only objects
// that were there before it.
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
	// ErrConflict: the object is another than the condition says.
	ErrConflict = errors.New("changed by another")
	// ErrAway: the store does not answer, or says that it cannot just now.
	ErrAway = errors.New("the store is unreachable")
)

// Object is one that a store lists.
type Object struct {
	Key  string
	Size int64
}

// Store keeps objects by key, a path of plain names. It is for any goroutine.
type Store interface {
	// Get reads a small object, and the tag of this version of it.
	Get(ctx context.Context, key string) (data []byte, tag string, err error)
	// Swap writes a small object on the condition that it still has the tag, or
	// that there is none where tag is "". Else it is ErrConflict. After any
	// other error nobody knows whether it was written.
	Swap(ctx context.Context, key string, data []byte, tag string) (newTag string, err error)
	// Put writes an object that is not swapped, from its file or a part of it.
	Put(ctx context.Context, key string, body *io.SectionReader) error
	// Open reads an object, and gives its size.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// List lists the objects whose keys begin with prefix, in no order.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Remove removes an object, if it is there.
	Remove(ctx context.Context, key string) error
}

// Open opens the store at a place: s3://BUCKET/PREFIX, or a directory. It
// refuses one that does not keep conditions.
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

// OpenOnceThere is Open of a store that may be away for now, as after a power cut:
// it tries again until it answers. waits is called once before the first wait.
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

// tryAgain is the time between two tries to reach a store.
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

// probe sees that the store refuses what a condition forbids: a server that
// ignores conditions would let two owners write one manifest.
func probe(ctx context.Context, s Store) error {
	key := ".probe/" + rand.Text()
	tag, err := swap(ctx, s, key, []byte("1"), "") // whose answer may be lost: the client tries again
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

// swap is Swap, but for an error that leaves it open whether the object was
// written: then it reads the object back. A refusal although the condition holds is a
// server that was busy with it (S3 answers 409: ConditionalRequestConflict), and is tried again.
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
			return now, nil // ours after all: it names its owner and its number
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

// swapWait is how long a server that is busy with an object is left alone, at first.
const swapWait = 20 * time.Millisecond
