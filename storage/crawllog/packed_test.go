package crawllog

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"curtsy/storage/warc"
)

func ordinaryVisit() *Visit {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	return &Visit{URLID: 501, N: 1, URL: "http://example.org/p/8484.html", Class: "page", At: at, Waited: 20501, Delay: "configured delay 1s", Took: 745491,
		Status: 200, ContentType: "text/html; charset=utf-8", Charset: "utf-8", Title: "Page 8484", Lang: "en", Links: 21, Length: 5119,
		Digest: "sha256:3ceb82a72fc5582986951efdae93dec87bd48d4ba85f399bd7eae76ad80e7cdd", Kept: KeptResponse,
		Robots: &Decision{Allow: true, Rule: "no rule applies", Group: "*", Fetched: at},
		Record: &Record{Segment: "curtsy-20260301120000-00000.warc.gz", Offset: 1628825, Length: 3241, ID: "urn:uuid:26a73519-8c34-45ad-8580-fcf2b553007f"}}
}

func TestAVisitIsReadAsItWasPacked(t *testing.T) {
	with := func(change func(*Visit)) *Visit { v := ordinaryVisit(); change(v); return v }
	for name, v := range map[string]*Visit{
		"ordinary":               ordinaryVisit(),
		"zero":                   {},
		"without a record":       with(func(v *Visit) { v.Record = nil }),
		"a digest in capitals":   with(func(v *Visit) { v.Digest = "sha256:3CEB82A72FC5582986951EFDAE93DEC87BD48D4BA85F399BD7EAE76AD80E7CDD" }),
		"a digest without label": with(func(v *Visit) { v.Digest = v.Digest[len("sha256:"):] }),
		"a short digest":         with(func(v *Visit) { v.Digest = "sha256:3ceb" }),
		"another ID":             with(func(v *Visit) { v.Record.ID = "i" }),
		"an ID without its dash": with(func(v *Visit) { v.Record.ID = "urn:uuid:26a735198c34-45ad-8580-fcf2b553007f" }),
		"an ancient robots.txt":  with(func(v *Visit) { v.Robots.Fetched = v.At.AddDate(-900, 0, 0) }),
		"without robots":         with(func(v *Visit) { v.Robots = nil }),
		"a long title":           with(func(v *Visit) { v.Title = string(bytes.Repeat([]byte("Ж\n"), 20000)) }),
	} {
		b, err := Pack(v)
		if err != nil {
			t.Fatal(name, err)
		}
		var got Visit
		if err := Unpack(b, &got); err != nil || !reflect.DeepEqual(&got, v) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, v)
		}
		text, _ := json.Marshal(v)
		if err := Unpack(text, new(Visit)); err != nil {
			t.Errorf("%s, as schema 5 has it: %v", name, err)
		}
	}
	if b, _ := Pack(ordinaryVisit()); len(b) > 160 {
		t.Errorf("an ordinary visit has %d octets", len(b))
	}
	if id := warc.NewID(); func() bool { _, ok := warc.ParseID(id); return !ok }() {
		t.Errorf("%s is no ID", id)
	}
}

// A visit of somebody else's crawl.db is not inflated without end.
func TestPackedVisitsThatAreNone(t *testing.T) {
	var bomb bytes.Buffer
	bomb.WriteByte(packed)
	w, _ := flate.NewWriter(&bomb, flate.BestCompression)
	_, _ = w.Write(bytes.Repeat([]byte(" "), 64<<20))
	w.Close()
	good, _ := Pack(ordinaryVisit())
	for name, b := range map[string][]byte{"a bomb": bomb.Bytes(), "nothing": {}, "flags alone": {packedFields}, "other flags": {0x40, 1, 2}, "cut off": good[:len(good)-9], "digits alone": good[:49], "no JSON": good[:80]} {
		if err := Unpack(b, new(Visit)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	v := ordinaryVisit()
	packed, _ := Pack(v)
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			_, _ = Pack(v)
		}
	})
	b.Run("unpack", func(b *testing.B) {
		for b.Loop() {
			_ = Unpack(packed, new(Visit))
		}
	})
}
