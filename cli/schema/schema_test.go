// Package schema_test checks the JSON output of commands against docs/json.schema.json. It has
// a test binary of its own, because the scripts of package cli start theirs hundreds of times,
// and initializing a JSON Schema validator takes longer than the rest of a start.
package schema_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"curtsy/cli"
	"curtsy/fleet"
	"curtsy/internal/testkit/sitetest"
	"curtsy/publish/pdf"
)

// TestMain lets the test binary also run as the child process of a command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == pdf.Command {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

const schemaFile = "../../docs/json.schema.json"

// schemas compiles the documented schemas. Consumers must ignore unknown fields; in these tests
// an undocumented field is an error.
func schemas(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	f, err := os.Open(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	closeObjects(doc)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://curtsy.invalid/schema", doc); err != nil {
		t.Fatal(err)
	}
	return c
}

// closeObjects forbids properties that an object schema does not name.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, named := v["properties"]; named && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, part := range v {
			closeObjects(part)
		}
	case []any:
		for _, part := range v {
			closeObjects(part)
		}
	}
}

// once lists commands over an archive of one crawl, and the schemas of their output.
var once = []struct{ schema, command string }{
	{"status", "status site --json"},
	{"status", "status site site --json"},
	{"explain", "explain site /missing.html --json"},
	{"explain", "explain site /noindex.html --json"},
	{"explain", "explain site /nowhere --json"},
	{"explain", "explain site /private/diary.html --json"},
	{"explain", "explain site /noarchive.html --json"},
	{"verify", "verify site --json"},
	{"mirror", "mirror site out --json"},
	{"mirror-check", "mirror --check out --json"},
	{"export", "export site site.csv --json"},
	{"export", "export site site.warc.gz --json"},
	{"export", "export site site.wacz --json"},
	{"verify-wacz", "verify site.wacz --json"},
	{"import", "import imported site.warc.gz --json"},
	{"import", "import imported site.warc.gz --json"},
	{"list", "list site --format json"},
	{"links", "links site --format json"},
	{"audit", "audit site --json"},
	{"robots", "robots --file robots.txt --json http://h/x http://h/y"},
	{"robots-file", "robots --file robots.txt --json"},
	{"robots-file", "robots --file empty.txt --json"},
	{"inspect", "inspect page.html --base http://h/ --json"},
	{"inspect-select", "inspect page.html --select a --json"},
	{"sitemap", "sitemap sitemap.xml --base http://h/ --json"},
	{"version", "version --json"},
	{"search", "search site page --json"},
}

// ofRounds lists commands over an archive with a second round.
var ofRounds = []struct{ schema, command string }{
	{"update", "update site --delay 0s --json"},
	{"status", "status site --json"},
	{"changes", "changes site --json"},
	{"diff", "diff site / --json"},
	{"prune", "prune site small --keep last=1 --json"},
	{"list-versions", "list site --versions --format json"},
	{"dry-run", "crawl ORIGIN/ --dry-run --json"},
	{"crawl", "crawl ORIGIN/ --archive more --delay 0s --json"},
	{"crawl", "resume more --json"},
}

// Every command that prints JSON is listed above.
func TestEveryCommandWithJSON(t *testing.T) {
	tested := map[string]bool{"fleet status": true} // needs a database, see TestJSONOfAFleet
	for _, test := range append(slices.Clone(once), ofRounds...) {
		tested[strings.Fields(test.command)[0]] = true
	}
	flag := regexp.MustCompile(`(?m)^ +--(json|format) `)
	var names func(above ...string)
	names = func(above ...string) {
		for line := range strings.Lines(output(append(append([]string{"__complete"}, above...), "")...)) {
			name, _, isCommand := strings.Cut(line, "\t")
			if !isCommand {
				continue
			}
			command := append(slices.Clone(above), name)
			if flag.MatchString(output(append(command, "--help")...)) && !tested[strings.Join(command, " ")] {
				t.Errorf("no test holds the JSON of curtsy %s against the schema", strings.Join(command, " "))
			}
			if name == "fleet" || name == "identity" {
				names(command...)
			}
		}
	}
	names()
}

// output runs a command and returns its output.
func output(args ...string) string {
	var out bytes.Buffer
	cli.Main(args, strings.NewReader(""), &out, io.Discard)
	return out.String()
}

func TestJSONIsAsItsSchemaSays(t *testing.T) {
	schemaPath, err := filepath.Abs(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	c := schemas(t)
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("robots.txt", "User-agent: *\nDisallow: /x\nCrawl-delay: 2\nRequest-rate: 1/5\nVisit-time: 0600-0845\nSitemap: http://h/s.xml\nHost: h\n")
	write("empty.txt", "")
	write("page.html", `<title>x</title><meta name=robots content="noindex, max-snippet:3, unavailable_after: 2030-01-01"><a href=/a rel=nofollow>1</a>`)
	write("sitemap.xml", "<urlset><url><loc>http://h/1</loc><lastmod>2026-01-02</lastmod></url></urlset>")
	run := func(args ...string) []string { return runLines(t, args...) }
	run("demo", "--keep", "site", "--quiet")
	covered := map[string]bool{}
	for _, test := range once {
		covered[test.schema] = true
		validate(t, c, test.schema, test.command)
	}
	documented(t, schemaPath, covered)
}

// TestJSONOfRounds checks the output for an archive with a second round.
func TestJSONOfRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("runs without -short")
	}
	schemaPath, err := filepath.Abs(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	c := schemas(t)
	t.Chdir(t.TempDir())
	s, err := sitetest.Parse([]byte("-- / --\n<title>Home</title><p>The quick brown fox.<p>It stays.\n"))
	if err == nil {
		err = s.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runLines(t, "crawl", s.Origin+"/", "--archive", "site", "--delay", "0s", "--json")
	if err := s.Set("/robots.txt", "User-agent: *\nDisallow: /x\nSitemap: "+s.Origin+"/sitemap.xml\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("/sitemap.xml", "<urlset><url><loc>"+s.Origin+"/</loc></url><url><loc>"+s.Origin+
		"/x</loc></url></urlset>"); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("/", "<title>Home</title><p>The slow brown fox.<p>It stays.\n"); err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, test := range ofRounds {
		test.command = strings.ReplaceAll(test.command, "ORIGIN", s.Origin)
		covered[test.schema] = true
		validate(t, c, test.schema, test.command)
	}
	documented(t, schemaPath, covered)
}

// The output of fleet status for a site, once with all optional fields and once with none.
func TestJSONOfAFleet(t *testing.T) {
	schema, err := schemas(t).Compile("https://curtsy.invalid/schema#/$defs/fleet-status")
	if err != nil {
		t.Fatal(err)
	}
	due := time.Unix(1_700_000_000, 0).UTC()
	for _, s := range []fleet.SiteStatus{{}, {Name: "a", Seed: "https://a.example/", State: "running", Worker: "w",
		Ending: "done", Due: &due, Epoch: 2, Unsaved: 1.5}} {
		var v any
		text, err := json.Marshal(&s)
		if err == nil {
			v, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
		}
		if err == nil {
			err = schema.Validate(v)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// validate runs a command and checks its output against a schema.
func validate(t *testing.T, c *jsonschema.Compiler, name, command string) {
	t.Helper()
	schema, err := c.Compile("https://curtsy.invalid/schema#/$defs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines := runLines(t, strings.Fields(command)...)
	if len(lines) == 0 {
		t.Errorf("curtsy %s printed nothing", command)
	}
	for _, line := range lines {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err == nil {
			err = schema.Validate(v)
		}
		if err != nil {
			t.Errorf("curtsy %s: a field is not in docs/json.schema.json, or not so: %v\n%.300s", command, err, line)
			return
		}
	}
}

// documented checks that docs/json.md names each schema.
func documented(t *testing.T, schemaPath string, covered map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(schemaPath), "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range covered {
		if !regexp.MustCompile("`" + name + "`").Match(text) {
			t.Errorf("docs/json.md does not name %s", name)
		}
	}
}

// runLines runs a command line and returns the lines that it printed.
func runLines(t *testing.T, args ...string) (lines []string) {
	t.Helper()
	var out, words bytes.Buffer
	cli.Main(args, strings.NewReader(""), &out, &words)
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) && args[0] != "demo" {
			t.Errorf("curtsy %s: no JSON: %s%s", strings.Join(args, " "), line, words.String())
			continue
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 && words.Len() > 0 {
		t.Log(words.String())
	}
	return lines
}
