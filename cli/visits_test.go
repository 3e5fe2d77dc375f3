package cli

import (
	"strings"
	"testing"
	"time"

	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// TestManyVisits checks that the cost for a URL with thousands of visits is linear; the test
// would be visibly slow if it were quadratic.
func TestManyVisits(t *testing.T) {
	long(t)
	twoRounds(t)
	const visits = 3_000
	url := manyVisits(t, "site", "/same", visits)
	lines := runLines(t, "list", "site", "--versions", "--where", "url=/same", "--format", "json")
	if len(lines) != visits {
		t.Errorf("list --versions: %d lines, want %d", len(lines), visits)
	}
	if text := curtsyText(t, "explain", "site", url); strings.Count(text, "\nvisit ") != visits ||
		!strings.Contains(text, "of 2999 visits") {
		t.Errorf("explain: %d visits; …%s", strings.Count(text, "\nvisit "), text[max(0, len(text)-300):])
	}
	wantWords(t, "changes", curtsyText(t, "changes", "site"), "/page", "no /same")
	curtsyText(t, "prune", "site", "small", "--keep", "last=2", "--keep", "monthly", "--dry-run")

	s := serverOf(t, "site")
	for _, path := range []string{"/versions/", "/2026/"} {
		status, body := getAt(s.UI(), "127.0.0.1:28600", path+url)
		if status != 200 || !strings.Contains(body, "3,000 captures") {
			t.Errorf("serve %s: status %d, %.300s", path, status, body)
		}
	}
}

// manyVisits gives a URL so many visits, an hour apart and all unchanged since the first.
func manyVisits(t *testing.T, dir, path string, many int) (url string) {
	t.Helper()
	a, err := storage.Open(dir, storage.Options{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var first, last *crawllog.Visit
	for visits, err := range a.Histories() {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(visits[0].URL, path) {
			first, last = visits[0], visits[len(visits)-1]
		}
	}
	ref := first.Ref()
	if first.Refers != nil {
		ref = *first.Refers
	}
	for n := last.N + 1; n <= many; n++ {
		v := *first
		v.N, v.At, v.Status, v.Kept, v.Refers, v.Length = n, first.At.Add(time.Duration(n)*time.Hour), 304,
			crawllog.KeptRevisit, &ref, 0
		if err := a.Append(&v, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Commit(nil); err != nil {
		t.Fatal(err)
	}
	return first.URL
}
