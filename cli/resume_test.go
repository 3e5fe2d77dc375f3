//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// An archive can come from anybody: its proxy, and a pace faster than the default, are used
// only after confirmation.
func TestProxyAndPaceOfAnArchiveAreConfirmed(t *testing.T) {
	g := newStranger(t)
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(file, []byte("delay: 2s\nfetch:\n  proxy: http://127.0.0.1:3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const far, proxy = "https://example.org/", "http://me:secret@127.0.0.1:1"
	for _, c := range []struct {
		what, seed, proxy string
		delay             time.Duration
		args, env, asks   string // asks: part of the hint; "" if the command continues without asking
		wantProxy         string
		wantDelay         time.Duration
	}{
		{"polite", far, "", time.Second, "", "", "", "", time.Second},
		{"slow", far, "", time.Minute, "", "", "", "", time.Minute},
		{"quick", far, "", time.Millisecond, "", "", "--delay 1s, or --as-archived", "", 0},
		{"quick, of this machine", "", "", time.Millisecond, "", "", "", "", time.Millisecond},
		{"quick, as archived", far, "", time.Millisecond, "--as-archived", "", "", "", time.Millisecond},
		{"quick, another pause by flag", far, "", time.Millisecond, "--delay 5ms", "", "", "", 5 * time.Millisecond},
		{"quick, another by variable", far, "", time.Millisecond, "", "3s", "", "", 3 * time.Second},
		{"quick, another by file", far, "", time.Millisecond, "--config " + file, "", "", "http://127.0.0.1:3",
			2 * time.Second},
		{"a proxy", far, proxy, time.Second, "", "", "--proxy with the one to use, or --as-archived", "", 0},
		{"a proxy, for this machine", "", proxy, time.Second, "", "", "--proxy with the one to use, or --as-archived",
			"", 0},
		{"a proxy, as archived", far, proxy, time.Second, "--as-archived", "", "", proxy, time.Second},
		{"a proxy, none by flag", far, proxy, time.Second, "--proxy=", "", "", "", time.Second},
		{"a proxy, another by flag", far, proxy, time.Second, "--proxy http://127.0.0.1:2", "", "",
			"http://127.0.0.1:2", time.Second},
	} {
		t.Run(c.what, func(t *testing.T) {
			if c.env != "" {
				t.Setenv("CURTSY_DELAY", c.env)
			}
			err := inDB(g.base, func(tx *bbolt.Tx) error {
				return crawlEntry(tx, func(v map[string]any) {
					s := v["settings"].(map[string]any)
					v["seed"] = g.seed
					if c.seed != "" {
						v["seed"] = c.seed
					}
					s["Delay"], s["Contact"] = int64(c.delay), "them@example.org"
					s["Fetch"].(map[string]any)["Proxy"] = c.proxy
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			f, asArchived := &crawlFlags{}, false
			cmd := f.command("resume DIR", vars{"as-archived": &asArchived}, nil)
			if err := cmd.ParseFlags(strings.Fields(c.args)); err != nil {
				t.Fatal(err)
			}
			u := &ui{out: &dataWriter{w: &said}, err: &said}
			_, got, err := f.again(u, cmd, g.base, asArchived)
			if err != nil {
				u.fail(err)
			}
			if asks := c.asks != ""; asks != (exitCode(err) == exitUsage) || !strings.Contains(said.String(), c.asks) {
				t.Errorf("%v, want %q:\n%s", err, c.asks, said.String())
			}
			if err == nil && (got.Fetch.Proxy != c.wantProxy || got.Delay != c.wantDelay) {
				t.Errorf("proxy %q and delay %s, want %q and %s", got.Fetch.Proxy, got.Delay, c.wantProxy, c.wantDelay)
			}
			if strings.Contains(said.String(), "secret") {
				t.Errorf("a password is shown: %s", said.String())
			}
			if shown := strings.Contains(said.String(), ": pause "); shown != (c.seed != "" || c.asks != "") {
				t.Errorf("pace and proxy shown: %v:\n%s", shown, said.String())
			}
		})
	}
}
