package render

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A message that is too long is dropped, and no other.
func TestLongFramesAreLeftOut(t *testing.T) {
	var list, want string
	for _, size := range []int{0, 1, 99_999, 100_000, 5_000_000, 70_000, 100_001, 3} {
		frame := strings.Repeat("x", size) + "\x00"
		if list += frame; len(frame) <= 100_000 {
			want += frame
		}
	}
	for _, from := range []io.Reader{strings.NewReader(list), iotest.HalfReader(strings.NewReader(list))} {
		var got bytes.Buffer
		if err := copyFrames(&got, from, 100_000); err != io.EOF || got.String() != want {
			t.Errorf("%v: %d octets, want %d", err, got.Len(), len(want))
		}
	}
}
