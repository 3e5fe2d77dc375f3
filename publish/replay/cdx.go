package replay

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/catalog"
	"curtsy/storage/crawllog"
)

// cdxPage is the number of captures per page of the CDX server without pageSize.
const cdxPage = 15_000

// cdxFields are the fields of a line, in the order of CDXJ; cdxAliases are the names that the
// Wayback Machine's server uses.
var (
	cdxFields  = []string{"urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename"}
	cdxAliases = map[string]string{"original": "url", "mimetype": "mime", "statuscode": "status", "key": "urlkey"}
)

// cdxQuery is a query to the CDX server, with pywb's parameters.
type cdxQuery struct {
	exact      string // the URL of an exact match
	from, to   string // SURT: [from, to)
	domain     string // only this host and those below it
	since      string // timestamps of 14 digits
	until      string
	filters    []cdxFilter
	fields     []string // nil: all
	json       bool
	limit      int
	page, size int  // page -1: no paging
	count      bool // return only the number of pages
	reverse    bool
}

// cdxFilter is a condition on a field.
type cdxFilter struct {
	field string
	not   bool
	holds func(string) bool
}

// cdx implements a CDX server: https://pywb.readthedocs.io/en/latest/manual/cdxserver_api.html.
// Captures that may not be shown have no line; those that may not be listed only for a query
// for their exact URL.
func (s *Server) cdx(w http.ResponseWriter, r *http.Request) error {
	q, err := readCDXQuery(r.URL.Query())
	if err != nil {
		return cdxError(w, http.StatusBadRequest, err.Error())
	}
	if q.count || q.page > 0 {
		pages, err := s.cdxPages(r.Context(), q)
		switch {
		case err != nil:
			return err
		case q.page >= max(pages, 1):
			return cdxError(w, http.StatusBadRequest, fmt.Sprintf("Page %d invalid: First Page is 0, Last Page is %d",
				q.page, pages-1))
		case q.count:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"pages": %d, "pageSize": %d, "blocks": %d}`+"\n", pages, q.size, pages)
			return nil
		}
	}
	out := bufio.NewWriter(w)
	w.Header().Set("Content-Type", "text/x-cdxj")
	if q.json {
		w.Header().Set("Content-Type", "text/x-ndjson")
	}
	n := 0
	err = s.cdxLines(r.Context(), q, func(line map[string]string) error {
		n++
		return q.write(out, line)
	})
	switch {
	case n > 0:
		_ = out.Flush() // an error means that the client is gone
		return nil
	case err != nil:
		return err
	}
	return cdxError(w, http.StatusNotFound, "No Captures found for: "+r.FormValue("url"))
}

func cdxError(w http.ResponseWriter, status int, message string) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	b, _ := json.Marshal(map[string]string{"message": message}) // cannot fail for strings
	_, _ = w.Write(append(b, '\n'))
	return nil
}

// readCDXQuery parses the parameters of a query.
func readCDXQuery(v url.Values) (*cdxQuery, error) {
	q := &cdxQuery{json: v.Get("output") == "json", page: -1, size: cdxPage, count: v.Get("showNumPages") == "true",
		reverse: v.Get("sort") == "reverse", since: padTime(v.Get("from"), "0"), until: padTime(v.Get("to"), "9")}
	for name, to := range map[string]*int{"limit": &q.limit, "page": &q.page, "pageSize": &q.size} {
		if text := v.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("%s=%s is no number", name, text)
			}
			*to = n
		}
	}
	q.size = min(max(q.size, 1), cdxPage)
	for _, list := range append(v["fl"], v["fields"]...) {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			q.fields = append(q.fields, cmp.Or(cdxAliases[name], name))
		}
	}
	for _, text := range v["filter"] {
		f, err := readCDXFilter(text)
		if err != nil {
			return nil, err
		}
		q.filters = append(q.filters, f)
	}
	return q, q.match(v.Get("url"), v.Get("matchType"))
}

// padTime extends a partial timestamp to 14 digits.
func padTime(t, with string) string {
	if t == "" {
		return ""
	}
	return t + strings.Repeat(with, max(0, 14-len(t)))
}

// match parses url= and matchType=: example.org/* is a prefix, *.example.org a domain.
func (q *cdxQuery) match(asked, how string) error {
	if asked == "" {
		return errors.New("the url= that is asked for is missing")
	}
	bare := asked
	if rest, ok := strings.CutPrefix(asked, "*."); ok && how == "" {
		bare, how = rest, "domain"
	} else if rest, ok := strings.CutSuffix(asked, "*"); ok && how == "" {
		bare, how = rest, "prefix"
	}
	urls := urlsOf(bare)
	if len(urls) == 0 {
		return fmt.Errorf("url=%s is no URL", asked)
	}
	key := urls[0].SURT()
	host, path, _ := strings.Cut(key, ")")
	switch how {
	case "", "exact":
		q.exact, q.from, q.to = asked, key, key+"\x00"
	case "prefix":
		if path == "/" && !strings.HasSuffix(bare, "/") {
			key = host + ")" // a host without a path
		}
		q.from, q.to = key, key+"\xff"
	case "host":
		q.from, q.to = host+")", host+"*"
	case "domain":
		name, port, _ := strings.Cut(host, ":")
		q.from, q.to, q.domain = name, name+"\xff", name
		if port != "" {
			q.from, q.to, q.domain = host+")", host+"*", host
		}
	default:
		return fmt.Errorf("matchType=%s: want exact, prefix, host or domain", how)
	}
	return nil
}

// readCDXFilter parses [!][=|~]field:value. Without = or ~, the field has to contain the value.
func readCDXFilter(text string) (f cdxFilter, err error) {
	rest, not := strings.CutPrefix(text, "!")
	kind := byte(0)
	if rest != "" && (rest[0] == '=' || rest[0] == '~') {
		kind, rest = rest[0], rest[1:]
	}
	name, value, ok := strings.Cut(rest, ":")
	f = cdxFilter{field: cmp.Or(cdxAliases[name], name), not: not}
	if !ok || !slices.Contains(cdxFields, f.field) {
		return f, fmt.Errorf("filter=%s: want [!][=|~]FIELD:VALUE with one of %s", text, strings.Join(cdxFields, ", "))
	}
	switch kind {
	case '=':
		f.holds = func(s string) bool { return s == value }
	case '~':
		re, err := regexp.Compile(`^(?:` + value + `)`)
		if err != nil {
			return f, fmt.Errorf("filter=%s: %w", text, err)
		}
		f.holds = re.MatchString
	default:
		f.holds = func(s string) bool { return strings.Contains(s, value) }
	}
	return f, nil
}

// cdxRows merges the rows of all archives for a query, by SURT and time.
func (s *Server) cdxRows(ctx context.Context, q *cdxQuery) iter.Seq2[*cdxRow, error] {
	return func(yield func(*cdxRow, error) bool) {
		var heads []*cdxRow // the next row of each archive
		for _, from := range s.sources {
			next, stop := iter.Pull2(from.Catalog.Range(ctx, q.from, q.to))
			defer stop()
			heads = append(heads, &cdxRow{from: from, next: next})
		}
		behind := heads // rows to advance
		for {
			for _, r := range behind {
				if err := r.advance(); err != nil {
					yield(nil, err)
					return
				}
			}
			heads = slices.DeleteFunc(heads, func(r *cdxRow) bool { return r.Capture == nil })
			if len(heads) == 0 {
				return
			}
			first := slices.MinFunc(heads, func(a, b *cdxRow) int {
				return cmp.Or(strings.Compare(a.SURT, b.SURT), a.At.Compare(b.At))
			})
			if q.isWithin(first.SURT) && !yield(first, nil) {
				return
			}
			behind = []*cdxRow{first}
		}
	}
}

// cdxRow is the current capture of an archive in the merge.
type cdxRow struct {
	*catalog.Capture // nil at the end
	from             *Source
	next             func() (*catalog.Capture, error, bool)
}

func (r *cdxRow) advance() (err error) {
	r.Capture, err, _ = r.next()
	return err
}

// isWithin reports whether a SURT belongs to the queried domain, if there is one.
func (q *cdxQuery) isWithin(surt string) bool {
	rest, ok := strings.CutPrefix(surt, q.domain)
	return q.domain == "" || ok && rest != "" && strings.ContainsAny(rest[:1], "),:")
}

// cdxPages returns the number of pages of a query. Rows are counted before permits and filters
// are applied.
func (s *Server) cdxPages(ctx context.Context, q *cdxQuery) (int, error) {
	n := 0
	for _, err := range s.cdxRows(ctx, q) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return (n + q.size - 1) / q.size, nil
}

// maxReversed is the most lines sorted in memory for sort=reverse.
const maxReversed = 100_000

// cdxLines calls each with the lines of a query.
func (s *Server) cdxLines(ctx context.Context, q *cdxQuery, each func(map[string]string) error) error {
	at, n := 0, 0
	gate := cdxGate{s: s, exact: q.exact != ""}
	var all []map[string]string
	for row, err := range s.cdxRows(ctx, q) {
		if err != nil {
			return err
		}
		at++
		if q.page >= 0 && (at <= q.page*q.size || at > (q.page+1)*q.size) {
			continue
		}
		line := cdxLine(row)
		if !q.wants(line) {
			continue
		}
		if ok, err := gate.admits(ctx, row); err != nil {
			return err
		} else if !ok {
			continue
		}
		if q.reverse {
			if all = append(all, line); len(all) > maxReversed {
				all = all[1:]
			}
			continue
		}
		if err := each(line); err != nil {
			return err
		}
		if n++; n == q.limit {
			return nil
		}
	}
	for _, line := range slices.Backward(all) {
		if err := each(line); err != nil {
			return err
		}
		if n++; n == q.limit {
			break
		}
	}
	return nil
}

// wants reports whether a line matches the time range and filters of a query.
func (q *cdxQuery) wants(line map[string]string) bool {
	t := line["timestamp"]
	if q.since != "" && t < q.since || q.until != "" && t > q.until {
		return false
	}
	return !slices.ContainsFunc(q.filters, func(f cdxFilter) bool { return f.holds(line[f.field]) == f.not })
}

// cdxLine returns the fields of a capture. length is that of all its records.
func cdxLine(c *cdxRow) map[string]string {
	mime := cmp.Or(c.MIME, "unk")
	if c.Kept == crawllog.KeptRevisit || c.Kept == crawllog.KeptElsewhere {
		mime = "warc/revisit"
	}
	return map[string]string{"urlkey": c.SURT, "timestamp": c.At.Format(tsFormat), "url": c.URL, "mime": mime,
		"status": strconv.Itoa(c.Status),
		"digest": c.Digest, "length": strconv.FormatInt(c.Length, 10), "offset": strconv.FormatInt(c.Offset, 10),
		"filename": c.Segment}
}

// write writes a line in the requested format.
func (q *cdxQuery) write(w *bufio.Writer, line map[string]string) error {
	fields := q.fields
	switch {
	case q.json && fields == nil:
		fields = cdxFields
	case !q.json && fields == nil:
		fmt.Fprintf(w, "%s %s ", line["urlkey"], line["timestamp"])
		fields = cdxFields[2:]
	case !q.json:
		var values []string
		for _, name := range fields {
			values = append(values, cmp.Or(line[name], "-"))
		}
		_, err := w.WriteString(strings.Join(values, " ") + "\n")
		return err
	}
	sep := "{"
	for _, name := range fields {
		value, known := line[name]
		if !known {
			continue
		}
		b, err := json.Marshal(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%q: %s", sep, name, b)
		sep = ", "
	}
	if sep == "{" {
		w.WriteString(sep)
	}
	_, err := w.WriteString("}\n")
	return err
}

// cdxGate checks captures, which must come URL by URL.
type cdxGate struct {
	s       *Server
	exact   bool
	from    *Source
	urlID   uint64
	visits  []*crawllog.Visit
	permits []publish.Permit
	latest  publish.Answer // in all archives
}

// admits reports whether a capture may have a line.
func (g *cdxGate) admits(ctx context.Context, c *cdxRow) (bool, error) {
	if !c.HasBody() {
		return false, nil
	}
	reading, err := c.from.Reading(ctx)
	if err != nil {
		return false, err
	}
	if g.from != c.from || g.urlID != c.URLID || g.visits == nil {
		g.from, g.urlID = c.from, c.URLID
		if g.visits, g.permits, err = g.of(ctx, c.from, reading, c.URLID); err != nil {
			return false, err
		}
		if g.latest, err = Latest(ctx, g.s.sources, weburl.FromCanonical(c.URL), g.s.now()); err != nil {
			return false, err
		}
	}
	i := slices.IndexFunc(g.visits, func(v *crawllog.Visit) bool { return v.Ref() == c.Ref })
	if i < 0 {
		return false, nil
	}
	permit := g.permits[i]
	g.latest.Withdraw(g.visits[i].At, &permit)
	if !permit.Show || !g.exact && !permit.List {
		return false, nil
	}
	refers := g.visits[i].Refers
	if refers == nil {
		return true, nil
	}
	visits, permits, err := g.of(ctx, c.from, reading, refers.URLID)
	i = slices.IndexFunc(visits, func(v *crawllog.Visit) bool { return v.Ref() == *refers })
	return i >= 0 && permits[i].Show, err
}

func (g *cdxGate) of(ctx context.Context, from *Source, reading *Reading, urlID uint64) ([]*crawllog.Visit,
	[]publish.Permit, error) {
	visits, err := reading.Archive.VisitsOf(urlID)
	if err != nil {
		return nil, nil, err
	}
	find := crawllog.Remember(from.lookup(ctx, reading.Archive))
	return visits, publish.Permits(visits, g.s.now(), find), nil
}
