package judge

import "curtsy/internal/weburl"

// SamePage gives the one form that all URLs of a page share which differ in a
// session id, in the order of their parameters or in needless escapes of their
// values, and whether u is another.
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
