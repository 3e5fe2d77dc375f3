package frontier

import (
	"testing"

	"curtsy/internal/weburl"
)

// FuzzDecodeBlock: whatever stands in crawl.db in the place of a block is
// entries or an error.
func FuzzDecodeBlock(f *testing.F) {
	fr := &Frontier{}
	good := fr.encodeBlock(nil, []Link{
		{URL: weburl.MustParse("http://h/"), Class: Page, How: "seed"},
		{URL: weburl.MustParse("http://h/a/b?c=d"), Class: Page, Via: 1, Depth: 2, Redirects: 3, How: "a href"},
		{URL: weburl.MustParse("http://h/a/c"), Class: Disregarded, Via: 2, Soft: true, Reason: "trap: length"},
	})
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		links, err := fr.decodeBlock(b)
		if err == nil && len(links) > blockSize {
			t.Errorf("%d entries", len(links))
		}
	})
}
