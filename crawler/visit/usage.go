package visit

import (
	"cmp"
	"net/http"
	"strings"
	"sync"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
	"curtsy/usage"
)

// UsageFile is a version of a site's usage preference file, which the archive keeps like versions of
// robots.txt.
type UsageFile struct {
	Version crawllog.RobotsVersion
	Body    []byte
}

// maxUsageFile bounds what is read of such a file, in octets.
const maxUsageFile = 1 << 20

// usageOf collects the statements on the use of the content: from the rules in force, the site's files,
// the header and the document. For a 304, the header is that of the response, and the statements of the
// earlier document stay valid.
func (r *Reader) usageOf(a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) (list []usage.Statement) {
	if a.isListing() || a.Rules == nil {
		return nil
	}
	list = append(list, a.Rules.Usage(a.URL.Target())...)
	for _, reader := range usage.Files() {
		if f := r.usageFile(a, reader); f != nil {
			list = append(list, reader.OfFile(f, a.URL.Target(), rules.Matches)...)
		}
	}
	list = append(list, doc.Directives.Usage...)
	if x.Status == http.StatusNotModified && a.Conditional {
		list = append(list, usage.Retained(cmp.Or(a.Good, a.Original).Usage, x.Header)...) // the visit confirmed last
	}
	if strings.HasPrefix(strings.ToLower(x.Header.Get("Content-Type")), "image/") {
		list = append(list, r.ofPictures(a.Entry.Via)...)
	}
	return usage.Bound(list)
}

// ofPictures returns what the page that led to an image states about its images.
func (r *Reader) ofPictures(via uint64) (list []usage.Statement) {
	if via == 0 {
		return nil
	}
	visits, err := r.archive.VisitsOf(via, 1)
	if err != nil || len(visits) == 0 {
		return nil
	}
	for _, s := range visits[0].Usage {
		if s.For == usage.ForImages {
			s.For, s.Text = "", s.Text+", on "+visits[0].URL
			list = append(list, s)
		}
	}
	return list
}

// fileOrigin is the name under which the versions of a file are stored.
func fileOrigin(origin string, reader *usage.Reader) string { return origin + reader.File }

// addUsageFiles adds the usage preference files, and licenses on the site's own hosts, to the links of a
// robots.txt.
func (r *Reader) addUsageFiles(o *Outcome, a *Attempt, base weburl.URL) {
	if !r.opts.UsageFiles {
		return
	}
	robots := o.Robots.Rules
	for _, reader := range usage.Files() {
		if u, err := base.Resolve(reader.File); err == nil && robots.Verdict(u.Target()).Allow {
			o.Links = r.addSitemap(o.Links, a, frontier.Link{URL: u, How: judge.HowUsageFile})
		}
	}
	for _, license := range usage.Licenses(robots.Usage(rules.Location)) {
		if u, err := base.Resolve(license); err == nil && r.Scope().Holds(u) {
			link := frontier.Link{URL: u, Class: frontier.Requisite, Depth: 1, How: judge.HowLicense}
			o.Links = r.Judge(o.Links, a, link, r.Facts())
		}
	}
}

// lacksUsageFile reports whether the response means that the site has no such file.
func (a *Attempt) lacksUsageFile(status int) bool {
	switch {
	case a.Entry.How != judge.HowUsageFile, status == http.StatusOK, status == http.StatusTooManyRequests,
		status >= 500:
		return false
	}
	return status != http.StatusNotModified || !a.Conditional
}

// outcomeOfUsageFile stores a version of the file. While the file is unavailable, the last version stays in
// force.
func (r *Reader) outcomeOfUsageFile(o *Outcome, a *Attempt, x *fetch.Exchange) {
	reader := usage.IsFile(a.URL.Path())
	if reader == nil || x.Err != nil || o.State == frontier.StateFailed {
		return
	}
	v := crawllog.RobotsVersion{Origin: fileOrigin(a.URL.Origin(), reader), At: x.Start.UTC(),
		Status: x.Status, Used: true}
	f := &UsageFile{Version: v}
	switch x.Status {
	case http.StatusNotModified:
		had, err := r.archive.RobotsInForce(v.Origin, a.Now)
		if err != nil || had == nil {
			return
		}
		f.Version.Digest, f.Version.Status = had.Digest, had.Status
	case http.StatusOK:
		body, _, err := x.Decoded(maxUsageFile)
		if err == nil {
			_, err = reader.ReadFile(body)
		}
		if err != nil { // many sites return an HTML page for unknown URLs
			o.State, o.Reason = frontier.StateDisregarded,
				judge.Reason{Rule: judge.NoUsageFile, Params: judge.Params{Status: x.Status}}
			break
		}
		if o.Visit.Kept == crawllog.KeptWithheld {
			return
		}
		f.Body = append([]byte{}, body...)
		f.Version.Digest = warc.Sum("", f.Body)
	}
	o.UsageFile = f
}

// usageFiles caches parsed files by digest. It is safe for concurrent use.
type usageFiles struct {
	mu   sync.Mutex
	read map[string]usage.File
}

// maxUsageFiles is the size of the cache.
const maxUsageFiles = 16

// usageFile returns the file of an origin that was in force at the time of a visit; nil if there is none.
func (r *Reader) usageFile(a *Attempt, reader *usage.Reader) usage.File {
	v, err := r.archive.RobotsInForce(fileOrigin(a.URL.Origin(), reader), a.Now)
	if err != nil || v == nil || v.Digest == "" {
		return nil
	}
	r.files.mu.Lock()
	defer r.files.mu.Unlock()
	if f := r.files.read[v.Digest]; f != nil {
		return f
	}
	body, err := r.archive.RobotsBody(v)
	if err != nil {
		return nil
	}
	f, err := reader.ReadFile(body)
	if err != nil {
		return nil
	}
	if r.files.read == nil || len(r.files.read) >= maxUsageFiles {
		r.files.read = map[string]usage.File{}
	}
	r.files.read[v.Digest] = f
	return f
}
