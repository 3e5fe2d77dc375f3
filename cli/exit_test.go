package cli

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"curtsy/publish/mirror"
)

func TestAPlaceThatMayNotBeWrittenIsNoFullDisk(t *testing.T) {
	for _, e := range []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EROFS} {
		err := mirrorError(&mirror.DiskError{Err: &fs.PathError{Op: "mkdir", Path: "/srv/x", Err: e}}, "a", "/srv/x")
		if exitCode(err) != exitFailed {
			t.Errorf("%v: exit code %d", e, exitCode(err))
		}
		if try := err.(*exitError).try; try != "as a user who may write /srv/x and its parent directory, or another OUT" {
			t.Errorf("%v: try: %s", e, try)
		}
	}
	err := mirrorError(&mirror.DiskError{Err: &fs.PathError{Op: "write", Path: "/srv/x", Err: syscall.ENOSPC}}, "a", "/srv/x")
	if exitCode(err) != exitStopped || !strings.HasPrefix(err.(*exitError).try, "make room") {
		t.Errorf("a full disk: %v, %d", err, exitCode(err))
	}
	doubled := fmt.Errorf("a/crawl.db: %w", &fs.PathError{Op: "open", Path: "a/crawl.db", Err: syscall.EACCES})
	err = archiveError(doubled, "a b")
	if err.Error() != "open a/crawl.db: permission denied" || exitCode(err) != exitFailed || err.(*exitError).try != "as a user who may read and write a b" {
		t.Errorf("an archive of somebody else's: %v, %d, try %q", err, exitCode(err), err.(*exitError).try)
	}
	if err := checkError(&fs.PathError{Op: "open", Path: "/srv/x", Err: syscall.ENOENT}, "/srv/x"); exitCode(err) != exitUsage {
		t.Errorf("nothing to check: %v", err)
	}
}
