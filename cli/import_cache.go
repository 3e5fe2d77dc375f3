package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"curtsy/crawler/importer"
)

// importsDir is where archives that were made of a file to be shown once lie, below the
// account's cache directory. They are derived, and may be deleted.
const importsDir = "curtsy/imports"

// asArchive is the directory of an archive: the path itself, or where it is a file of
// another program, the archive that it was imported to.
func asArchive(ctx context.Context, u *ui, path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return path, nil // whoever opens it says what is wrong
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return path, exitWith(exitFailed, err, "curtsy import DIR "+quoted(path)+", then the same command with DIR")
	}
	name := func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:8]) }
	all, file := filepath.Join(cache, importsDir), name(abs)
	dir := filepath.Join(all, file+"-"+name(fmt.Sprint(st.Size(), st.ModTime().UnixNano())))
	if _, err := os.Stat(dir + ".whole"); err == nil && isArchive(dir) {
		return dir, nil
	}
	dropImports(all, file, filepath.Base(dir))
	u.say("%s is imported to %s first", path, dir)
	err = importFiles(ctx, u, &importFlags{quiet: true}, dir, []string{path})
	if errors.Is(err, importer.ErrParts) { // what could not be read was said
		err = nil
	}
	if err != nil {
		return dir, err
	}
	return dir, os.WriteFile(dir+".whole", nil, 0o600)
}

// dropImports removes what was imported of a file before it changed.
func dropImports(all, file, but string) {
	entries, err := os.ReadDir(all)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), file+"-") && e.Name() != but {
			_ = os.RemoveAll(filepath.Join(all, e.Name())) // it is only room that it takes
		}
	}
}
