package storage

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// A segment that is opened for reading stays open until the archive is closed; a writer's does not.
func TestSegmentsStayOpenForReading(t *testing.T) {
	dir := t.TempDir()
	a, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := crawllog.Visit{Asked: crawllog.Asked{URLID: 1, N: 1, URL: "http://a.example/", At: time.Now()}, Answer: crawllog.Answer{Status: 200},
		Stored: crawllog.Stored{Kept: crawllog.KeptResponse, Record: &crawllog.Record{ID: warc.NewID()}}}
	block := []byte("HTTP/1.1 200 OK\r\n\r\nbody")
	err = a.Append(&v, func(w io.Writer, infoID string) error {
		h := warc.Header{Type: warc.TypeResponse, ID: v.Record.ID, Date: v.At, TargetURI: v.URL, WarcinfoID: infoID}
		_, err := w.Write(warc.NewEncoder().Append(nil, &h, warc.Stored, block))
		return err
	})
	if err := errors.Join(err, a.Commit(nil)); err != nil {
		t.Fatal(err)
	}
	read := func(a *Archive) {
		t.Helper()
		for range 2 {
			r, err := a.Response(&v)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(r.Body); err != nil || string(b) != "body" {
				t.Errorf("%q, %v", b, err)
			}
			r.Close()
		}
	}
	if read(a); len(a.opened.all) != 0 {
		t.Error("a writer's stays open")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err = OpenRead(dir); err != nil {
		t.Fatal(err)
	}
	if read(a); len(a.opened.all) != 1 {
		t.Errorf("%d are open", len(a.opened.all))
	}
	file := a.opened.all[v.Record.Segment].file
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the archive was closed: %v", err)
	}
}
