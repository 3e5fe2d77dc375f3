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

// Fetch statuses of Heritrix for what brought no answer
// (https://heritrix.readthedocs.io/en/latest/glossary.html#status-codes).
const (
	statusDNS         = -1
	statusConnect     = -2
	statusBroken      = -3
	statusTimeout     = -4
	statusFailed      = -5    // an error that is none of the others
	statusBlocked     = -5001 // by a setting
	statusRobots      = -9998
	statusInterrupted = -7000
)

// ofKind are the statuses for the words that stand in errors of visits.
var ofKind = map[string]int{"dns": statusDNS, "refused": statusConnect, "connect": statusConnect, "tls": statusConnect,
	"proxy": statusConnect, "disconnect": statusBroken, "timeout": statusTimeout, "blocked": statusBlocked,
	"canceled": statusInterrupted}

func oursLog(_ string, head []byte) bool { return logLine.Match(head) }

// logLine is how a line of the log begins.
var logLine = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[0-9:.]+Z +-?\d+ +[-0-9]+ https?://`)

// hop is how a URL was found.
type hop struct {
	via    uint64
	letter byte // judge.Hop
}

// logWriter writes a line for each visit, as Heritrix's crawl.log has it.
type logWriter struct {
	*job
	hops  map[uint64]hop
	lines *extsort.Sorter
}

// writeLog writes the visits of what may be listed, and what the robots.txt disallows,
// in the order of time.
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

// remember notes how a URL was found.
func (w *logWriter) remember(k inventory.Known) error {
	w.hops[k.ID] = hop{k.Via, judge.Hop(judge.How(k.How), k.Class == "requisite", k.Via != 0)}
	return nil
}

// maxHops bounds how many pages are looked at for a path of hops.
const maxHops = 1000

// path is the hops that led to a URL from a seed; "" of a seed.
func (w *logWriter) path(id uint64) (path string) {
	var letters []byte // the last first
	for h := w.hops[id]; h.letter != 0 && len(letters) < maxHops; h = w.hops[h.via] {
		letters = append(letters, h.letter)
	}
	for _, letter := range slices.Backward(letters) {
		path = judge.ExtendHops(path, letter)
	}
	return path
}

// add adds the lines of one URL.
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

// via is the URL that led to another, if it may be named, and when it was fetched.
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

// line writes a visit: when it ended, status, size, URL, path of hops, the URL that led
// here, type, thread, beginning and duration, digest, source, annotations.
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

// word is text that is one column.
func word(s string) string {
	return strings.Join(strings.Fields(s), "_")
}

// fetchStatus is the status of a visit as Heritrix has it.
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

// annotations are what else is to be said of a visit.
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
