package publish

import (
	"time"

	"curtsy/storage/crawllog"
)

// CurrentAt is the visit that stood for a URL at a time, nil if there was none.
func CurrentAt(visits []*crawllog.Visit, at time.Time, find crawllog.Lookup) *crawllog.Visit {
	return crawllog.Current(Until(visits, at), LookupAt(find, at))
}

// maxRedirects is how many redirects in a row are followed.
const maxRedirects = 20

// LedTo is the visit that stands where the redirects from a URL end; nil if nothing does.
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

// LookupAt is find without the visits that came later than a time.
func LookupAt(find crawllog.Lookup, at time.Time) crawllog.Lookup {
	if find == nil {
		return nil
	}
	return func(url string) []*crawllog.Visit { return Until(find(url), at) }
}

// Until are the visits, the oldest first, up to a time.
func Until(visits []*crawllog.Visit, at time.Time) []*crawllog.Visit {
	for i, v := range visits {
		if v.At.After(at) {
			return visits[:i]
		}
	}
	return visits
}

// GoneSince says since when a page is gone: it was answered with 410, or twice
// in a row with 404, and never well since. Other failures say nothing. The visits
// are those of one URL, the oldest first.
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
