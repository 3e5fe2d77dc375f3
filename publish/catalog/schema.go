package catalog

// analysis is the version of how texts become words (publish/search). A file
// with other tables or another analysis is built anew.
const analysis = "3"

// tables are all that index.db holds.
//
// The id of a capture is the URL's id in the archive and the number of the
// visit; that of a text is the URL's id. todo names the URLs whose text is to be
// read again. Texts are stored nowhere: idx has their words only, docs the title
// and the words of the title and of the last segment of the path, words which
// words of texts have which stem, titles in how many titles a stem is, doubt that the
// language is that of most pages and not of its own, and
// inlinks how many pages link to a URL, by its name (search.nameOf), since links
// to it may be read before it is captured.
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
