package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// Lock makes this process the only one over a fleet's directory, until its end.
func Lock(dir string) (release func(), err error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("curtsy fleet serve needs a Unix system")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, "fleet.lock"), flock.SetPermissions(0o600))
	if ok, err := l.TryLock(); err != nil || !ok {
		return nil, fmt.Errorf("%s: in use by another curtsy fleet serve", dir)
	}
	return func() { _ = l.Close() }, nil
}
