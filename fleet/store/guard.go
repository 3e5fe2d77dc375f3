package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"
)

// marker is an object that names a store. If it is missing, the directory may be the mount
// point of an unmounted share, or the bucket was emptied.
const marker = ".fleet"

// ErrUnmarked means that a store has no marker.
var ErrUnmarked = errors.New("its marker, the object .fleet, is missing: is the share mounted, is it the right bucket?")

// Identify reads a store's name; ErrUnmarked if it has none.
func Identify(ctx context.Context, s Store) (id string, err error) {
	b, _, err := s.Get(ctx, marker)
	if errors.Is(err, ErrNotFound) {
		return "", ErrUnmarked
	}
	if g, ok := s.(*guarded); ok && err == nil {
		g.marked.Store(true)
	}
	return string(b), err
}

// Mark names a store that has no name yet, and reports whether it did.
func Mark(ctx context.Context, s Store) (id string, fresh bool, err error) {
	id, err = Identify(ctx, s)
	if !errors.Is(err, ErrUnmarked) {
		return id, false, err
	}
	_, err = s.Swap(ctx, marker, []byte(rand.Text()), "")
	if err != nil && !errors.Is(err, ErrConflict) {
		return "", false, fmt.Errorf("marker: %w", err)
	}
	fresh = err == nil
	id, err = Identify(ctx, s)
	return id, fresh, err
}

// guarded rejects keys that are not paths of plain names, and treats a store whose marker has
// disappeared as unreachable.
type guarded struct {
	Store
	marked atomic.Bool
	local  bool // a directory: reading the marker costs next to nothing
}

// checkKey rejects a key that could lead out of a site or the store.
func checkKey(key string) error {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00") {
			return fmt.Errorf("%q cannot be a key in a store", key)
		}
	}
	return nil
}

func (g *guarded) there(ctx context.Context) error {
	if !g.marked.Load() {
		return nil
	}
	_, _, err := g.Store.Get(ctx, marker)
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrAway, ErrUnmarked)
	}
	return err
}

// writable checks the key, and for a directory that its marker exists.
func (g *guarded) writable(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil || !g.local {
		return err
	}
	return g.there(ctx)
}

func (g *guarded) Get(ctx context.Context, key string) (data []byte, tag string, err error) {
	if err := checkKey(key); err != nil {
		return nil, "", err
	}
	data, tag, err = g.Store.Get(ctx, key)
	if key != marker && errors.Is(err, ErrNotFound) {
		if away := g.there(ctx); away != nil {
			return nil, "", away
		}
	}
	return data, tag, err
}

func (g *guarded) Swap(ctx context.Context, key string, data []byte, tag string) (string, error) {
	if err := g.writable(ctx, key); err != nil {
		return "", err
	}
	fresh, err := g.Store.Swap(ctx, key, data, tag)
	if errors.Is(err, ErrConflict) {
		if away := g.there(ctx); away != nil { // the whole store is gone, not only this object
			return "", away
		}
	}
	return fresh, err
}

func (g *guarded) Put(ctx context.Context, key string, body *io.SectionReader) error {
	if err := g.writable(ctx, key); err != nil {
		return err
	}
	return g.Store.Put(ctx, key, body)
}

func (g *guarded) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if err := checkKey(key); err != nil {
		return nil, 0, err
	}
	return g.Store.Open(ctx, key)
}

func (g *guarded) Remove(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return g.Store.Remove(ctx, key)
}

// List returns an error if the store has lost its marker.
func (g *guarded) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	err := checkKey(strings.TrimSuffix(prefix, "/"))
	if err == nil {
		err = g.there(ctx)
	}
	if err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return g.Store.List(ctx, prefix)
}
