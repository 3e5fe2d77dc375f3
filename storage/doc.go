// Package storage keeps an archive: a bbolt database, crawl.db, and WARC segments.
//
//	DIR/crawl.db                               bbolt, locked by one writer
//	DIR/warc/PREFIX-YYYYMMDDhhmmss-NNNNN.warc.gz   segments, one gzip member per record
//	DIR/facts/*.facts                          facts of the pages in a segment (derived, facts.go)
//	DIR/status.json                            status of a running crawl (derived)
//	DIR/crawl.db.readers                       socket for reading the last commit during a crawl (live.go)
//	DIR/crawl.db.closed                        seal: crawl.db is unchanged since it was closed, on this machine
//	DIR/crawl.db.damaged, DIR/warc/*.damaged   files set aside by a rebuild; not read any more
//	DIR/warc/*.unknown                         segments that crawl.db does not know and no kill can have left
//
// Top-level buckets of crawl.db, besides the frontier's:
//
//	meta      schema, key (fingerprints), crawl and crawl-lasting (state of the crawl)
//	segments  name → committed octets, id of its warcinfo record, checksum of both
//	visits    URL id, number of the visit → crawllog.Visit, packed
//	digests   SHA-256 of a payload → the visit that holds it
//	robots    origin, time → crawllog.RobotsVersion as JSON
//	bodies    SHA-256 of a robots.txt → its octets
//	imports   notes of an import, as JSON; exists only after an import
//
// Values are followed by a checksum (internal/sum), except the schema, those of digests, which Verify compares
// with the visits, and those of segments, which contain one.
//
// # The promise
//
// After kill -9 or power loss at any moment, no page reported as kept is lost, no URL is lost, at most the
// visits in flight are fetched again, and every segment is valid up to its last committed octet.
//
// This follows from the order of writes. Commit first writes the records of a group of visits to the segment
// and syncs it, and only then commits the one bbolt transaction that contains their offsets, the new states
// of their URLs and the links found in them. bbolt writes and syncs its data pages before the meta page that
// points to them. So crawl.db never refers to an octet that is not on disk; what a segment has beyond its
// committed size was in flight, and Open truncates it. A new crawl.db is created under another name and then
// renamed, since a kill during bbolt's first writes would leave an unusable file.
//
// # Rebuilding crawl.db
//
// The segments contain everything that matters, so crawl.db can be rebuilt from them (Rebuild). Besides
// what WARC requires, they contain
//
//	curtsy-crawl   in the warcinfo record: seed and settings as JSON. A crawl with other
//	               settings begins a new segment, so the newest segment with the field
//	               has the right ones
//	curtsy-visit   in the metadata record: a crawllog.Note as JSON
//
// Scan reads all segments by age, one record at a time, and checks the digests. After damage it continues with
// the next valid record. The new database is written as crawl.db.rebuilding and renamed when it is complete
// and synced; a rebuild that was killed starts again.
package storage
