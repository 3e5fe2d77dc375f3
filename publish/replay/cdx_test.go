package replay_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/internal/testkit/crawltest"
	"curtsy/publish/catalog"
	"curtsy/publish/replay"
)

func TestCDX(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	host := v.seed.Host()
	for query, want := range map[string]string{ // the paths, or the status
		"url=" + host + "/case":                                               "/case",
		"url=" + host + "/Case%3FQ=(1),2":                                     "/Case?Q=(1),2",
		"url=" + host + "/ca*":                                                "/case /Case?Q=(1),2",
		"url=" + host + "/ca&matchType=prefix&sort=reverse":                   "/Case?Q=(1),2 /case",
		"url=" + host + "&matchType=host&filter=~url:.*/(case|koi)$":          "/case /koi",
		"url=" + host + "&matchType=domain&filter==statuscode:301":            "/old",
		"url=" + host + "&matchType=domain&filter=!mime:text&limit=1&to=2020": "404",
		"url=*." + host + "&filter=mime:octet&from=2020":                      "/file.bin /long",
		"url=" + host + "&matchType=host&filter=status:20&limit=1":            "/",
		"url=" + host + "/hidden":                                             "404",
		"url=" + host + "/late":                                               "/late",
		"url=" + host + "/nothing":                                            "404",
		"url=" + host + "&matchType=host&page=9":                              "400",
		"url=" + host + "&matchType=sideways":                                 "400",
		"url=" + host + "&filter=~url:(":                                      "400",
		"url=" + host + "&filter=colour:red":                                  "400",
		"url=" + host + "&limit=many":                                         "400",
		"output=json":                                                         "400",
	} {
		w := v.ui("/cdx?output=json&" + query)
		var paths []string
		for line := range strings.Lines(w.Body.String()) {
			var m map[string]string
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%s: %q: %v", query, line, err)
			}
			paths = append(paths, strings.TrimPrefix(m["url"], v.seed.Origin()))
		}
		got := strings.Join(paths, " ")
		if w.Code != http.StatusOK {
			got = http.StatusText(w.Code)
			want = map[string]string{"404": http.StatusText(404), "400": http.StatusText(400)}[want]
		}
		if got != want {
			t.Errorf("%s: got %d %q, want %q", query, w.Code, got, want)
		}
	}
	v.now = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	if w := v.ui("/cdx?url=" + host + "/late"); w.Code != http.StatusNotFound {
		t.Errorf("what has expired: %d %s", w.Code, w.Body)
	}
	line := v.ui("/cdx?url=" + host + "/case").Body.String()
	if key, rest, _ := strings.Cut(line, " "); key != v.seed.SURT()+"case" || !strings.Contains(rest,
		` {"url": "`+v.seed.Origin()+`/case", "mime": "text/html", "status": "200", "digest": "sha256:`) {
		t.Errorf("as CDXJ: %s", line)
	}
	if got := v.ui("/cdx?url=" + host + "/case&fl=original,statuscode,nothing").Body.String(); got != v.seed.Origin()+
		"/case 200 -\n" {
		t.Errorf("fields: %q", got)
	}
	if got := v.ui("/cdx?showNumPages=true&pageSize=2&url=" + host +
		"/ca*").Body.String(); got != `{"pages": 1, "pageSize": 2, "blocks": 1}`+"\n" {
		t.Errorf("pages: %q", got)
	}
}

// Two archives of one site give one TimeMap and one answer of the CDX server.
func TestTwoArchivesAreOne(t *testing.T) {
	t.Parallel()
	_, seed := crawltest.Site(t, "-- / --\n<title>x</title>one\n")
	var sources []*replay.Source
	for range 2 {
		dir := filepath.Join(t.TempDir(), "archive")
		crawltest.Archive(t, dir, seed)
		a := crawltest.Open(t, dir)
		index, err := catalog.Open(t.Context(), a, catalog.Options{Cache: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { index.Close() })
		sources = append(sources, &replay.Source{Catalog: index, Seed: seed, Open: func() (*replay.Reading, error) {
			return &replay.Reading{Archive: a, AsOf: time.Now(), Close: func() {}}, nil
		}})
	}
	s, err := replay.New(sources, replay.Options{UI: "127.0.0.1:8600", Content: "127.0.0.1:8601"})
	if err != nil {
		t.Fatal(err)
	}
	get := func(target string) string { return ask(s.UI(), "127.0.0.1:8600", target).Body.String() }
	if got := strings.Count(get("/timemap/link/"+seed.String()), `memento";datetime=`); got != 2 {
		t.Errorf("the timemap has %d mementos", got)
	}
	lines := slices.Collect(strings.Lines(get("/cdx?url=" + seed.Host() + "&matchType=host")))
	keys := make([]string, len(lines))
	for i, line := range lines {
		keys[i], _, _ = strings.Cut(line, " {")
	}
	if len(lines) != 4 || !slices.IsSorted(keys) || !strings.Contains(lines[0], seed.String()) ||
		!strings.Contains(lines[1], seed.String()) {
		t.Errorf("CDX: %q", lines)
	}
}
