// Package robotstxt interprets the response to a request for robots.txt. It connects politeness/rules,
// which parses the text, with the exchange and the archive.
package robotstxt

import (
	"fmt"
	"net/http"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Options are how a robots.txt is interpreted.
type Options struct {
	Rules  rules.Options
	MaxAge time.Duration // the longest time that it is in force
}

// Request is the request that was made.
type Request struct {
	Origin      string
	URL         weburl.URL             // the origin's robots.txt, or a redirect target
	Hops        int                    // redirects followed so far
	Conditional bool                   // the request carried the validators of Had
	Had         crawllog.RobotsVersion // the version in force
}

// Answer is the result of one request.
type Answer struct {
	Version crawllog.RobotsVersion
	Body    []byte
	Rules   *rules.Robots
	Hop     weburl.URL // not zero: the redirect target to request next
	Same    bool       // 304: the last version stays in force
	Failed  string     // why it is unavailable; "" if it is not
	Err     error      // why there was no response
	Lasting bool       // retrying soon would not help
}

// maxHops is how many redirects are followed (RFC 9309 §2.3.1.2).
const maxHops = 5

// maxBody is how many octets are read: more than the 500 KiB that are parsed (RFC 9309 §2.5), so that
// a longer file is noticed.
const maxBody = 600 << 10

// URL returns the URL of an origin's robots.txt.
func URL(origin string) weburl.URL { return weburl.FromCanonical(origin + rules.Location) }

// Link returns the link to an origin's robots.txt. via is the page through which the origin was found.
func Link(origin string, via uint64) judge.Link {
	return judge.Link{URL: URL(origin), Class: judge.Prerequisite, Via: via, How: judge.HowRobots}
}

// Read interprets a response (RFC 9309 §2.3.1).
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
	case x.Status == http.StatusPartialContent && o.Rules.Dialect != rules.Yandex: // no Range was requested
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
	case o.Dialect == rules.Yandex: // in this dialect any status but 200 allows everything
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
	v.Type = legible.First(x.Header.Get("Content-Type"), 200)
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
		if err != nil && (x.Truncated == "" || len(body) == 0) { // a body truncated at our limit cannot end properly
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

// Validators returns the validators that may be sent back. One that is too long to keep is left out, as a
// part of it would not match (RFC 9110 §8.8).
func Validators(h http.Header) (etag, lastModified string) {
	if etag = h.Get("ETag"); len(etag) > 300 {
		etag = ""
	}
	if lastModified = h.Get("Last-Modified"); len(lastModified) > 100 {
		lastModified = ""
	}
	return etag, lastModified
}

// OnlyRules removes everything but the rules from the text.
func (a *Answer) OnlyRules(o rules.Options) {
	a.Body = rules.OnlyRules(a.Body, o)
	a.Version.Digest = warc.Sum("", a.Body)
}

// age is how long a robots.txt is in force: MaxAge, or less if Cache-Control says so (RFC 9309 §2.4),
// but at least a minute.
func (o Options) age(h http.Header) time.Duration {
	age := o.MaxAge
	if max, ok := MaxAge(h); ok && max < age {
		age = max
	}
	return max(age, min(time.Minute, o.MaxAge))
}
