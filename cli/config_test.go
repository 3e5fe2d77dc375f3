package cli

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

const example = "../config.example.yaml"

func TestExampleHoldsEveryKeyWithItsDefault(t *testing.T) {
	var got config
	if err := readConfig(&got, example); err != nil {
		t.Fatal(err)
	}
	if got.Fetch.Header != nil && len(got.Fetch.Header) == 0 {
		got.Fetch.Header = nil
	}
	want := values(defaults())
	for key, v := range values(got) {
		if !reflect.DeepEqual(v, want[key]) && !(reflect.ValueOf(v).Kind() == reflect.Slice &&
			reflect.ValueOf(v).Len() == 0) {
			t.Errorf("%s is %v, the default is %v", key, v, want[key])
		}
	}
	lines := keysOf(t)
	for key := range want {
		if !lines[key] {
			t.Errorf("%s is missing, or has no comment right above it", key)
		}
		delete(lines, key)
	}
	for key := range lines {
		t.Errorf("%s is no key", key)
	}
}

// values returns the keys of a configuration and their values.
func values(c config) map[string]any {
	m := map[string]any{}
	for _, k := range c.keys() {
		m[k.key] = k.value.Interface()
	}
	return m
}

// keysOf returns the keys of the example configuration that have a comment right above them.
func keysOf(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	keys, section, before := map[string]bool{}, "", ""
	for line := range strings.Lines(string(b)) {
		name, value, isKey := strings.Cut(strings.TrimRight(line, "\n"), ":")
		switch trimmed := strings.TrimSpace(name); {
		case strings.HasPrefix(trimmed, "#") || !isKey:
		case value == "":
			section = trimmed + "."
		case strings.HasPrefix(name, " "):
			keys[section+trimmed] = strings.HasPrefix(before, "#")
		default:
			keys[trimmed] = strings.HasPrefix(before, "#")
		}
		before = strings.TrimSpace(line)
	}
	return keys
}

func TestVariablesReachEveryKey(t *testing.T) {
	// A value for a key of each type.
	forms := map[string]string{
		"string": "x", "[]string": "a b", "time.Duration": "7s", "int": "7", "float64": "1.5", "bool": "true",
		"cli.size": "7KiB", "cli.cookieMode": "true",
	}
	for key, v := range values(config{}) {
		name := variable(key)
		form, ok := forms[reflect.TypeOf(v).String()]
		if !ok {
			if key != "fetch.header" {
				t.Errorf("%s is a %T, which no variable can set", key, v)
			}
			continue
		}
		var c config
		if err := readEnv(&c, func(n string) (string, bool) { return form, n == name }); err != nil {
			t.Errorf("%s=%s: %v", name, form, err)
		}
		if reflect.ValueOf(values(c)[key]).IsZero() {
			t.Errorf("%s=%s sets nothing", name, form)
		}
	}
}

func TestVariablesThatSetNothingAreNamed(t *testing.T) {
	got := unknownVariables([]string{"PATH=/bin", "CURTSY=curtsy", "CURTSY_DELAY=1s", "CURTSY_FETCH_HEADER=x",
		"CURTSY_FAILPOINT=x",
		"CURTSY_MAX_PAGES=5", "CURTSY_NOTHING=5", "CURTSY_=x", "CURTSY_EMPTY=", "CURTSY_delay=1s", "CURTSY_DELY=1s"})
	want := map[string]string{
		"CURTSY_":          "CURTSY_ is not a setting",
		"CURTSY_MAX_PAGES": "CURTSY_MAX_PAGES is not a setting; is CURTSY_LIMITS_MAX_PAGES meant?",
		"CURTSY_NOTHING":   "CURTSY_NOTHING is not a setting",
		"CURTSY_DELY":      "CURTSY_DELY is not a setting; is CURTSY_DELAY meant?",
		"CURTSY_delay":     "CURTSY_delay is not a setting; is CURTSY_DELAY meant?",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestMistakesInAFileNameItAndTheLine(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"an unknown key": {"delay: 1s\nfetch:\n  retries: 3\n  retrys: 3\n",
			[]string{`unknown field "retrys"`, ":4: "}},
		"an unknown section": {"delay: 1s\npolitness:\n  adaptive: 1\n",
			[]string{`unknown field "politness"`, ":2: "}},
		"a duration without unit": {"concurrency: 2\ndelay: 1\n",
			[]string{`delay: "1" is not a duration (write 1s, 500ms, 1h30m)`, ":2: "}},
		"a size": {"limits:\n  max_bytes: lots\n",
			[]string{`limits.max_bytes: "lots" is not a size`, ":2: "}},
		"no YAML":               {"delay: [1s\n", []string{":1: "}},
		"a key twice":           {"fetch:\n  retries: 1\n  retries: 2\n", []string{"retries", ":3: "}},
		"a value for a section": {"limits: 5\n", []string{"int was used where mapping is expected", ":1: "}},
		"a list for a value": {"agent: [a, b]\n",
			[]string{"agent: expected a single value, not a list", ":1: "}},
		"a number for a switch": {"fetch:\n  cookies: maybe\n",
			[]string{`fetch.cookies: "maybe" is not auto, true or false`, ":2: "}},
		"a number with a point": {"scope:\n  max_depth: 1.5\n",
			[]string{`scope.max_depth: "1.5" is not a whole number`, ":2: "}},
		"a mistake in a second document": {"delay: 1s\n---\ndelay: 1\n", []string{`"1" is not a duration`, ":3: "}},
		"200,000 brackets":               {strings.Repeat("[", 200_000), []string{"more than 100 levels deep", ":1: "}},
		"200,000 braces": {"fetch: " + strings.Repeat("{a: ", 200_000),
			[]string{"more than 100 levels deep", ":1: "}},
		"200,000 dashes": {strings.Repeat("- ", 200_000),
			[]string{"more than 100 levels deep", ":1: "}},
		"200,000 brackets in lines": {strings.Repeat("[\n", 200_000),
			[]string{"more than 100 levels deep", ":101: "}},
		"no mapping at all": {"just words\n",
			[]string{"string was used where mapping is expected", ":1: "}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "curtsy.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			conf := defaults()
			err := readConfig(&conf, path)
			if err == nil || exitCode(err) != exitUsage {
				t.Fatalf("%v, want a usage error", err)
			}
			for _, want := range append(c.want, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
			t.Log(err)
		})
	}
}

func TestValuesOfAFileAreReadAsTheyAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curtsy.yaml")
	text := "agent: 007\ncontact: \"a@b\"\nlimits:\npoliteness:\n  agents: [a, 1.10]\nfetch:\n  header:\n    X-Version: 1.10\n---\nlimits:\n  max_pages: 5\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c := defaults()
	if err := readConfig(&c, path); err != nil {
		t.Fatal(err)
	}
	if c.Agent != "007" || c.Contact != "a@b" || c.Fetch.Header["X-Version"] != "1.10" ||
		strings.Join(c.Politeness.Agents, " ") != "a 1.10" ||
		c.Limits.MaxPages != 5 || c.Delay != time.Second {
		t.Errorf("got %+v", c)
	}
}

func TestRobotsHoldsForWhatTheDialectSaysUnlessSet(t *testing.T) {
	for _, set := range []time.Duration{0, time.Hour} {
		c := defaults()
		if set > 0 {
			c.Politeness.RobotsMaxAge = set
		}
		o, err := crawlOptions(&c, weburl.MustParse("http://127.0.0.1/"), slog.New(slog.DiscardHandler))
		if err != nil || o.MaxRobotsAge != set {
			t.Errorf("set to %v it is %v, %v", set, o.MaxRobotsAge, err)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1073741824": 1 << 30, "1GiB": 1 << 30, "20 MB": 20_000_000, "500kb": 500_000, "7 b": 7,
		"-1": -1, "x": -1, "1.5GB": 1500_000_000, "": -1, "99999999999GiB": -1, "GiB": -1,
	} {
		var z size
		err := z.UnmarshalText([]byte(text))
		if want < 0 && err == nil || want >= 0 && (err != nil || int64(z) != want) {
			t.Errorf("%q is %d, %v; want %d", text, z, err, want)
		}
	}
}

func TestQuietWindows(t *testing.T) {
	for text, ok := range map[string]bool{"08:00-18:30": true, "22:00 - 06:00": true, "8-18": false, "08:00": false,
		"25:00-26:00": false, "": false} {
		w, err := quietWindow(text)
		if (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		if text == "08:00-18:30" && (w.Start != 8*time.Hour || w.End != 18*time.Hour+30*time.Minute) {
			t.Errorf("%q is %+v", text, w)
		}
	}
}

// The public settings, which are stored in segments and passed on with them, contain no path of
// this machine.
func TestPublicSettings(t *testing.T) {
	c := defaults()
	c.Archive, c.Fetch.Proxy, c.Fetch.CA, c.Fetch.Identity, c.Render.Browser = "/home/a", "http://home/", "/home/c",
		"/home/i", "/home/b"
	c.Known = []string{"/home/k"}
	b, err := json.Marshal(c.public())
	if err != nil || strings.Contains(string(b), "home") {
		t.Errorf("%v, %s", err, b)
	}
}
