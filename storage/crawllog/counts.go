package crawllog

import (
	"slices"
	"strings"
)

// Counts are how many URLs an archive holds something of, each by the visit that
// stands for it. Every output that names pages, kept or withheld has them from here;
// docs/words.md says what they mean.
type Counts struct {
	Pages    int `json:"pages"`    // HTML documents, kept or withheld
	Kept     int `json:"kept"`     // responses that can be read back and shown
	Withheld int `json:"withheld"` // those that noarchive keeps out of the archive or out of sight
}

// Add counts a URL n times by its visits, the oldest first; -1 takes it back.
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

// IsPage says whether the visit was answered with an HTML document of the site.
func (v *Visit) IsPage() bool {
	if v.Class != "page" || v.Status != 200 && v.Status != 203 || v.Kept == "" {
		return false
	}
	kind, _, _ := strings.Cut(strings.ToLower(v.ContentType), ";")
	switch strings.TrimSpace(kind) {
	case "text/html", "application/xhtml+xml":
		return true
	case "": // what has links was read as HTML
		return v.Links > 0 || v.Title != ""
	}
	return false
}

// TakenBack says whether noarchive keeps the visit that stands for a URL from being
// shown: it asks for that itself, or the latest answer that is the page does.
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
