package warc

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"hash"
	"strings"
)

// Digest is a SHA-256 digest, by which payloads are compared: nobody can make a
// second payload with the digest of a first. Records are labelled with it in lower
// case hexadecimal (ISO 28500 §5.8 leaves the choice), as browsertrix does, unless
// LabelSHA1 is asked for.
type Digest [sha256.Size]byte

// LabelSHA1 begins a SHA-1 digest, in base32, as most programs label records.
const LabelSHA1 = "sha1:"

const labelSHA256 = "sha256:"

// Sum is the labelled digest of octets in memory, by the algorithm of a label as
// NewLabelled takes it.
func Sum(label string, parts ...[]byte) string {
	l := NewLabelled(label)
	for _, b := range parts {
		l.Write(b)
	}
	return l.String()
}

// String is the labelled digest, "sha256:" and 64 digits.
func (d Digest) String() string { return labelSHA256 + hex.EncodeToString(d[:]) }

// ParseDigest reads what String gives; !ok for any other algorithm or form.
func ParseDigest(s string) (d Digest, ok bool) {
	digits, ok := strings.CutPrefix(s, labelSHA256)
	if !ok || len(digits) != hex.EncodedLen(len(d)) || strings.ToLower(digits) != digits {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(digits))
	return d, err == nil
}

// Labelled computes the digest that a label of a record is compared with: of the
// label's own algorithm, which is SHA-1 in records of many other programs.
type Labelled struct {
	hash.Hash
	sha1 bool
}

// NewLabelled begins a digest of the algorithm of a label; SHA-256 if there is
// no label.
func NewLabelled(label string) Labelled {
	if len(label) >= len(LabelSHA1) && strings.EqualFold(label[:len(LabelSHA1)], LabelSHA1) {
		return Labelled{sha1.New(), true}
	}
	return Labelled{sha256.New(), false}
}

// String is the labelled digest of what was written so far.
func (l Labelled) String() string {
	b := l.Sum(nil)
	if l.sha1 {
		return LabelSHA1 + base32.StdEncoding.EncodeToString(b)
	}
	return Digest(b).String()
}

// Matches says whether what was written so far has the digest of a label, in any of
// the forms in which programs write it. A label of an unknown algorithm, or none,
// says nothing, and matches.
func (l Labelled) Matches(label string) bool {
	algorithm, value, ok := strings.Cut(label, ":")
	algorithm = strings.ToLower(algorithm)
	if !ok || algorithm != "sha1" && algorithm != "sha256" || (algorithm == "sha1") != l.sha1 {
		return true
	}
	sum, b := l.Sum(nil), DigestOctets(value)
	return len(b) != len(sum) || bytes.Equal(b, sum) // what is no digest says nothing
}

// DigestOctets are those of a digest, labelled or not, in the forms in which programs
// write it: hexadecimal (SHA-1 and SHA-256) and base32; nil for anything else.
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
