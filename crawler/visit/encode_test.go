package visit

import (
	"bytes"
	"testing"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// A visit prepared as a response is written as a revisit if another visit has brought the same payload
// in the meantime, and its buffers are released exactly once.
func TestRecordsOfWhatBecameARevisit(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	head := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
	x, err := fetch.New(fetch.Options{}).Replay(weburl.MustParse("http://h/b"), at, head, []byte("payload"))
	if err != nil {
		t.Fatal(err)
	}
	x.RequestBytes = []byte("GET /b HTTP/1.1\r\n\r\n")
	o := &Outcome{Entry: &frontier.Entry{}, Visit: &crawllog.Visit{Asked: crawllog.Asked{URL: "http://h/b", At: at},
		Answer: crawllog.Answer{Status: 200}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse}}}
	w, info := RecordsOf(x), warc.NewID()
	if w.Prepare(o, info, false) <= 0 {
		t.Fatal("nothing was prepared")
	}
	first := &crawllog.Visit{Asked: crawllog.Asked{URL: "http://h/a", At: at},
		Stored: crawllog.Stored{Record: &crawllog.Record{ID: warc.NewID()}}}
	for _, want := range []string{warc.TypeResponse, warc.TypeRevisit} {
		if want == warc.TypeRevisit {
			o.refer(first)
		}
		var out bytes.Buffer
		if err := w.Write(&out, info); err != nil {
			t.Fatal(err)
		}
		h, err := warc.NewReader(bytes.NewReader(out.Bytes()), 0).Next()
		if err != nil || h.Type != want || want == warc.TypeRevisit && h.RefersTo != first.Record.ID {
			t.Errorf("%+v, %v; want a %s", h, err, want)
		}
	}
	w.Release()
	w.Release()
	if one, other := memberPool.Get(), memberPool.Get(); one == other {
		t.Error("one buffer was given back twice")
	}
}
