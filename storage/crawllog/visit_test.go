package crawllog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"curtsy/internal/robotsmeta"
	"curtsy/usage"
)

// The JSON of a visit, including its field order, and its packed form are file formats: WARC metadata
// and crawl.db contain them.
func TestTheFormsOfAVisit(t *testing.T) {
	v, at := ordinaryVisit(), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	v.Error, v.Location, v.Target, v.Round, v.Canonical = "e", "http://example.org/p/1", "x", 2, v.URL
	v.ETag, v.LastModified, v.MaxAge = `"e"`, "Mon, 23 Nov 2026 19:12:24 GMT", 60
	v.Truncated, v.Body, v.Blocked, v.Suspect, v.Bare = "length", BodyWhole, "b", "s", true
	v.Rendered = &Rendered{Length: 1 << 40, SHA256: "ab", Asked: 3, Missing: []Missing{{"http://x/", "closed"}}, Cut: "30s"}
	v.Directives = &Directives{NoIndex: true, UnavailableAfter: &at, Sources: []robotsmeta.Source{{Directive: "noindex"}}}
	v.Usage = []usage.Statement{{Category: "tdm", Value: "n", Source: "http://example.org/robots.txt", Line: 7}}
	v.Refers = &Ref{1 << 63, 70000}
	v.Record.Elsewhere, v.Record.Beside = &Elsewhere{"http://x/", at}, []Extent{{1, 2}}
	text, err := json.Marshal(v)
	if err != nil || string(text) != wantJSON {
		t.Errorf("%v\ngot  %s\nwant %s", err, text, wantJSON)
	}
	row, err := Pack(v)
	if got := sha256.Sum256(row); err != nil || hex.EncodeToString(got[:]) != wantRow {
		t.Errorf("%v: the row has the digest %x, want %s", err, got, wantRow)
	}
}

const wantRow = "4b4107d1f3faccf676b325365e21b8d7abf55cccfee1e9ae67293bed27f31575"

const wantJSON = `{"url_id":501,"n":1,"url":"http://example.org/p/8484.html","class":"page","at":"2026-03-01T12:00:00.123456789Z","waited":20501,"delay":"configured delay 1s","took":745491,"status":200,"error":"e","location":"http://example.org/p/1","target":"x","round":2,"content_type":"text/html; charset=utf-8","charset":"utf-8","title":"Page 8484","lang":"en","canonical":"http://example.org/p/8484.html","etag":"\"e\"","last_modified":"Mon, 23 Nov 2026 19:12:24 GMT","max_age":60,"links":21,"length":5119,"digest":"sha256:3ceb82a72fc5582986951efdae93dec87bd48d4ba85f399bd7eae76ad80e7cdd","truncated":"length","body":"whole","blocked":"b","suspect":"s","bare":true,"rendered":{"length":1099511627776,"sha256":"ab","asked":3,"missing":[{"url":"http://x/","why":"closed"}],"cut":"30s"},"directives":{"noindex":true,"unavailable_after":"2030-01-01T00:00:00Z","sources":[{"directive":"noindex","from":"","text":""}]},"usage":[{"category":"tdm","value":"n","source":"http://example.org/robots.txt","line":7,"by":""}],"robots":{"allow":true,"rule":"no rule applies","group":"*","fetched":"2026-03-01T12:00:00.123456789Z"},"kept":"response","record":{"segment":"curtsy-20260301120000-00000.warc.gz","offset":1628825,"length":3241,"id":"urn:uuid:26a73519-8c34-45ad-8580-fcf2b553007f","elsewhere":{"url":"http://x/","at":"2030-01-01T00:00:00Z"},"beside":[{"offset":1,"length":2}]},"refers":{"url_id":9223372036854775808,"n":70000}}`
