// Package judge decides whether a link may be fetched, and by which rule. It is a list of small rules
// (list.go), one file each, applied in order; the first that excludes the link decides. (In Heritrix's
// DecideRuleSequence it is the last one.) Rules are pure functions of the link and the facts, which
// include the time.
//
// A link is judged at several points; each rule names those at which it has what it needs:
//
//	Found     a parsed page links to it               (the worker)
//	Compared  that page looks like a "not found"      (the worker)
//	Offered   it is about to enter the frontier       (the committer)
//	Added     it enters the frontier, which counts it (the committer)
//	Taken     its turn has come                       (the loop)
//	Asked     the same, for the seed, a sitemap, a robots.txt
//	Answered  the head of its response has arrived    (the worker)
//
// The reason of a verdict is stored as the rule's name and its parameters; words.go describes it for
// users.
//
// A new rule needs one file with its name and function, a test, one line in list.go, and a sentence in
// words.go if its name does not say enough.
package judge
