package crawllog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"curtsy/internal/robotsmeta"
	"curtsy/storage/warc"
	"curtsy/usage"
)

func ordinaryVisit() *Visit {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	return &Visit{Asked: Asked{URLID: 501, N: 1, URL: "http://example.org/p/8484.html", Class: "page", At: at, Waited: 20501, Delay: "configured delay 1s", Took: 745491}, Answer: Answer{Status: 200}, Document: Document{ContentType: "text/html; charset=utf-8", Charset: "utf-8", Title: "Page 8484", Lang: "en", Links: 21}, Payload: Payload{Length: 5119, Digest: "sha256:3ceb82a72fc5582986951efdae93dec87bd48d4ba85f399bd7eae76ad80e7cdd"}, Stored: Stored{Kept: KeptResponse, Record: &Record{Segment: "curtsy-20260301120000-00000.warc.gz", Offset: 1628825, Length: 3241, ID: "urn:uuid:26a73519-8c34-45ad-8580-fcf2b553007f"}}, Robots: &Decision{Allow: true, Rule: "no rule applies", Group: "*", Fetched: at}}
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
		"a label of SHA-1":       with(func(v *Visit) { v.Record.Label = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ" }),
		"another ID":             with(func(v *Visit) { v.Record.ID = "i" }),
		"an ID without its dash": with(func(v *Visit) { v.Record.ID = "urn:uuid:26a735198c34-45ad-8580-fcf2b553007f" }),
		"an ancient robots.txt":  with(func(v *Visit) { v.Robots.Fetched = v.At.AddDate(-900, 0, 0) }),
		"without robots":         with(func(v *Visit) { v.Robots = nil }),
		"a long title":           with(func(v *Visit) { v.Title = string(bytes.Repeat([]byte("Ж\n"), 20000)) }),
		"all that is seldom": with(func(v *Visit) {
			most, until := 0, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			v.Directives = &Directives{NoIndex: true, NoTranslate: true, MaxSnippet: &most, UnavailableAfter: &until,
				Sources: []robotsmeta.Source{{Directive: "noindex", From: "meta", Text: "noindex, notranslate"}, {Directive: "x", Text: "y"}}}
			v.Usage = []usage.Statement{{Category: "tdm", Value: "n", Source: "http://example.org/robots.txt", Line: 7, By: "robots.txt", Text: "a=b"},
				{For: usage.ForImages, License: "l", Policy: "p"}}
			v.Rendered = &Rendered{Length: 1 << 40, SHA256: "ab", Asked: 3, Missing: []Missing{{"http://x/", "closed"}}, Cut: "30s"}
			v.Refers, v.Bare, v.MaxAge, v.Round, v.Truncated = &Ref{1 << 63, 70000}, true, -1, 2, "length"
			v.Error, v.Location, v.Target, v.Canonical, v.Blocked, v.Suspect = "e", "http://example.org/p/1", "x", v.URL, "b", "s"
		}),
		"odd times":          with(func(v *Visit) { v.At = time.Date(9000, 1, 1, 0, 0, 0, 1, time.UTC); v.LastModified = "yesterday" }),
		"a date of HTTP":     with(func(v *Visit) { v.LastModified = "Mon, 23 Nov 2026 19:12:24 GMT" }),
		"a date near one":    with(func(v *Visit) { v.LastModified = "Tue, 23 Nov 2026 19:12:24 GMT" }),
		"the time of 1970":   with(func(v *Visit) { v.At = time.Unix(0, 0).UTC(); v.LastModified = "Thu, 01 Jan 1970 00:00:00 GMT" }),
		"a segment of 2^5":   with(func(v *Visit) { v.Record.Segment = "a-b-20260101000000-123456.warc.gz" }),
		"a repaired segment": with(func(v *Visit) { v.Record.Segment = "a-20260101000000-00001-r1.warc.gz" }),
		"a segment's zeros":  with(func(v *Visit) { v.Record.Segment = "x-00000000000000-00000.warc.gz" }),
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
	if b, _ := Pack(ordinaryVisit()); len(b) > 150 {
		t.Errorf("an ordinary visit has %d octets", len(b))
	}
	if id := warc.NewID(); func() bool { _, ok := warc.ParseID(id); return !ok }() {
		t.Errorf("%s is no ID", id)
	}
}

// Visits written by schema 6 can be read.
func TestVisitsOfSchema6(t *testing.T) {
	without := ordinaryVisit()
	without.Record = nil
	for text, want := range map[string]*Visit{
		"ETzrgqcvxVgphpUe/a6T3sh71I1LqF85m9fq52rYDnzdJqc1GYw0Ra2FgPzytVMAf6q0krO39tqYMQCqwAKmgFuQAyr+T7LqxgHSMqsGRQE4TkwNsMSKlb5+akVibkFOql5+Ubp+gb6F" +
			"iYXJoIymgMT0VAULEwsTUByRE1+YOQI5a9EizowNDA2NyIgzAA==": ordinaryVisit(),
		"EK3TTU7DQAwF4KugrKGZHztj5xRcwYmdUBVIRYJAQtwdOSxaiRFsOMHM8/fehxPsJhgqKn3b2rs8nR/tsLzM7bklIPiNyT9zF7Iniuk70SGmDNgVYgd7k+Pm2VPYH9yxPEvVb1uWU9MX" +
			"QOB426ybbK9r06cQ/of2Xma7ISBw12vj4/PJ34mXk2GM7KOebfXTrw+SsOvzaAMlKWkaESkxdYzRJhXjrDZSGRRIYRDCKTMPWkysdKIUrIyqDrvXxGFrJfo50+u9X4r0x9krlfr8Ag==": without,
	} {
		b, err := base64.StdEncoding.DecodeString(text)
		var got Visit
		if err := errors.Join(err, Unpack(b, &got)); err != nil || !reflect.DeepEqual(&got, want) {
			t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
		}
		for n := range b { // and a truncated visit is rejected
			if Unpack(b[:n], new(Visit)) == nil && n < len(b)-3 {
				t.Errorf("the first %d octets of %d are a visit", n, len(b))
			}
		}
	}
}

// Decompressing a visit from an untrusted crawl.db is bounded.
func TestPackedVisitsThatAreNone(t *testing.T) {
	var bomb bytes.Buffer
	bomb.WriteByte(packed)
	w, _ := flate.NewWriter(&bomb, flate.BestCompression)
	_, _ = w.Write(bytes.Repeat([]byte(" "), 64<<20))
	w.Close()
	good, _ := Pack(ordinaryVisit())
	for n := range good {
		if Unpack(good[:n], new(Visit)) == nil {
			t.Errorf("the first %d octets of %d are a visit", n, len(good))
		}
	}
	for name, b := range map[string][]byte{"a bomb": bomb.Bytes(), "nothing": {}, "flags alone": {packedFields}, "other flags": {0x40, 1, 2},
		"more than a visit": append(good, 0), "bits without fields": {row, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
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

// hopsFromSeed has one letter for each hop, as in Heritrix; archives of earlier versions have a number.
func TestHops(t *testing.T) {
	for text, want := range map[string]Metadata{"": {}, "0": {}, "12": {Depth: 12}, "LLE": {Hops: "LLE", Depth: 3},
		"PLRL": {Hops: "PLRL", Depth: 2}, "7+LLE": {Hops: "7+LLE", Depth: 10}, "L\x1b": {}, "-3": {}} {
		got := MetadataOf(map[string]string{"hopsFromSeed": text})
		if got.Hops != want.Hops || got.Depth != want.Depth {
			t.Errorf("%q: %q, %d, want %q, %d", text, got.Hops, got.Depth, want.Hops, want.Depth)
		}
	}
	own := Metadata{Hops: "LRL", Depth: 2, Note: Note{Class: "page"}}
	fields, err := warc.ReadFields(bytes.NewReader(own.Append(nil)))
	if got := MetadataOf(fields); err != nil || got.Hops != own.Hops || got.Depth != 2 {
		t.Errorf("%v, %+v", err, got)
	}
}
