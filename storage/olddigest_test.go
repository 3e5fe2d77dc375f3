package storage

import (
	"bytes"
	"testing"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Early builds identified payloads by SHA-1 alone.
func TestAPayloadThatIsKnownBySHA1(t *testing.T) {
	const block = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
	h := &warc.Header{PayloadDigest: "sha1:Q325D6SPWCM7MTNKZCSVPI2SVZXN4LH4"}
	own, labelled, _, err := warc.SumBoth(bytes.NewReader([]byte("a")), h.PayloadDigest)
	if err != nil {
		t.Fatal(err)
	}
	h.PayloadDigest = labelled.String()
	for digest, sound := range map[string]bool{labelled.String(): true, own.String(): true, "sha1:AAAA": false} {
		err := checkPayload(bytes.NewReader([]byte(block)), h, &crawllog.Visit{Payload: crawllog.Payload{Digest: digest, Length: 1}})
		if (err == nil) != sound {
			t.Errorf("%s: %v", digest, err)
		}
	}
}
