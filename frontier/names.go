package frontier

import (
	"cmp"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
	"curtsy/internal/sum"
)

// names maps values that many entries share to numbers, which the entries contain.
type names[T comparable] struct {
	list  []T
	index map[T]uint32
	saved int // number of values on disk
}

func (n *names[T]) number(v T) uint32 {
	if i, ok := n.index[v]; ok {
		return i
	}
	if n.index == nil {
		n.index = map[T]uint32{}
	}
	i := uint32(len(n.list))
	n.index[v] = i
	n.list = append(n.list, v)
	return i
}

// text returns the value with a number; the zero value if there is none.
func (n *names[T]) text(i uint32) (v T) {
	if int(i) >= len(n.list) {
		return v
	}
	return n.list[i]
}

func (n *names[T]) save(b *bbolt.Bucket, encode func(T) []byte) error {
	for ; n.saved < len(n.list); n.saved++ {
		k := binary.BigEndian.AppendUint32(nil, uint32(n.saved))
		if err := b.Put(k, sum.Seal(k, encode(n.list[n.saved]))); err != nil {
			return err
		}
	}
	return nil
}

func (n *names[T]) load(b *bbolt.Bucket, decode func([]byte) (T, error)) error {
	return b.ForEach(opened(func(k, v []byte) error {
		if len(k) != 4 || int(binary.BigEndian.Uint32(k)) != len(n.list) {
			return ErrCorrupt
		}
		value, err := decode(v)
		if err != nil {
			return ErrCorrupt
		}
		n.number(value)
		n.saved = len(n.list)
		return nil
	}))
}

func encodeText(s string) []byte          { return []byte(s) }
func decodeText(b []byte) (string, error) { return string(b), nil }

func (f *Frontier) saveNames(top *bbolt.Bucket) error {
	return cmp.Or(f.hosts.save(top.Bucket(bucketHosts), encodeText),
		f.words.save(top.Bucket(bucketWords), encodeText),
		f.reasons.save(top.Bucket(bucketReasons), judge.Reason.Encode))
}

func (f *Frontier) loadNames(top *bbolt.Bucket) error {
	return cmp.Or(f.hosts.load(top.Bucket(bucketHosts), decodeText),
		f.words.load(top.Bucket(bucketWords), decodeText),
		f.reasons.load(top.Bucket(bucketReasons), judge.Decode))
}
