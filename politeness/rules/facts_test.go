package rules

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

// fact is a line of testdata/*.jsonl: a known fact about a robots.txt.
type fact struct {
	ID, Kind, Source, Dialect, Test string
	Robots                          string
	RobotsB64                       string `json:"robots_b64"`
	Agent, URL                      string
	Allow                           *bool
	Delay                           *float64
	Host                            *string
	Canonical                       string
	Sitemaps                        []string
	Status                          int
	ContentType                     string `json:"content_type"`
	Error                           string
	Redirects                       int
	Days                            int
	Path                            string
	OK                              bool
	TTLDays                         float64 `json:"ttl_days"`
	TTLDaysMax                      float64 `json:"ttl_days_max"`
}

func (f fact) options() Options {
	o := Options{Agents: []string{f.Agent}}
	switch f.Dialect {
	case "yandex":
		o.Dialect = Yandex
	case "classic1994", "space-list":
		o.Dialect = Classic1994
	}
	return o
}

func (f fact) body(t testing.TB) []byte {
	if f.RobotsB64 == "" {
		return []byte(f.Robots)
	}
	b, err := base64.StdEncoding.DecodeString(f.RobotsB64)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func facts(t testing.TB, pattern string) []fact {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no facts in %s: %v", pattern, err)
	}
	var out []fact
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var one fact
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out = append(out, one)
		}
		f.Close()
	}
	return out
}

// targetOf returns path and query of a fact's URL, unchanged.
func targetOf(url string) string {
	if len(url) > 0 && url[0] == '/' {
		return url
	}
	u, err := weburl.Parse(url)
	if err != nil {
		return url
	}
	return u.Target()
}

func TestFactsAllow(t *testing.T) {
	for _, f := range facts(t, "allow-*.jsonl") {
		v := Parse(f.body(t), f.options()).Verdict(targetOf(f.URL))
		if v.Allow != *f.Allow {
			t.Errorf("%s %s (%s): %s %s allowed = %v by %q; want %v\n%.400s", f.ID, f.Test, f.Dialect, f.Agent, f.URL,
				v.Allow, v.Rule, *f.Allow, f.Robots)
		}
	}
}

func TestFactsOfEveryKind(t *testing.T) {
	for _, f := range facts(t, "kinds.jsonl") {
		check, ok := kinds[f.Kind]
		if !ok {
			t.Errorf("%s: nothing tests the kind %q", f.ID, f.Kind)
			continue
		}
		check(t, f)
	}
}

var kinds = map[string]func(*testing.T, fact){
	"delay": func(t *testing.T, f fact) {
		d, _, ok := Parse(f.body(t), f.options()).CrawlDelay()
		if ok != (f.Delay != nil) || ok && d.Seconds() != *f.Delay {
			t.Errorf("%s: delay = %v, %v", f.ID, d, ok)
		}
	},
	"host": func(t *testing.T, f fact) {
		h, _, ok := Parse(f.body(t), f.options()).Host()
		if ok != (f.Host != nil) || ok && h != *f.Host {
			t.Errorf("%s: host = %q, %v", f.ID, h, ok)
		}
	},
	"cleanparam": func(t *testing.T, f fact) {
		got, by := Parse(f.body(t), f.options()).Fold(weburl.MustParse(f.URL))
		want := weburl.MustParse(f.Canonical)
		if got != want || (by != nil) != (f.URL != f.Canonical) {
			t.Errorf("%s: %s folds to %s by %+v; want %s", f.ID, f.URL, got, by, want)
		}
	},
	"sitemaps": func(t *testing.T, f fact) {
		var got []string
		for _, s := range Parse(f.body(t), f.options()).Sitemaps() {
			got = append(got, s.URL)
		}
		if !slices.Equal(got, f.Sitemaps) {
			t.Errorf("%s: sitemaps = %q", f.ID, got)
		}
	},
	"status": func(t *testing.T, f fact) {
		if f.Allow == nil || f.Days > 0 {
			return // followed redirects and the 30 days are handled by crawler/robotstxt
		}
		status := f.Status
		if f.Redirects > 0 {
			status = 302
		}
		if a := ResponseAccess(status, f.ContentType, f.options()); (a == Absent) != *f.Allow {
			t.Errorf("%s: access = %v; want allow = %v", f.ID, a, *f.Allow)
		}
	},
	"location": func(t *testing.T, f fact) {
		if (f.Path == Location) != f.OK {
			t.Errorf("%s: %s is a robots.txt: %v", f.ID, f.Path, !f.OK)
		}
	},
	"cachettl": func(t *testing.T, f fact) {
		days := float64(f.options().Dialect.MaxAge() / (24 * time.Hour))
		if f.TTLDays != 0 && days != f.TTLDays || f.TTLDaysMax != 0 && days > f.TTLDaysMax {
			t.Errorf("%s: kept for %v days", f.ID, days)
		}
	},
}
