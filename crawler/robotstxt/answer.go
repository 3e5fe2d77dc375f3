// Package robotstxt answers: what does the answer to a request for a
// robots.txt mean? It joins politeness/rules, which reads the text, with the
// exchange that it came in and the archive that keeps it.
package robotstxt

import (
	"fmt"
	"net/http"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Options are how a robots.txt is read.
type Options struct {
	Rules  rules.Options
	MaxAge time.Duration // it is in force for so long at most
}

// Request is what was asked for.
type Request struct {
	Origin      string
	URL         weburl.URL             // the origin's robots.txt, or where it redirects to
	Hops        int                    // redirects followed so far
	Conditional bool                   // asked for with the validators of Had
	Had         crawllog.RobotsVersion // in force
}

// Answer is what came of one request.
type Answer struct {
	Version crawllog.RobotsVersion
	Body    []byte
	Rules   *rules.Robots
	Hop     weburl.URL // not zero: ask there
	Same    bool       // 304: the last one is in force still
	Failed  string     // why it is unavailable for now
	Err     error      // why there was no answer at all
	Lasting bool       // and asking again soon would not change it
}

// maxHops is how many redirects are followed (RFC 9309 §2.3.1.2).
const maxHops = 5

// maxBody is what is read: what counts of it (500 KiB, RFC 9309 §2.5) and
// enough to see that there is more.
const maxBody = 600 << 10

// URL is where an origin's robots.txt is.
func URL(origin string) weburl.URL { return weburl.FromCanonical(origin + rules.Location) }

// Link puts an origin's robots.txt before its pages, which via leads to.
func Link(origin string, via uint64) judge.Link {
	return judge.Link{URL: URL(origin), Class: judge.Prerequisite, Via: via, How: judge.HowRobots}
}

// Read reads an answer (RFC 9309 §2.3.1).
func Read(q Request, x *fetch.Exchange, o Options) *Answer {
	a := &Answer{}
	v := &a.Version
	*v = crawllog.RobotsVersion{Origin: q.Origin, At: x.Start.UTC(), Status: x.Status}
	v.Expires = v.At.Add(o.age(x.Header))
	switch {
	case x.Err != nil:
		a.Err, a.Failed, a.Lasting = x.Err, fetch.Cause(x.Err).Error(), fetch.Lasting(x.Err)
		v.Error = x.Err.Error()
	case x.Truncated == "disconnect" || x.Truncated == "time":
		a.Failed = "cut off by the server"
		v.Error = a.Failed
	case x.Status == http.StatusPartialContent && o.Rules.Dialect != rules.Yandex: // nobody asked for a part
		a.Failed = "answered 206, with a part of the file"
		v.Error = a.Failed
	case x.Status == 304 && q.Conditional:
		a.Same = true
		*v = q.Had
		v.At, v.Expires = x.Start.UTC(), x.Start.UTC().Add(o.age(x.Header))
	case x.Status >= 300 && x.Status < 400 && x.Status != 304:
		a.follow(q, x, o.Rules)
	default:
		a.parse(x, o.Rules)
	}
	v.Used = a.Failed == "" && a.Hop.IsZero()
	return a
}

func (a *Answer) follow(q Request, x *fetch.Exchange, o rules.Options) {
	target, err := q.URL.Resolve(x.Header.Get("Location"))
	switch {
	case o.Dialect == rules.Yandex: // whatever is not 200 allows all
		a.parse(x, o)
	case err != nil || x.Header.Get("Location") == "":
		a.absent(fmt.Sprintf("robots.txt answered %d without a usable Location", x.Status))
	case q.Hops >= maxHops:
		a.absent("robots.txt redirects more than 5 times")
	default:
		a.Hop = target
	}
}

func (a *Answer) absent(why string) {
	a.Version.Error = why
	a.Rules = rules.AllowAll(why)
}

func (a *Answer) parse(x *fetch.Exchange, o rules.Options) {
	v := &a.Version
	v.Type = bounded(x.Header.Get("Content-Type"), 200)
	v.ETag, v.LastMod = Validators(x.Header)
	if rules.ResponseAccess(x.Status, v.Type, o) == rules.Refused {
		a.Failed = fmt.Sprintf("answered %d", x.Status)
		return
	}
	if rules.ResponseAccess(x.Status, v.Type, o) == rules.Parsed {
		body, cut, err := x.Decoded(maxBody)
		if err == nil && !cut && x.Truncated == "" {
			err = x.Verify()
		}
		if err != nil && (x.Truncated == "" || len(body) == 0) { // what was cut at our bound ends badly
			a.Failed = err.Error()
			v.Error = a.Failed
			return
		}
		a.Body = append([]byte{}, body...)
		v.Digest = warc.Sum("", a.Body)
	}
	a.Rules = Rules(*v, a.Body, o)
	v.Cut = a.Rules.Cut()
}

// bounded cuts text from the network that is only kept for people.
func bounded(s string, n int) string { return s[:min(len(s), n)] }

// Validators are those that may be sent back: none that is longer than what is kept, for
// a part of one is never the server's (RFC 9110 §8.8).
func Validators(h http.Header) (etag, lastModified string) {
	if etag = h.Get("ETag"); len(etag) > 300 {
		etag = ""
	}
	if lastModified = h.Get("Last-Modified"); len(lastModified) > 100 {
		lastModified = ""
	}
	return etag, lastModified
}

// OnlyRules forgets what of the text is no rule.
func (a *Answer) OnlyRules(o rules.Options) {
	a.Body = rules.OnlyRules(a.Body, o)
	a.Version.Digest = warc.Sum("", a.Body)
}

// age is how long a robots.txt is in force: a day at most, if neither the
// settings nor the dialect of 1994 say otherwise, and sooner if
// Cache-Control says so (RFC 9309 §2.4), but a minute at least.
func (o Options) age(h http.Header) time.Duration {
	age := o.MaxAge
	if max, ok := MaxAge(h); ok && max < age {
		age = max
	}
	return max(age, min(time.Minute, o.MaxAge))
}
