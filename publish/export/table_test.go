package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
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

// useful is a site whose pages have different usage preferences.
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

// tableOf returns the rows of a table, and checks that both formats have the same.
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
			if text != "WORDS-OF-A back" || row["content_languages"] != "deu" || by["line"] != 4.0 ||
				row["content_mime_detected"] != "text/html" {
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

const texts = `
-- /robots.txt --
User-agent: *
Allow: /
-- / --
<title>start</title><p>Imprint and contact</p><a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a> <a href=/4>4</a> <a href=/5>5</a>
-- /1 --
<title>one</title><p>Imprint and contact</p><p>The settings are kept in a file of the user, and it is read by the program when it starts or when it is asked to do so.</p>
-- /2 --
<title>copy</title><p>Imprint and contact</p><p>The settings are kept in a file of the user, and it is read by the program when it starts or when it is asked to do so.</p>
-- /3 --
<title>drei</title><p>Imprint and contact</p><p>Die Einstellungen werden in einer Datei gespeichert, die im Verzeichnis des Benutzers liegt und nicht hier, damit sie das Programm lesen kann.</p>
-- /4 --
<title>short</title><p>Imprint and contact</p><p>Nichts hier</p><a rel=license href="https://creativecommons.org/licenses/by/4.0/">CC BY</a>
-- /5 --
<meta name=robots content="max-snippet:20"><title>limited</title><p>Imprint and contact</p><p>These words are not for all, and they are not given away as a whole.</p>
`

func TestPagesSayWhatTheirTextsAre(t *testing.T) {
	t.Parallel()
	_, seed := crawltest.Site(t, texts)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	near := seed.String() + "1"
	for _, row := range tableOf(t, a, export.Options{Seed: seed}) {
		path := row["url_path"].(string)
		want := map[string][3]string{"/1": {"eng", near, "2"}, "/2": {"eng", near, "2"},
			"/3": {"deu", "<nil>", "<nil>"}}[path]
		if want[0] == "" {
			want = [3]string{"<nil>", "<nil>", "<nil>"}
		}
		got := [3]string{fmt.Sprint(row["language"]), fmt.Sprint(row["near_duplicate_of"]),
			fmt.Sprint(row["near_duplicates"])}
		if got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
		if _, scored := row["language_score"]; scored != (row["language"] != nil) {
			t.Errorf("%s: a score of no language, or the other way round: %v", path, row)
		}
		lines := fmt.Sprint(row["boilerplate"])
		if want := path != "/5"; want != (lines == "[Imprint and contact]") {
			t.Errorf("%s: boilerplate %s", path, lines)
		}
	}
	out := filepath.Join(t.TempDir(), "t.parquet")
	write(t, a, out, export.Options{Seed: seed, Now: time.Now(), Format: export.Parquet})
	card, err := os.ReadFile(out + ".md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"| rows | 6 |", "- The text of 1 pages:", "- Languages, as detected: eng 2, deu 1.",
		"- Near-duplicates: 2 pages in 1 clusters",
		"- Boilerplate: 5 pages have", "- Licenses that pages state: https://creativecommons.org/licenses/by/4.0/ 1."} {
		if !strings.Contains(string(card), line) {
			t.Errorf("the card lacks %q:\n%s", line, card)
		}
	}
}

func TestMainTextLeavesOutTheFrame(t *testing.T) {
	t.Parallel()
	_, seed := crawltest.Site(t, `
-- / --
<title>page</title><nav>MENU `+strings.Repeat("der Weg zu den Seiten, die nicht in einer Liste sind ", 20)+`</nav><header>BANNER</header><p>`+strings.Repeat("These are the words of the page, and it is for people that read them on a screen. ", 5)+`</p><form>ASK</form><footer>LEGAL</footer>
`)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	for _, main := range []bool{true, false} {
		texts := map[export.Format]string{}
		for _, f := range []export.Format{export.Text, export.MD} {
			_, b := write(t, a, filepath.Join(t.TempDir(), "t"), export.Options{Seed: seed, Now: time.Now(),
				Format: f, Main: main})
			texts[f] = string(b)
		}
		for _, row := range tableOf(t, a, export.Options{Seed: seed, Main: main}) {
			texts[export.JSONLZstd], _ = row["text"].(string)
			if row["language"] != "eng" {
				t.Errorf("main text %v: the language is that of the main text, not %v", main, row["language"])
			}
		}
		for f, text := range texts {
			for _, word := range []string{"MENU", "BANNER", "ASK", "LEGAL"} {
				if strings.Contains(text, word) == main || !strings.Contains(text, "words of the page") {
					t.Errorf("%s, main text %v: %s in %q", f, main, word, text)
				}
			}
		}
	}
}
