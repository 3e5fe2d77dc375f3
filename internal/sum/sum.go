// Package sum adds checksums to the values of crawl.db: bbolt detects misplaced pages, but not
// changed octets.
package sum

import (
	"encoding/binary"
	"hash/crc32"
)

const size = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// of returns the checksum of a value and its key, so that a value under a wrong key is detected
// too.
func of(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

// Seal appends the checksum to value, like append.
func Seal(key, value []byte) []byte {
	return binary.LittleEndian.AppendUint32(value, of(key, value))
}

// Open returns the value sealed under key; false if the checksum differs.
func Open(key, sealed []byte) ([]byte, bool) {
	n := len(sealed) - size
	if n < 0 || binary.LittleEndian.Uint32(sealed[n:]) != of(key, sealed[:n]) {
		return nil, false
	}
	return sealed[:n:n], true
}
