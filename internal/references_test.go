package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	aComment  = regexp.MustCompile(`(?:^|\s)(?://|#) (.*)`)
	aDocument = regexp.MustCompile(`[A-Za-z0-9_/.-]+\.md\b`)
)

// Comments of the code, the scripts and the example configuration name only documents that
// exist.
func TestCommentsNameDocumentsThatAreThere(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		switch filepath.Ext(path) {
		case ".go", ".sh", ".yaml":
		default:
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n := 0
		for line := range strings.Lines(string(b)) {
			n++
			comment := aComment.FindStringSubmatch(line)
			if comment == nil {
				continue
			}
			for _, name := range aDocument.FindAllString(comment[1], -1) {
				if !isDocument(name) {
					t.Errorf("%s:%d names %s, which is not there", path, n, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isDocument reports whether a file of this name is in the root or in docs/.
func isDocument(name string) bool {
	name = strings.TrimLeft(name, "./")
	for _, dir := range []string{"..", "../docs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
