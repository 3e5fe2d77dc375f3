package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"curtsy/internal/testkit/sitetest"
)

// The examples for CI servers in packaging/ci are run as they are written, as far as that is
// possible without their servers.
func TestExamplesForCI(t *testing.T) {
	long(t)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	bin := t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "curtsy"))
	}
	if err != nil {
		t.Skip(err)
	}
	scripts := map[string]func(doc map[string]any) any{
		"action.yml":    func(doc map[string]any) any { return at(doc, "runs", "steps", 0, "run") },
		"gitlab-ci.yml": func(doc map[string]any) any { return at(doc, "curtsy", "script", 0) },
	}
	for name, find := range scripts {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile("../packaging/ci/" + name)
			if err != nil {
				t.Fatal(err)
			}
			var doc map[string]any
			if err := yaml.Unmarshal(b, &doc); err != nil {
				t.Fatal(err)
			}
			script, _ := find(doc).(string)
			s, err := sitetest.Parse([]byte("-- / --\n<html lang=en><title>Home</title><meta name=description content=x><h1>x</h1><a href=/gone>x</a>\n-- /gone --\nHTTP 404\n\n"))
			if err == nil {
				err = s.Start("127.0.0.1:0")
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			dir := t.TempDir()
			run := func() (string, error) {
				c := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
				c.Dir = dir
				c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "URL="+s.Origin+"/", "CONTACT=",
					"BASELINE=", "ARGS=--delay 0s", "CURTSY_POLITENESS_USAGE_FILES=false")
				out, err := c.CombinedOutput()
				return string(out), err
			}
			if out, err := run(); err == nil || !strings.Contains(out, "1 URL broken") {
				t.Errorf("a broken link: %v: %s", err, out)
			}
			if err := s.Set("/gone", "<html lang=en><title>Back</title><meta name=description content=y><h1>y</h1>"); err != nil {
				t.Fatal(err)
			}
			if out, err := run(); err != nil {
				t.Errorf("nothing is broken: %v: %s", err, out)
			}
		})
	}
}

// at returns the value of a document under a path of names and indices, or nil if there is
// none.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}
