//go:build unix

package importer_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"curtsy/crawler/importer"
)

// A named pipe is rejected: reading it would block until somebody writes.
func TestAPipeIsNoFileToImport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.warc")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	var why []string
	list, err := importer.Sources([]string{path}, nil, func(r importer.Refusal) { why = append(why, r.What) })
	if len(list) > 0 || !strings.Contains(strings.Join(why, "")+fmt.Sprint(err), "standard input: -") {
		t.Errorf("%d sources, refused %q, %v", len(list), why, err)
	}
}
