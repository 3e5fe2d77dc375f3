// Package storage answers: what do we hold, and is it whole? It keeps an
// archive: one bbolt file over WARC segments.
//
//	DIR/crawl.db                               bbolt, locked by one writer
//	DIR/warc/PREFIX-YYYYMMDDhhmmss-NNNNN.warc.gz   segments, one gzip member a record
//	DIR/status.json                            what a running crawl publishes (derived)
//
// Top-level buckets of crawl.db (those of the frontier are its own):
//
//	meta      schema, key (fingerprints), crawl (what the crawl says of itself)
//	segments  name → octets committed, id of its warcinfo record, sum of both
//	visits    URL id, number of the visit → Visit as JSON
//	digests   SHA-1 of a payload → the visit that holds it
//	robots    origin, time → RobotsVersion as JSON
//	bodies    SHA-1 of a robots.txt → its octets
//
// Values have a sum (internal/sum) behind them, but for the schema, those of
// digests, which Verify holds against the visits, and those of segments, which
// have it within.
//
// # The promise
//
// After kill -9 or power loss at any moment: no page reported as kept is
// lost, no URL is lost, at most the visits in flight are fetched again, and
// every segment is valid to its last committed octet.
//
// It rests on one order. Commit first writes the records of a group of
// visits to the segment and syncs it, and only then commits the one bbolt
// transaction that names their offsets, the new state of their URLs and the
// links found in them. bbolt writes and syncs its data pages before the meta
// page that points to them. So crawl.db never names an octet that is not on
// disk; what a segment holds beyond its committed size was in flight, and
// Open cuts it off. A new crawl.db is made whole under another name, for a kill
// within bbolt's first writes would leave one that is damaged for good.
package storage
