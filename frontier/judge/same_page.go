package judge

import "curtsy/internal/weburl"

// SamePage returns the common form of all URLs that differ only in a session id, in the order of their
// parameters or in needless escapes, and whether it differs from u.
func SamePage(u weburl.URL) (form weburl.URL, another bool) {
	text, _ := twin(u)
	if text == "" {
		return u, false
	}
	if form = weburl.FromCanonical(text); form.IsZero() {
		return u, false
	}
	return form, true
}
