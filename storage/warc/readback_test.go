package warc

import (
	"errors"
	"testing"
	"time"
)

// A deflater that writes something else is found out within checkEvery members.
func TestADamagedMemberIsReadBack(t *testing.T) {
	good := (&deflater{}).appendMember(nil, page(1))
	for name, spoil := range map[string]func(member, want []byte) (m, w []byte){
		"another text":        func(m, w []byte) ([]byte, []byte) { return m, page(2) },
		"a text cut short":    func(m, w []byte) ([]byte, []byte) { return m, w[:len(w)-1] },
		"a text that goes on": func(m, w []byte) ([]byte, []byte) { return m, append(w, 'x') },
		"a member cut short":  func(m, w []byte) ([]byte, []byte) { return m[:len(m)-9], w },
		"a wrong sum":         func(m, w []byte) ([]byte, []byte) { m[len(m)-5] ^= 1; return m, w },
		"no gzip":             func(m, w []byte) ([]byte, []byte) { return w, w },
	} {
		var c readBack
		for range checkEvery {
			c.member(good, page(1))
		}
		if c.err != nil {
			t.Fatalf("%s: a good member: %v", name, c.err)
		}
		for range checkEvery {
			c.member(spoil(append([]byte{}, good...), page(1)))
		}
		if !errors.Is(c.err, ErrReadBack) {
			t.Errorf("%s: got %v", name, c.err)
		}
	}
}

// What the encoder writes reads back, be it large or small.
func TestAnEncoderReadsBack(t *testing.T) {
	e := NewEncoder()
	var b []byte
	for i := range 3 * checkEvery {
		block := page(i)
		b = e.Append(b[:0], &Header{Type: TypeResponse, ID: NewID(), Date: time.Unix(0, 0)}, Quick, block[:len(block)/(1+i%9)])
	}
	if e.Err() != nil {
		t.Error(e.Err())
	}
}
