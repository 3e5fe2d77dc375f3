// Package judge answers: may this link be fetched, and by which rule? It is
// one list of small rules (list.go), one file each, asked in order; the first
// that decides is named, as Heritrix' DecideRuleSequence does it. Rules are
// pure: they see the link and the facts, the time among them, and nothing
// else.
//
// A link is asked about at a few points of its way, and each rule says at
// which of them it knows enough:
//
//	Found     a page that was read names it          (the worker)
//	Compared  that page looks like a "not found"     (the worker)
//	Offered   it is to go into the frontier          (the committer)
//	Added     it goes into the frontier, which counts (the committer)
//	Taken     its turn has come                      (the loop)
//	Asked     the same, of the seed, a sitemap, a robots.txt
//	Answered  the head of its answer is there        (the worker)
//
// A verdict's reason is stored as it is: the rule's name and its parameters.
// Words are made of it in words.go, for people only.
//
// A new rule is one file with its name, its function and its test, and one
// line in list.go; a sentence in words.go if its name does not say enough.
package judge
