package catalog

// analysis is the version of how publish/search reads and tokenizes texts. A file with other tables or
// another version is rebuilt.
const analysis = "4"

// tables is the schema of index.db.
//
// The id of a capture combines the archive's id of the URL with the number of the visit; that
// of a text is the id of the URL. todo lists the URLs whose text has to be indexed again. Texts
// are not stored: idx is an inverted index, words maps words of texts to stems, titles counts
// the titles that have a stem. docs has the title, its words and those of the last path
// segment, and doubt, set where the language of the text is uncertain and that of most pages is
// assumed. inlinks counts the pages that link to a URL, by a hash of it (search.nameOf), since
// links may be read before their target is captured.
const tables = `
CREATE TABLE state(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE captures(
	id INTEGER PRIMARY KEY,
	surt TEXT NOT NULL,
	ts INTEGER NOT NULL,
	url TEXT NOT NULL,
	status INTEGER NOT NULL,
	mime TEXT NOT NULL,
	digest TEXT NOT NULL,
	kept TEXT NOT NULL,
	segment TEXT NOT NULL,
	offset INTEGER NOT NULL,
	length INTEGER NOT NULL
);
CREATE INDEX captures_surt ON captures(surt, ts);
CREATE TABLE todo(id INTEGER PRIMARY KEY);
CREATE TABLE docs(
	id INTEGER PRIMARY KEY,
	name INTEGER NOT NULL,
	n INTEGER NOT NULL,
	url TEXT NOT NULL,
	title TEXT NOT NULL,
	lang TEXT NOT NULL,
	doubt INTEGER NOT NULL,
	raws TEXT NOT NULL,
	stems TEXT NOT NULL,
	last TEXT NOT NULL
);
CREATE VIRTUAL TABLE idx USING fts5(title, head, body, url, content='', contentless_delete=1, tokenize='ascii');
CREATE TABLE words(raw TEXT, stem TEXT, PRIMARY KEY(raw, stem)) WITHOUT ROWID;
CREATE TABLE titles(stem TEXT PRIMARY KEY, docs INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE inlinks(name INTEGER PRIMARY KEY, pages INTEGER NOT NULL);
`
