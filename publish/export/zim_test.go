package export_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"curtsy/internal/testkit/crawltest"
	"curtsy/publish/export"
	"curtsy/publish/mirror"
	"curtsy/usage"
)

const zimSite = `
-- / --
<!DOCTYPE html><html lang="ru"><link rel=icon href=/i.png><title>start
page</title><a href="/a">a</a> <a href="/old">old</a> <a href="/hidden">h</a> <a href="/unlisted">u</a> <a href="/no-models">n</a>
-- /a --
<title>a</title>one body
-- /old --
HTTP 301
Location: /a
-- /hidden --
HTTP 200
X-Robots-Tag: noarchive
Content-Type: text/html

<title>hidden</title>SECRET-NOARCHIVE
-- /unlisted --
HTTP 200
X-Robots-Tag: noindex
Content-Type: text/html

<title>unlisted</title>kept
-- /no-models --
HTTP 200
Content-Usage: train-ai=n
Content-Type: text/html

<title>no models</title>
`

func TestZIMHoldsWhatTheMirrorDoes(t *testing.T) {
	t.Parallel()
	_, seed := crawltest.Site(t, zimSite)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	o := export.Options{Format: export.ZIM, Seed: seed, Now: time.Now(), Software: "curtsy/test",
		Mirror: func() (mirror.Options, error) { return mirror.Options{Seed: seed, Complete: true}, nil }}
	out := filepath.Join(t.TempDir(), "site.zim")
	r, b := write(t, a, out, o)
	if r.Captures != 4 || r.Pages != 4 || r.Withheld != 1 {
		t.Errorf("got %+v", r)
	}
	for text, want := range map[string]bool{
		"SECRET": false, "Chidden.html": false, "\x00start page\x00": true, "\x00unlisted\x00": false,
		"unlisted.html\x00\x00": true, "no-models.html\x00no models\x00": true,
	} {
		if strings.Contains(string(b), text) != want {
			t.Errorf("the file has %q: %v, want %v", text, !want, want)
		}
	}
	if _, again := write(t, a, out, o); string(again) != string(b) {
		t.Error("the same archive gives another file")
	}
	o.Consent = &export.Consent{Purpose: usage.TrainAI}
	if r, b = write(t, a, out, o); r.Captures != 3 || r.Refused != 1 || strings.Contains(string(b), "no-models") {
		t.Errorf("train-ai: %+v, %+v", r, r.Consent)
	}
	left, _ := os.ReadDir(filepath.Dir(out))
	if len(left) != 1 {
		t.Errorf("beside the export lie %v", left)
	}
	if err := os.WriteFile(out, []byte("ZIM\x04 somebody else's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := export.Write(context.Background(), a, out, o); !errors.Is(err, export.ErrNotOurs) {
		t.Errorf("over a foreign file: %v", err)
	}
}

func TestTheTitleOfAZIMMayBeListed(t *testing.T) {
	t.Parallel()
	for robots, want := range map[string]bool{"index": true, "noindex": false} {
		_, seed := crawltest.Site(t, "-- / --\n<!DOCTYPE html><meta name=robots content="+robots+"><title>Front page</title>x\n")
		dir := filepath.Join(t.TempDir(), "archive")
		crawltest.Archive(t, dir, seed)
		out := filepath.Join(t.TempDir(), "site.zim")
		_, b := write(t, crawltest.Open(t, dir), out, export.Options{Format: export.ZIM, Seed: seed, Now: time.Now(),
			Mirror: func() (mirror.Options, error) { return mirror.Options{Seed: seed, Complete: true}, nil }})
		text := string(b)
		for at := b; ; at = at[4:] { // its clusters are Zstandard frames (RFC 8878)
			i := bytes.Index(at, []byte("\x28\xb5\x2f\xfd"))
			if i < 0 {
				break
			}
			at = at[i:]
			cluster, _ := zstd.NewReader(bytes.NewReader(at), zstd.WithDecoderConcurrency(1))
			plain, _ := io.ReadAll(cluster) // an error: the data after it is not a frame
			text += string(plain)
			cluster.Close()
		}
		if strings.Contains(strings.ReplaceAll(text, "<title>Front page</title>", ""), "Front page") != want {
			t.Errorf("%s: that the file names it is %v", robots, !want)
		}
	}
}
