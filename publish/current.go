package publish

import (
	"time"

	"curtsy/storage/crawllog"
)

// CurrentAt returns the visit that was current for a URL at a time; nil if there was none.
func CurrentAt(visits []*crawllog.Visit, at time.Time, find crawllog.Lookup) *crawllog.Visit {
	return crawllog.Current(Until(visits, at), LookupAt(find, at))
}

// maxRedirects is how many redirects in a row are followed.
const maxRedirects = 20

// LedTo follows redirects from a URL and returns the current visit at their end; nil if there
// is none or there are more than maxRedirects.
func LedTo(url string, find crawllog.Lookup) *crawllog.Visit {
	for range maxRedirects {
		v := crawllog.Current(find(url), find)
		if v == nil || v.Location == "" {
			return v
		}
		url = v.Location
	}
	return nil
}

// LookupAt returns find restricted to visits no later than at.
func LookupAt(find crawllog.Lookup, at time.Time) crawllog.Lookup {
	if find == nil {
		return nil
	}
	return func(url string) []*crawllog.Visit { return Until(find(url), at) }
}

// Until returns the visits no later than at. visits are sorted, oldest first.
func Until(visits []*crawllog.Visit, at time.Time) []*crawllog.Visit {
	for i, v := range visits {
		if v.At.After(at) {
			return visits[:i]
		}
	}
	return visits
}

// GoneSince reports since when a page is gone: it answered 410, or 404 twice in a row, and
// never successfully since. Other failures do not count. visits are those of one URL, oldest
// first.
func GoneSince(visits []*crawllog.Visit, find crawllog.Lookup) (since time.Time, gone bool) {
	missing := 0
	for _, v := range visits {
		switch {
		case v.Blocked != "":
		case v.Status == 404 || v.Status == 410:
			if missing++; missing == 1 {
				since = v.At
			}
			gone = gone || missing > 1 || v.Status == 410
		case crawllog.Answers(v, find):
			missing, gone = 0, false
		}
	}
	return since, gone
}
