package export

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"curtsy/frontier/judge"
	"curtsy/internal/extsort"
	"curtsy/publish"
	"curtsy/publish/inventory"
	"curtsy/storage/crawllog"
)

// ofKind maps the words used in the errors of visits to Heritrix's fetch status codes for URLs
// without a response (https://heritrix.readthedocs.io/en/latest/glossary.html#status-codes).
var ofKind = map[string]int{"dns": -1, "refused": -2, "connect": -2, "tls": -2, "proxy": -2, "disconnect": -3,
	"timeout": -4, "blocked": -5001, "canceled": -7000}

const (
	statusFailed = -5 // any other error
	statusRobots = -9998
)

func oursLog(_ string, head []byte) bool { return logLine.Match(head) }

// logLine matches the beginning of a log line.
var logLine = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[0-9:.]+Z +-?\d+ +[-0-9]+ https?://`)

// hop says how a URL was found.
type hop struct {
	via    uint64
	letter byte // judge.Hop
}

// logWriter writes visits as lines of a Heritrix crawl.log.
type logWriter struct {
	*job
	hops  map[uint64]hop
	lines *extsort.Sorter
}

// writeLog writes the visits of URLs that may be listed, and the URLs disallowed by robots.txt,
// by time.
func writeLog(j *job) error {
	w := &logWriter{job: j, hops: map[uint64]hop{}, lines: extsort.New(j.dir())}
	defer w.lines.Close()
	if err := j.o.Known(w.remember); err != nil {
		return err
	}
	err := j.o.Known(func(k inventory.Known) error { return cmp.Or(j.ctx.Err(), w.add(&k)) })
	if err != nil {
		return err
	}
	return j.writeSorted(w.lines)
}

// remember records how a URL was found.
func (w *logWriter) remember(k inventory.Known) error {
	w.hops[k.ID] = hop{k.Via, judge.Hop(judge.How(k.How), k.Class == "requisite", k.Via != 0)}
	return nil
}

// maxHops limits the length of a hop path.
const maxHops = 1000

// path returns the hop path from a seed to a URL; "" for a seed.
func (w *logWriter) path(id uint64) (path string) {
	var letters []byte // last hop first
	for h := w.hops[id]; h.letter != 0 && len(letters) < maxHops; h = w.hops[h.via] {
		letters = append(letters, h.letter)
	}
	for _, letter := range slices.Backward(letters) {
		path = judge.ExtendHops(path, letter)
	}
	return path
}

// add adds the lines of a URL.
func (w *logWriter) add(k *inventory.Known) error {
	visits, err := w.a.VisitsOf(k.ID)
	if err != nil {
		return err
	}
	via, at, err := w.via(k.Via)
	if err != nil {
		return err
	}
	if len(visits) == 0 {
		if k.State == "disregarded" && k.Reason.Rule == judge.Robots {
			return w.line(k, via, &crawllog.Visit{Asked: crawllog.Asked{URL: k.URL, At: at},
				Answer: crawllog.Answer{Status: statusRobots}})
		}
		return nil
	}
	permits := publish.Permits(visits, w.o.Now, w.a.VisitsAt)
	for i, v := range visits {
		if !permits[i].List {
			w.r.Withheld++
			continue
		}
		if !w.o.Consent.Admits(permits[i].Usage) {
			continue
		}
		if err := w.line(k, via, v); err != nil {
			return err
		}
	}
	return nil
}

// via returns the URL that led to another and the time of its latest visit; "-" if it may not
// be published.
func (w *logWriter) via(id uint64) (url string, at time.Time, err error) {
	visits, err := w.a.VisitsOf(id)
	if err != nil || len(visits) == 0 {
		return "-", w.o.Now, err
	}
	last := visits[len(visits)-1]
	if !publish.Permits(visits, w.o.Now, w.a.VisitsAt)[len(visits)-1].List {
		return "-", last.At, nil
	}
	return last.URL, last.At, nil
}

// line writes a visit: end time, status, size, URL, hop path, referring URL, media type,
// thread, start and duration, digest, source, annotations.
func (w *logWriter) line(k *inventory.Known, via string, v *crawllog.Visit) error {
	w.r.Rows++
	size, began := "-", "-"
	if v.Status > 0 {
		size = strconv.FormatInt(v.Length, 10)
	}
	if v.Status != statusRobots {
		began = strings.Replace(v.At.UTC().Format("20060102150405.000"), ".", "", 1) + "+" +
			strconv.FormatInt(v.Took.Milliseconds(), 10)
	}
	mime, _, _ := strings.Cut(v.ContentType, ";")
	return asDisk(w.lines.Add(fmt.Appendf(nil, "%s %5d %10s %s %s %s %s #001 %s %s - %s\n",
		v.At.Add(v.Took).UTC().Format("2006-01-02T15:04:05.000Z"),
		fetchStatus(v), size, v.URL, cmp.Or(w.path(k.ID), "-"), via, cmp.Or(word(mime), "no-type"), began,
		cmp.Or(v.Labelled(), "-"), annotations(v))))
}

// word joins the words of a text, so that it is one column.
func word(s string) string {
	return strings.Join(strings.Fields(s), "_")
}

// fetchStatus returns the status of a visit, or Heritrix's code if there was no response.
func fetchStatus(v *crawllog.Visit) int {
	if v.Status != 0 {
		return v.Status
	}
	for part := range strings.SplitSeq(v.Error, ": ") {
		if status, ok := ofKind[part]; ok {
			return status
		}
	}
	return statusFailed
}

// annotations returns Heritrix's annotations of a visit.
func annotations(v *crawllog.Visit) string {
	var list []string
	switch {
	case v.Kept == crawllog.KeptRevisit && v.Status == 304:
		list = append(list, "warcRevisit:notModified")
	case v.Kept == crawllog.KeptRevisit, v.Kept == crawllog.KeptElsewhere:
		list = append(list, "duplicate:digest", "warcRevisit:digest")
	}
	switch v.Truncated {
	case "length":
		list = append(list, "lenTrunc")
	case "time":
		list = append(list, "timeTrunc")
	}
	if v.Kept == crawllog.KeptWithheld {
		list = append(list, "noarchive")
	}
	return cmp.Or(strings.Join(list, ","), "-")
}
