// Package crawler answers: what happens to one URL? It joins the stages;
// no stage knows another, but for the archive: it opens the frontier kept in it,
// and one transaction of it holds a whole visit.
//
//	1 frontier.Next      the next URL due, from bbolt                                (loop.go, schedule.go)
//	2 politeness.Gate    may it be fetched (rules), and when (limiter)               (start.go, origin.go)
//	3 fetch.Do           one HTTP exchange, verbatim bytes kept, no redirect followed (visit.go)
//	4 htmlmeta.Read      directives, links, base, canonical, language, charset       (visit/read.go)
//	5 visit.Outcome      what became of it: state, reason, capture, links, what is kept (visit/outcome.go)
//	6 commit             WARC bytes written and synced, then one bbolt transaction   (commit.go)
//
// What step 4 found is kept beside the WARC, once (package facts), for all that
// comes after the crawl.
//
// Whether a link may be fetched is asked of one chain of rules, frontier/judge:
// when it is found (visit/links.go), when it goes into the frontier, when its turn
// has come (start.go), when the head of its answer is there (visit/attempt.go).
//
// Learn first (2-4), then decide (5), then commit (6). What is learned and decided
// is crawler/visit's: it gets an exchange and gives a value, writes nothing and
// schedules nothing. This package keeps the schedule and the commit. robots.txt is an
// ordinary, archived visit, and so is a sitemap; a redirect is a new URL with
// its own visit.
//
// Three kinds of goroutine, all owned by Run: the loop hands out URLs and
// owns the hosts' limiters; each visit runs 3 to 5 in a goroutine of its own
// and prepares its records; the committer alone writes, a group of visits at
// a time: every visit when visits are rare, many per sync when they are fast.
//
// What is on its way between the three is counted in one place, which says
// whether a visit may start, the run may end, the committer may write
// (flight.go). Origins wait in two lanes by the time from which on they may be
// asked, the site's and those of all others (schedule.go).
//
// A round visits again what is known (round.go): crawler/revisit says what is
// due, queues it, and says which answers are suspect.
//
// Beside the crawl, and using the archive as it does: crawler/explain (why was
// this URL fetched or not), crawler/status (how does the crawl go),
// crawler/preview (what would it be let do), crawler/verify (is the archive
// sound, and repair), crawler/robotstxt (what an answer to a request for a
// robots.txt means). None of them knows the inside of a run.
//
// Payloads that other archives hold already are found in their indexes by
// crawler/known, and kept as revisits of what is there.
//
// A page that shows nothing without its scripts is rendered between 4 and 5, by
// a browser whose requests are URLs of the frontier (crawler/render drives it).
//
// Where crawl.db is lost, crawler/rebuild takes steps 4 to 6 once more, with the
// segments in the site's place.
//
// What other programs archived comes in the same way (curtsy import):
// crawler/importer makes captures of their records, crawler/rebuild adds them.
//
//	cli → importer → rebuild
//	cli → rebuild, preview, explain, verify → crawler → visit → robotstxt, revisit → fetch
//
// The page of curtsy app (package app) runs the commands of cli, and steers crawls as
// the keyboard does.
//
// A fleet (package fleet) runs many crawls in one process, each with a Gate that
// holds back its requests when it may no longer send them.
//
// Tests of whole crawls share internal/testkit: test sites, hostile servers, one run.
package crawler
