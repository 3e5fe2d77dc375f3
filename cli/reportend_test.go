package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// After a crawl no report is written if it would take as long as the crawl did; the report
// command writes it on request.
func TestALargeArchiveIsReportedOnRequest(t *testing.T) {
	var said bytes.Buffer
	u := &ui{out: &dataWriter{w: &said}, err: &said}
	c := defaults()
	c.Archive = t.TempDir()
	f := &crawlFlags{crawlEnd: crawlEnd{ran: true, found: reportedAtEnd + 1}}
	f.reportEnd(u, &c, exitStopped, reportOf{})
	if !strings.Contains(said.String(), "the report on 50001 URLs is written by curtsy report "+c.Archive) {
		t.Errorf("said: %s", &said)
	}
	if _, err := os.Stat(filepath.Join(c.Archive, "report.html")); err == nil {
		t.Error("a report was written")
	}
}
