package robotstxt

import (
	"net/http"
	"testing"
	"time"
)

// FuzzMaxAge: an age is never negative and never longer than 69 years.
func FuzzMaxAge(f *testing.F) {
	for _, s := range []string{"max-age=60", "public, max-age=\"3600\"", "no-cache", "max-age=-1",
		"max-age=99999999999", "MAX-AGE = 1,,no-store", "max-age"} {
		f.Add(s, "private")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		age, ok := MaxAge(http.Header{"Cache-Control": {a, b}})
		if age < 0 || age >= 1<<31*time.Second || !ok && age != 0 {
			t.Errorf("%q, %q: %v, %v", a, b, age, ok)
		}
	})
}
