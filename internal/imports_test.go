package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed lists what each package may import: main imports cli, cli imports crawler and the
// packages that produce output, only crawler joins the stages, and stages do not import each
// other. Everyone may import the packages below internal/, which import none of the others.
var allowed = map[string][]string{
	".": {"cli"},
	"cli": {"app", "identity", "fleet", "fleet/engine", "fleet/store", "crawler",
		"crawler/explain", "crawler/fetch", "crawler/importer", "crawler/known", "crawler/preview", "crawler/rebuild",
		"crawler/render", "crawler/revisit", "crawler/status", "crawler/verify", "frontier", "frontier/judge",
		"htmlmeta", "politeness", "politeness/rules", "publish", "publish/...", "sitemap", "storage",
		"storage/crawllog", "usage"},
	"app": {"crawler", "crawler/preview", "crawler/status", "frontier/judge", "publish",
		"publish/changes", "publish/icon", "storage", "storage/crawllog"},
	"crawler": {"crawler/fetch", "crawler/render", "crawler/revisit", "crawler/robotstxt",
		"crawler/status", "crawler/visit", "frontier", "frontier/judge", "politeness", "politeness/rules", "storage",
		"storage/crawllog", "usage"},
	"internal/testkit/crawltest": {"crawler", "crawler/fetch", "crawler/verify", "internal/testkit/sitetest",
		"internal/weburl", "storage", "storage/crawllog"}, // runs and checks whole crawls
	"crawler/explain": {"crawler", "crawler/revisit", "crawler/robotstxt", "crawler/status", "frontier",
		"frontier/judge", "politeness/rules", "storage", "storage/crawllog", "usage"},
	"crawler/fetch":  {},
	"crawler/render": {},
	"crawler/visit": {"facts", "crawler/fetch", "crawler/revisit", "crawler/robotstxt", "crawler/status", "frontier",
		"frontier/judge", "htmlmeta", "politeness/rules", "sitemap", "storage", "storage/crawllog",
		"storage/warc", "usage"},
	"crawler/rebuild": {"crawler", "crawler/fetch", "crawler/revisit", "crawler/robotstxt", "crawler/status",
		"crawler/visit", "frontier", "frontier/judge", "politeness/rules", "sitemap", "storage", "storage/crawllog",
		"storage/warc", "usage"},
	"crawler/importer": {"crawler", "crawler/rebuild", "crawler/revisit", "crawler/visit", "frontier/judge", "htmlmeta", "storage",
		"storage/crawllog", "storage/warc"},
	"crawler/known": {"storage/crawllog", "storage/warc"},
	"crawler/preview": {"crawler", "crawler/fetch", "crawler/robotstxt", "crawler/visit", "frontier",
		"frontier/judge", "politeness", "politeness/rules", "sitemap", "usage"},
	"crawler/robotstxt": {"crawler/fetch", "frontier/judge", "politeness", "politeness/rules", "storage",
		"storage/crawllog", "storage/warc"},
	"crawler/status": {"frontier", "frontier/judge", "politeness", "storage", "storage/crawllog"},
	"crawler/verify": {"crawler/status", "frontier", "frontier/judge", "politeness/rules", "storage",
		"storage/crawllog"},
	"crawler/revisit":  {"crawler/status", "frontier", "sitemap", "storage", "storage/crawllog"},
	"facts":            {"htmlmeta"},
	"frontier":         {"frontier/judge"},
	"frontier/judge":   {"politeness/rules"},
	"htmlmeta":         {"usage"},
	"politeness":       {},
	"politeness/rules": {"politeness", "usage"},
	"sitemap":          {},
	"storage":          {"frontier", "storage/crawllog", "storage/warc"},
	"storage/crawllog": {"storage/warc", "usage"},
	"usage":            {},
	"identity":         {},
	"storage/warc":     {},
	"fleet": {"crawler", "crawler/revisit", "crawler/status", "fleet/engine", "fleet/lease",
		"fleet/store"},
	"fleet/engine": {},
	"fleet/lease":  {"fleet/engine"},
	"fleet/store":  {"storage", "storage/crawllog"},
	"archive": {"facts", "htmlmeta", "publish", "storage", "storage/crawllog",
		"storage/warc"}, // may be used by other programs
	"publish": {"facts", "htmlmeta", "storage", "storage/crawllog", "storage/warc", "usage"},
	"publish/assistant": {"facts", "htmlmeta", "publish", "publish/catalog", "publish/changes",
		"publish/markdown", "publish/replay", "publish/search", "storage/crawllog", "usage"},
	"publish/article":  {"htmlmeta"},
	"publish/corpus":   {"publish/search"},
	"publish/markdown": {"htmlmeta", "publish/article"},
	"publish/replay": {"htmlmeta", "publish", "publish/catalog", "publish/changes", "publish/search", "storage",
		"storage/crawllog", "usage"},
	"publish/report": {"frontier", "frontier/judge", "publish", "publish/audit", "publish/catalog", "publish/inventory",
		"storage", "storage/crawllog", "usage"},
	"publish/inventory": {"facts", "frontier", "frontier/judge", "htmlmeta", "publish", "storage",
		"storage/crawllog", "usage"},
	"publish/audit": {"facts", "frontier/judge", "htmlmeta", "publish", "publish/inventory", "sitemap", "storage",
		"storage/crawllog", "usage"},
	"publish/mirror": {"facts", "frontier/judge", "htmlmeta", "publish", "publish/inventory", "storage",
		"storage/crawllog", "usage"},
	"publish/export": {"facts", "frontier/judge", "htmlmeta", "identity", "publish", "publish/article",
		"publish/changes", "publish/corpus", "publish/icon", "publish/inventory", "publish/markdown", "publish/mirror",
		"storage", "storage/crawllog", "storage/warc", "usage"},
	"publish/...": {"facts", "frontier/judge", "htmlmeta", "publish", "publish/catalog", "storage",
		"storage/crawllog", "storage/warc", "usage"},
}

// testkit has helpers for tests: no package of the program imports it.
const testkit = "internal/testkit/"

func TestImportsPointOneWay(t *testing.T) {
	graph := imports(t, "..")
	if !slices.Contains(graph["crawler"], "curtsy/storage") || !slices.Contains(graph["storage"], "go.etcd.io/bbolt") {
		t.Fatalf("imports that are known to be there were not found in %d packages", len(graph))
	}
	for pkg, list := range graph {
		for _, imported := range list {
			imported, ours := strings.CutPrefix(imported, "curtsy/")
			if !ours {
				continue
			}
			if strings.HasPrefix(imported, testkit) && !strings.HasPrefix(pkg, testkit) {
				t.Errorf("%s imports %s, which is for tests", pkg, imported)
			}
			if inside(imported) && (!inside(pkg) || imported == parent(pkg)) {
				continue
			}
			rule, known := rulesFor(pkg)
			if !known {
				t.Errorf("package %s is not in the picture: add it to crawler/doc.go, the README and here", pkg)
				break
			}
			if !slices.Contains(rule, imported) && !slices.Contains(rule, parent(imported)+"/...") {
				t.Errorf("%s imports %s; it may import %q", pkg, imported, rule)
			}
		}
	}
}

// Only the packages that store crawl.db import its database.
func TestOnlyTheArchiveKnowsItsStore(t *testing.T) {
	for pkg, list := range imports(t, "..") {
		if slices.ContainsFunc(list, func(name string) bool { return strings.HasPrefix(name, "go.etcd.io/bbolt") }) &&
			pkg != "storage" && pkg != "frontier" {
			t.Errorf("%s imports bbolt; storage and frontier alone may", pkg)
		}
	}
}

func inside(pkg string) bool { return strings.HasPrefix(pkg, "internal/") }

func parent(pkg string) string {
	p, _, _ := strings.Cut(pkg, "/")
	if inside(pkg) {
		return filepath.ToSlash(filepath.Dir(pkg))
	}
	return p
}

func rulesFor(pkg string) ([]string, bool) {
	if list, ok := allowed[pkg]; ok {
		return list, true
	}
	list, ok := allowed[parent(pkg)+"/..."]
	return list, ok
}

// imports returns the imports of every package of the module without its tests, offline.
func imports(t *testing.T, root string) map[string][]string {
	t.Helper()
	graph := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(dir)
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(graph[pkg], name) {
				graph[pkg] = append(graph[pkg], name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return graph
}
