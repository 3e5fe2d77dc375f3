package sum_test

import (
	"testing"

	"curtsy/internal/sum"
)

// The value of a visit has about 700 octets.
func BenchmarkSeal(b *testing.B) {
	key, value := make([]byte, 10), make([]byte, 700, 704)
	b.SetBytes(700)
	for b.Loop() {
		sum.Seal(key, value)
	}
}
