package export_test

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"curtsy/internal/testkit/crawltest"
	"curtsy/publish/export"
	"curtsy/publish/inventory"
	"curtsy/storage"
	"curtsy/usage"
)

// useful is a site whose pages have different preferences.
const useful = `
-- /robots.txt --
User-agent: *
Allow: /
Content-Usage: train-ai=n
Content-Usage: /free/ train-ai=y
-- / --
<!DOCTYPE html><html lang=en><title>start</title><a href="/free/a">a</a> <a href="/short">s</a> <a href="/unlisted">u</a> <a href="/gone">g</a>
-- /free/a --
<!DOCTYPE html><html lang=de-AT><title>frei</title><p>WORDS-OF-A <a href="/">back</a>
-- /short --
HTTP 200
X-Robots-Tag: max-snippet:20
Content-Type: text/html

<title>short</title><p>SECRET-SNIPPET
-- /unlisted --
HTTP 200
X-Robots-Tag: noindex
Content-Type: text/html

<title>unlisted</title><p>SECRET-NOINDEX <a href="/only-here">x</a>
-- /only-here --
<title>only here</title>
-- /gone --
HTTP 410

`

func known(a *storage.Archive) inventory.EachKnown {
	return func(each func(inventory.Known) error) error {
		f, err := a.Frontier()
		if err != nil {
			return err
		}
		return inventory.KnownOf(f)(each)
	}
}

// tableOf are the rows of a table in both formats, which say the same.
func tableOf(t *testing.T, a *storage.Archive, o export.Options) []map[string]any {
	t.Helper()
	o.Now, o.Data.Links = time.Now(), inventory.Options{Known: known(a), Now: time.Now()}
	o.Format = export.Parquet
	r, b := write(t, a, filepath.Join(t.TempDir(), "t.parquet"), o)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil || f.NumRows() != int64(r.Rows) {
		t.Fatalf("%v, or rows of which the result says %d", err, r.Rows)
	}
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			if c.MetaData.Codec.String() != "ZSTD" {
				t.Errorf("%v: %v", c.MetaData.PathInSchema, c.MetaData.Codec)
			}
		}
	}
	o.Format = export.JSONLZstd
	if o.Consent != nil {
		o.Consent = &export.Consent{Purpose: o.Consent.Purpose, Required: o.Consent.Required}
	}
	lines, b := write(t, a, filepath.Join(t.TempDir(), "t.jsonl.zst"), o)
	if lines.Rows != r.Rows {
		t.Errorf("%d rows of Parquet, %d lines of JSON", r.Rows, lines.Rows)
	}
	z, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var list []map[string]any
	for d := json.NewDecoder(z); ; {
		var row map[string]any
		if err := d.Decode(&row); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
}

func paths(rows []map[string]any) (list []string) {
	for _, r := range rows {
		list = append(list, r["url_path"].(string))
	}
	slices.Sort(list)
	return list
}

func TestTablesHoldWhatMayBeGivenAway(t *testing.T) {
	t.Parallel()
	_, seed := crawltest.Site(t, useful)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	consent := func(required bool) *export.Consent {
		return &export.Consent{Purpose: usage.TrainAI, Required: required}
	}
	for _, c := range []struct {
		says    string
		table   string
		consent *export.Consent
		want    string
	}{
		{"pages that may be listed", "", nil, "/ /free/a /only-here /short"},
		{"for training: those that do not say n", "pages", consent(false), "/free/a"},
		{"every capture that may be shown", "captures", nil, "/ /free/a /gone /only-here /robots.txt /short /unlisted"},
		{"captures for training, where it is said", "captures", consent(true), "/free/a"},
	} {
		rows := tableOf(t, a, export.Options{Seed: seed, Consent: c.consent, Data: export.Dataset{Table: c.table}})
		if got := strings.Join(paths(rows), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.says, got, c.want)
		}
	}
	for _, row := range tableOf(t, a, export.Options{Seed: seed}) {
		text, _ := row["text"].(string)
		switch row["url_path"] {
		case "/free/a":
			by := row["usage_by"].([]any)[0].(map[string]any)
			if text != "WORDS-OF-A back" || row["content_languages"] != "deu" || by["line"] != 4.0 || row["content_mime_detected"] != "text/html" {
				t.Errorf("of the page: %v", row)
			}
		case "/short":
			if text != "" {
				t.Errorf("a page that sets a limit to snippets is given away as a whole: %s", text)
			}
		}
	}
	links := tableOf(t, a, export.Options{Seed: seed, Data: export.Dataset{Table: "links"}})
	if len(links) != 5 {
		t.Errorf("links of pages that may be listed: %v", links)
	}
	all := tableOf(t, a, export.Options{Seed: seed, Data: export.Dataset{Table: "changes"}})
	if len(all) != 4 {
		t.Errorf("changes since the beginning: %v", all)
	}
}
