package robotstxt

import (
	"net/http"
	"strings"
	"testing"
)

// A truncated ETag would never match.
func TestAValidatorIsWholeOrNone(t *testing.T) {
	for tag, want := range map[string]string{strings.Repeat("x", 301): "", `"a"`: `"a"`} {
		if got, _ := Validators(http.Header{"Etag": {tag}}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
