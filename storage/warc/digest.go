package warc

import (
	"crypto/sha1"
	"encoding/base32"
	"hash"
	"io"
)

// Digest is a SHA-1 digest. Curtsy labels records with SHA-1 in base32
// because every WARC tool expects it (ISO 28500 §5.8 leaves the choice); it
// costs what SHA-256 costs and guards against accidents, not against forgery.
type Digest [sha1.Size]byte

// Sum is the digest of octets in memory.
func Sum(b []byte) Digest { return sha1.Sum(b) }

// SumReader is the digest of what the readers give, and its length.
func SumReader(rs ...io.Reader) (Digest, int64, error) {
	h := NewHash()
	var n int64
	for _, r := range rs {
		m, err := io.Copy(h, r)
		n += m
		if err != nil {
			return h.Digest(), n, err
		}
	}
	return h.Digest(), n, nil
}

// String is the labelled digest, "sha1:" and base32 (32 letters, no padding).
func (d Digest) String() string {
	return "sha1:" + base32.StdEncoding.EncodeToString(d[:])
}

// ParseDigest reads a labelled digest; !ok for any other algorithm or form.
func ParseDigest(s string) (d Digest, ok bool) {
	if len(s) != len("sha1:")+32 || s[:5] != "sha1:" {
		return d, false
	}
	b, err := base32.StdEncoding.DecodeString(s[5:])
	if err != nil || len(b) != len(d) {
		return d, false
	}
	return Digest(b), true
}

// Hash computes a digest of what is written to it.
type Hash struct{ hash.Hash }

// NewHash begins a digest.
func NewHash() Hash { return Hash{sha1.New()} }

// Digest is the digest of what was written so far.
func (h Hash) Digest() (d Digest) {
	h.Sum(d[:0])
	return d
}
