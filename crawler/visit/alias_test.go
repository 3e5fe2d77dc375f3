package visit

import (
	"testing"

	"curtsy/internal/weburl"
)

func TestSameSite(t *testing.T) {
	for _, c := range []struct {
		seed, target string
		want         bool
	}{
		{"http://a.example/", "https://a.example/", true},
		{"http://a.example/", "https://www.a.example/", true},
		{"https://a.example/", "https://www.a.example/", true},
		{"http://www.a.example:8080/", "http://a.example:8080/", true},
		{"http://a.example/", "http://a.example:8080/", false},
		{"http://a.example/", "https://a.example:8443/", false},
		{"http://a.example:8080/", "https://a.example/", false},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:9090/", false},
		{"https://a.example/", "http://a.example/", false},
		{"http://a.example/", "https://b.example/", false},
	} {
		if got := sameSite(weburl.MustParse(c.seed), weburl.MustParse(c.target)); got != c.want {
			t.Errorf("%s redirects to %s: one site %v, want %v", c.seed, c.target, got, c.want)
		}
	}
}
