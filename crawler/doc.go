// Package crawler runs a crawl: it takes each URL through the stages below. The stages do not
// know each other, with one exception: the archive opens the frontier, which is kept in its
// database, so that one transaction holds a whole visit.
//
//	1 frontier.Next      the next URL due, from bbolt                                (loop.go, schedule.go)
//	2 politeness.Gate    may it be fetched (rules), and when (limiter)               (start.go, origin.go)
//	3 fetch.Do           one HTTP exchange, verbatim bytes kept, no redirect followed (visit.go)
//	4 htmlmeta.Read      directives, links, base, canonical, language, charset       (visit/read.go)
//	5 visit.Outcome      what became of it: state, reason, capture, links, what is kept (visit/outcome.go)
//	6 commit             WARC bytes written and synced, then one bbolt transaction   (commit.go)
//
// The facts found in step 4 are stored once beside the WARC (package facts), for all later uses.
//
// One chain of rules, frontier/judge, decides whether a link may be fetched. It is asked when
// the link is found (visit/links.go), when it enters the frontier, when its turn comes
// (start.go) and when the head of its response has arrived (visit/attempt.go).
//
// Steps 2 to 4 gather facts, step 5 decides, step 6 commits. Gathering and deciding are done by
// crawler/visit, which turns an exchange into a value and neither writes nor schedules anything.
// This package does the scheduling and the commit. A robots.txt or a sitemap is an ordinary,
// archived visit; a redirect target is a new URL with its own visit.
//
// Run owns three kinds of goroutine: the loop hands out URLs and owns the hosts' limiters; each
// visit runs steps 3 to 5 in a goroutine of its own and prepares its records; only the committer
// writes. It commits visits in groups: one visit when they are rare, many per sync when they are
// frequent.
//
// flight.go counts the visits between these three and says whether a visit may start, the run
// may end and the committer may write. Origins wait in two queues, ordered by the time from
// which they may be asked: one for the site's, one for all others (schedule.go).
//
// A round (round.go) visits known URLs again: crawler/revisit says which are due, queues them,
// and says which answers are suspect.
//
// Separate from the crawl, these packages use the same archive: crawler/explain (why a URL was
// or was not fetched), crawler/status (the progress of the crawl), crawler/preview (what a crawl
// would be allowed to fetch), crawler/verify (whether the archive is sound, and repair),
// crawler/robotstxt (what a response to a robots.txt request means). None of them depends on
// the internals of a run.
//
// crawler/known finds payloads that other archives already hold in their indexes; they are
// stored as revisit records.
//
// A page that shows nothing without its scripts is rendered between steps 4 and 5 by a browser
// (crawler/render), whose requests are URLs of the frontier.
//
// If crawl.db is lost, crawler/rebuild repeats steps 4 to 6 from the segments.
//
// Captures made by other programs (curtsy import) take the same path: crawler/importer makes
// captures of their records, crawler/rebuild adds them.
//
//	cli → importer → rebuild
//	cli → rebuild, preview, explain, verify → crawler → visit → robotstxt, revisit → fetch
//
// The web interface of curtsy app (package app) runs the commands of cli and steers crawls as
// the keyboard does.
//
// A fleet (package fleet) runs many crawls in one process, each with a Gate that stops its
// requests when it may no longer send any.
//
// Tests of whole crawls share internal/testkit: test sites, hostile servers, a runner.
package crawler
