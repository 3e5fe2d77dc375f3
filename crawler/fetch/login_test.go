package fetch

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"testing"
)

// Once a response has deleted the login's cookie, exchanges without it say so; a response that sets
// the cookie again does not end the login.
func TestCookieTakenAway(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		set   []*http.Cookie
		takes string // the cookie that the response deletes and later exchanges miss
	}{
		{"taken away", []*http.Cookie{{Name: "session", MaxAge: -1}}, "session"},
		{"given anew", []*http.Cookie{{Name: "session", MaxAge: -1}, {Name: "session", Value: "b"}}, ""},
		{"another", []*http.Cookie{{Name: "theme", MaxAge: -1}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/out" {
					for _, k := range tt.set {
						http.SetCookie(w, k)
					}
				}
			}))
			defer s.Close()
			jar, _ := cookiejar.New(nil)
			at, _ := url.Parse(s.URL)
			at.Scheme = "https"
			jar.SetCookies(at, []*http.Cookie{{Name: "session", Value: "a", Secure: true}})
			c := local(t, Options{Login: &Login{Origin: s.URL, Cookies: jar, Names: []string{"session"}}})
			if x := do(t, c, s.URL+"/"); !x.LoggedIn || x.Cleared != "" {
				t.Errorf("at first: logged in %v, cleared %q", x.LoggedIn, x.Cleared)
			}
			if x := do(t, c, s.URL+"/out"); !x.LoggedIn || x.Cleared != tt.takes {
				t.Errorf("taken: logged in %v, cleared %q", x.LoggedIn, x.Cleared)
			}
			if x := do(t, c, s.URL+"/"); x.LoggedIn != (tt.takes == "") || x.Cleared != tt.takes {
				t.Errorf("then: logged in %v, cleared %q", x.LoggedIn, x.Cleared)
			}
		})
	}
}
