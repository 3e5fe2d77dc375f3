package crawllog

import (
	"slices"
	"strings"
)

// Counts are the numbers of URLs of which an archive holds something, counted by the current visit of
// each (Current). All output of pages, kept or withheld uses these; docs/words.md defines the words.
type Counts struct {
	Pages    int `json:"pages"`    // HTML documents, kept or withheld
	Kept     int `json:"kept"`     // responses that can be read and shown
	Withheld int `json:"withheld"` // those that noarchive keeps out of the archive or hidden
}

// Add adds a URL n times, by its visits, oldest first; n is -1 to subtract it.
func (c *Counts) Add(visits []*Visit, find Lookup, n int) {
	v := Current(visits, find)
	if v == nil {
		return
	}
	switch {
	case TakenBack(visits, v, find):
		c.Withheld += n
	case v.HasBody():
		c.Kept += n
	}
	if v.IsPage() {
		c.Pages += n
	}
}

// IsPage reports whether the response was an HTML document of the site.
func (v *Visit) IsPage() bool {
	if v.Class != "page" || v.Status != 200 && v.Status != 203 || v.Kept == "" {
		return false
	}
	kind, _, _ := strings.Cut(strings.ToLower(v.ContentType), ";")
	switch strings.TrimSpace(kind) {
	case "text/html", "application/xhtml+xml":
		return true
	case "": // links or a title mean that it was parsed as HTML
		return v.Links > 0 || v.Title != ""
	}
	return false
}

// TakenBack reports whether noarchive forbids showing v, the current visit of a URL: v has the directive
// itself, or the latest visit that is a version of the page has it.
func TakenBack(visits []*Visit, v *Visit, find Lookup) bool {
	asks := func(v *Visit) bool {
		good := v.Status == 200 || v.Status == 203 || v.Redirects() || v.Unchanged()
		return good && (v.Kept == KeptWithheld || v.Directives != nil && v.Directives.NoArchive)
	}
	for _, latest := range slices.Backward(visits) {
		if latest == v || Answers(latest, find) {
			return asks(latest) || asks(v)
		}
	}
	return asks(v)
}
