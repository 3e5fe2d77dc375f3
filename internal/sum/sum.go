// Package sum guards the values of crawl.db: bbolt finds a page that is out of
// place, not an octet that is another.
package sum

import (
	"encoding/binary"
	"hash/crc32"
)

const size = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// of is the sum of a value under its key, so that one under another key is
// found too.
func of(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

// Seal appends to value its sum, and returns it as append does.
func Seal(key, value []byte) []byte {
	return binary.LittleEndian.AppendUint32(value, of(key, value))
}

// Open gives back what was sealed under the key; false if it is not as it was.
func Open(key, sealed []byte) ([]byte, bool) {
	n := len(sealed) - size
	if n < 0 || binary.LittleEndian.Uint32(sealed[n:]) != of(key, sealed[:n]) {
		return nil, false
	}
	return sealed[:n:n], true
}
