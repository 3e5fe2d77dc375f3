package sum_test

import (
	"bytes"
	"testing"

	"curtsy/internal/sum"
)

func TestEveryFlippedBitIsFound(t *testing.T) {
	key, value := []byte("key"), []byte("a value, as it was written")
	sealed := sum.Seal(key, bytes.Clone(value))
	if got, ok := sum.Open(key, sealed); !ok || !bytes.Equal(got, value) {
		t.Errorf("got %q, %v; want %q", got, ok, value)
	}
	for i := range 8 * (len(key) + len(sealed)) {
		both := append(bytes.Clone(key), sealed...)
		both[i/8] ^= 1 << (i % 8)
		if _, ok := sum.Open(both[:len(key)], both[len(key):]); ok {
			t.Errorf("bit %d is another, and it opens", i)
		}
	}
	for n := range len(sealed) {
		if _, ok := sum.Open(key, sealed[:n]); ok {
			t.Errorf("it opens with %d of %d octets", n, len(sealed))
		}
	}
}
