package mirror_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"curtsy/publish/mirror"
)

func TestHandlerServesWithTheTypesOfTheMap(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	if _, err := export(t, s, archive, out); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	h, err := mirror.Handler(root)
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"/": "200 text/html", "/a.html": "200 text/html", "/../../etc/passwd": "404 text/plain", "/none": "404 text/plain", "/mirror-map.json": "200 application/json"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = target
		h.ServeHTTP(w, r)
		typ, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		if got := strings.TrimSpace(strings.Fields(w.Result().Status)[0] + " " + typ); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	other, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := mirror.Handler(other); !errors.Is(err, mirror.ErrNotOurs) {
		t.Errorf("a directory that is no mirror: %v", err)
	}
}
