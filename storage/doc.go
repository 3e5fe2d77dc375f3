// Package storage answers: what do we hold, and is it whole? It keeps an
// archive: one bbolt file over WARC segments.
//
//	DIR/crawl.db                               bbolt, locked by one writer
//	DIR/warc/PREFIX-YYYYMMDDhhmmss-NNNNN.warc.gz   segments, one gzip member a record
//	DIR/status.json                            what a running crawl publishes (derived)
//	DIR/crawl.db.readers                       a socket: who reads meanwhile asks it for the last commit (live.go)
//	DIR/crawl.db.closed                        says that crawl.db is as the last writer left it, on this machine
//	DIR/crawl.db.damaged, DIR/warc/*.damaged   what could not be read, set aside by a rebuild; never read again
//	DIR/warc/*.unknown                         a segment that crawl.db does not know and no kill can have left
//
// Top-level buckets of crawl.db (those of the frontier are its own):
//
//	meta      schema, key (fingerprints), crawl and crawl-lasting (what the crawl says of itself)
//	segments  name → octets committed, id of its warcinfo record, sum of both
//	visits    URL id, number of the visit → crawllog.Visit, packed
//	digests   SHA-256 of a payload → the visit that holds it
//	robots    origin, time → crawllog.RobotsVersion as JSON
//	bodies    SHA-256 of a robots.txt → its octets
//	imports   what an import notes of its files, as JSON; there only once something was imported
//
// Values have a sum (internal/sum) behind them, but for the schema, those of
// digests, which Verify compares against the visits, and those of segments, which
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
//
// # Rebuilding crawl.db
//
// The segments hold all that matters, so crawl.db can be made anew of them
// (Rebuild). Beside what WARC asks for, they say
//
//	curtsy-crawl   in the warcinfo record: seed and settings as JSON. A segment is
//	               written on only by a crawl with the same; so the newest that
//	               has the field is right
//	curtsy-visit   in the metadata record: a crawllog.Note as JSON
//
// Scan reads all segments by their age, a record at a time, and holds each
// against its digests. Damage is passed over to the next record that begins
// well. The new index is made as crawl.db.rebuilding and takes its place when
// it is whole and synced; a rebuild that was killed is begun anew.
package storage
