package warc

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"hash"
	"io"
	"strings"
)

// Digest is a SHA-256 digest, by which payloads are compared, as it is collision-resistant. Records are
// labelled with it in lower-case hexadecimal (ISO 28500 §5.8 leaves the form open), as browsertrix does,
// unless LabelSHA1 is set.
type Digest [sha256.Size]byte

// LabelSHA1 begins a SHA-1 digest in base32, the label that most programs use.
const LabelSHA1 = "sha1:"

const labelSHA256 = "sha256:"

// Sum returns the labelled digest of octets, in the algorithm of a label as in NewLabelled.
func Sum(label string, parts ...[]byte) string {
	l := NewLabelled(label)
	for _, b := range parts {
		l.Write(b)
	}
	return l.String()
}

// String returns the labelled digest, "sha256:" and 64 digits.
func (d Digest) String() string { return labelSHA256 + hex.EncodeToString(d[:]) }

// ParseDigest parses the result of String; ok is false for any other algorithm or form.
func ParseDigest(s string) (d Digest, ok bool) {
	digits, ok := strings.CutPrefix(s, labelSHA256)
	if !ok || len(digits) != hex.EncodedLen(len(d)) || strings.ToLower(digits) != digits {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(digits))
	return d, err == nil
}

// Labelled computes a digest to be compared with the label of a record, in the label's algorithm, which is
// SHA-1 in records of many other programs.
type Labelled struct {
	hash.Hash
	sha1 bool
}

// NewLabelled starts a digest in the algorithm of a label; SHA-256 if there is none.
func NewLabelled(label string) Labelled {
	if len(label) >= len(LabelSHA1) && strings.EqualFold(label[:len(LabelSHA1)], LabelSHA1) {
		return Labelled{sha1.New(), true}
	}
	return Labelled{sha256.New(), false}
}

// String returns the labelled digest of what was written so far.
func (l Labelled) String() string {
	b := l.Sum(nil)
	if l.sha1 {
		return LabelSHA1 + base32.StdEncoding.EncodeToString(b)
	}
	return Digest(b).String()
}

// Matches reports whether what was written so far has the digest of a label, in any of the usual forms. A
// label that is missing or of an unknown algorithm matches.
func (l Labelled) Matches(label string) bool {
	algorithm, value, ok := strings.Cut(label, ":")
	algorithm = strings.ToLower(algorithm)
	if !ok || algorithm != "sha1" && algorithm != "sha256" || (algorithm == "sha1") != l.sha1 {
		return true
	}
	sum, b := l.Sum(nil), DigestOctets(value)
	return len(b) != len(sum) || bytes.Equal(b, sum) // an invalid digest matches
}

// SumBoth reads r to its end and returns its SHA-256 and its digest in the algorithm of a label, and the octets
// read; on error they cover what was read.
func SumBoth(r io.Reader, label string) (own, labelled Labelled, n int64, err error) {
	own, labelled = NewLabelled(""), NewLabelled(label)
	w := io.MultiWriter(own, labelled)
	if !labelled.sha1 {
		w, labelled = own, own
	}
	n, err = io.Copy(w, r)
	return own, labelled, n, err
}

// DigestOctets decodes a digest, labelled or not, in the usual forms: hexadecimal (SHA-1 and SHA-256) and
// base32; nil for anything else.
func DigestOctets(digest string) []byte {
	value := digest[strings.LastIndexByte(digest, ':')+1:]
	if b, err := hex.DecodeString(value); err == nil && (len(b) == sha256.Size || len(b) == sha1.Size) {
		return b
	}
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(strings.ToUpper(value),
		"="))
	if err != nil || len(b) != sha256.Size && len(b) != sha1.Size {
		return nil
	}
	return b
}
