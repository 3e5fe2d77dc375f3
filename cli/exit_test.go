package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"curtsy/publish/mirror"
	"curtsy/storage"
)

func TestAPlaceThatMayNotBeWrittenIsNoFullDisk(t *testing.T) {
	for _, e := range []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EROFS} {
		err := mirrorError(&mirror.DiskError{Err: &fs.PathError{Op: "mkdir", Path: "/srv/x", Err: e}}, "a", "/srv/x", 0)
		if exitCode(err) != exitFailed {
			t.Errorf("%v: exit code %d", e, exitCode(err))
		}
		want := "as a user who may write /srv/x and its parent directory, or another OUT"
		if e == syscall.EROFS {
			want = "another directory: the disk is mounted read-only"
		}
		if try := err.(*exitError).try; try != want {
			t.Errorf("%v: try: %s", e, try)
		}
	}
	err := mirrorError(&mirror.DiskError{Err: &fs.PathError{Op: "write", Path: "/srv/x", Err: syscall.ENOSPC}},
		"a", "/srv/x", 0)
	if exitCode(err) != exitStopped || !strings.HasPrefix(err.(*exitError).try, "make room") {
		t.Errorf("a full disk: %v, %d", err, exitCode(err))
	}
	doubled := fmt.Errorf("a/crawl.db: %w", &fs.PathError{Op: "open", Path: "a/crawl.db", Err: syscall.EACCES})
	err = archiveError(doubled, "a b")
	if err.Error() != "open a/crawl.db: permission denied" || exitCode(err) != exitFailed ||
		err.(*exitError).try != "as a user who may read and write a b" {
		t.Errorf("an archive of somebody else's: %v, %d, try %q", err, exitCode(err), err.(*exitError).try)
	}
	if err := checkError(&fs.PathError{Op: "open", Path: "/srv/x", Err: syscall.ENOENT},
		"/srv/x"); exitCode(err) != exitUsage {
		t.Errorf("nothing to check: %v", err)
	}
}

// When the disk is full the hint says how many bytes are needed; other write errors get a hint
// of their own.
func TestWhereNoMoreCanBeWrittenTheHintSaysHowMuchIsNeeded(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		err   error
		bytes int64
		want  string
	}{
		{syscall.ENOSPC, 1 << 60, "^make room: about 1.2 EB are needed(, [0-9.]+ [kMGTP]?B are free)?$"},
		{syscall.ENOSPC, 0, "^make room$"},
		{syscall.EDQUOT, 16_200_000, "your quota on the disk of .* raised: about 16.2 MB are needed$"},
		{syscall.EFBIG, 0, "ulimit -f"},
		{syscall.EIO, 5, "^check the disk$"},
		{syscall.EMFILE, 5, "ulimit -n"},
	} {
		if got := diskHint(fmt.Errorf("write: %w", c.err), dir, c.bytes); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%v, %d bytes: got %q, want %s", c.err, c.bytes, got, c.want)
		}
	}
}

// Damage exits with 5 even if no command has reported it; a hint that a command has given is
// kept.
func TestDamageIsExit5(t *testing.T) {
	damage := &storage.DamageError{File: "crawl.db", What: "a page is in use twice"}
	for err, want := range map[error]int{
		nil: 0, errors.New("else"): exitFailed, fmt.Errorf("list: %w", damage): exitDamaged,
		exitWith(exitStopped, damage, "later"): exitStopped,
	} {
		if got := exitCode(damaged(err)); got != want {
			t.Errorf("%v: exit %d, want %d", err, got, want)
		}
	}
}

// No repair is offered when the damage is in a linked file.
func TestWhatMendsALinkedFile(t *testing.T) {
	own, linked := storage.DamageError{File: "warc/x.warc.gz"}, storage.DamageError{File: filepath.Join(t.TempDir(), "x.warc.gz")}
	for try, found := range map[string][]storage.DamageError{
		"curtsy verify a --repair":                                   {linked, own},
		"the file back in its place, or curtsy import --link a FILE": {linked, linked},
	} {
		if got := mendHint("a", found); got != try {
			t.Errorf("%v: try: %s", found, got)
		}
	}
}
