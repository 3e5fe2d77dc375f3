package export

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/language"

	"curtsy/internal/http1"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// captureRow is a capture, with the column names of Common Crawl's columnar index
// (github.com/commoncrawl/cc-index-table) and the owner's usage preferences.
type captureRow struct {
	urlColumns
	fetchColumns
	contentColumns
	warcColumns
	Usage usageColumns `parquet:"usage" json:"usage"`
}

type urlColumns struct {
	SURT       string `parquet:"url_surtkey" json:"url_surtkey"`
	URL        string `parquet:"url" json:"url"`
	Host       string `parquet:"url_host_name,dict" json:"url_host_name"`
	TLD        string `parquet:"url_host_tld,optional,dict" json:"url_host_tld,omitempty"`
	Last2      string `parquet:"url_host_2nd_last_part,optional,dict" json:"url_host_2nd_last_part,omitempty"`
	Last3      string `parquet:"url_host_3rd_last_part,optional,dict" json:"url_host_3rd_last_part,omitempty"`
	Last4      string `parquet:"url_host_4th_last_part,optional,dict" json:"url_host_4th_last_part,omitempty"`
	Last5      string `parquet:"url_host_5th_last_part,optional,dict" json:"url_host_5th_last_part,omitempty"`
	Suffix     string `parquet:"url_host_registry_suffix,optional,dict" json:"url_host_registry_suffix,omitempty"`
	Registered string `parquet:"url_host_registered_domain,optional,dict" json:"url_host_registered_domain,omitempty"`
	Protocol   string `parquet:"url_protocol,dict" json:"url_protocol"`
	Port       *int32 `parquet:"url_port,optional" json:"url_port,omitempty"`
	Path       string `parquet:"url_path" json:"url_path"`
	Query      string `parquet:"url_query,optional" json:"url_query,omitempty"`
}

type fetchColumns struct {
	Time     time.Time `parquet:"fetch_time,timestamp(microsecond)" json:"fetch_time"`
	Status   int16     `parquet:"fetch_status" json:"fetch_status"`
	Redirect string    `parquet:"fetch_redirect,optional" json:"fetch_redirect,omitempty"`
}

type contentColumns struct {
	Digest    string `parquet:"content_digest,optional" json:"content_digest,omitempty"`
	MIME      string `parquet:"content_mime_type,optional,dict" json:"content_mime_type,omitempty"`
	Detected  string `parquet:"content_mime_detected,optional,dict" json:"content_mime_detected,omitempty"`
	Charset   string `parquet:"content_charset,optional,dict" json:"content_charset,omitempty"`
	Languages string `parquet:"content_languages,optional,dict" json:"content_languages,omitempty"` // ISO 639-3
	Truncated string `parquet:"content_truncated,optional,dict" json:"content_truncated,omitempty"`
}

type warcColumns struct {
	File    string `parquet:"warc_filename,dict" json:"warc_filename"`
	Offset  int64  `parquet:"warc_record_offset" json:"warc_record_offset"`
	Length  int64  `parquet:"warc_record_length" json:"warc_record_length"` // of the record's gzip member
	Segment string `parquet:"warc_segment,dict" json:"warc_segment"`        // the number in the file name
	Type    string `parquet:"warc_record_type,dict" json:"warc_record_type"`
}

// usageColumns are y, n, or null if nothing is stated.
type usageColumns struct {
	Search  string `parquet:"search,optional,dict" json:"search,omitempty"`
	AIInput string `parquet:"ai-input,optional,dict" json:"ai-input,omitempty"`
	TrainAI string `parquet:"train-ai,optional,dict" json:"train-ai,omitempty"`
	TDM     string `parquet:"tdm,optional,dict" json:"tdm,omitempty"`
}

// pageRow is the current capture of a page, with its metadata and text.
type pageRow struct {
	captureRow
	corpusColumns
	Title     string     `parquet:"title,optional" json:"title,omitempty"`
	Lang      string     `parquet:"lang,optional,dict" json:"lang,omitempty"` // as declared by the page
	Canonical string     `parquet:"canonical,optional" json:"canonical,omitempty"`
	UsageBy   []statedBy `parquet:"usage_by,list" json:"usage_by"`
	Licenses  []string   `parquet:"licenses,list" json:"licenses"`
	// Text is null if it may not be exported in full.
	Text string `parquet:"text,optional" json:"text,omitempty"`
}

// corpusColumns describe a page's text. They do not filter anything.
type corpusColumns struct {
	Language string  `parquet:"language,optional,dict" json:"language,omitempty"` // of the text, ISO 639-3
	Score    float64 `parquet:"language_score,optional" json:"language_score,omitempty"`
	// Boilerplate lists the lines of text that occur on more than 5 % of the pages.
	Boilerplate []string `parquet:"boilerplate,list" parquet-element:",dict" json:"boilerplate"`
	// Near is the first page of the cluster of near-duplicates, which may be the page itself;
	// null if there is no other.
	Near  string `parquet:"near_duplicate_of,optional,dict" json:"near_duplicate_of,omitempty"`
	Nears int32  `parquet:"near_duplicates,optional" json:"near_duplicates,omitempty"` // size of the cluster
}

// statedBy is one usage statement.
type statedBy struct {
	Category string `parquet:"category,dict" json:"category"`
	Value    string `parquet:"value,dict" json:"value"`
	Source   string `parquet:"source,dict" json:"source"`
	Line     int32  `parquet:"line" json:"line"` // 0: not from robots.txt
	By       string `parquet:"by,dict" json:"by"`
	Text     string `parquet:"text,optional,dict" json:"text,omitempty"`
}

func captureOf(a *storage.Archive, m *member) (captureRow, error) {
	v, says := m.v, func(c usage.Category) string { return string(m.use[c]) }
	row := captureRow{
		urlColumns:   urlOf(v.URL),
		fetchColumns: fetchColumns{m.head.Date.UTC(), int16(v.Status), v.Location},
		contentColumns: contentColumns{Digest: m.head.PayloadDigest, MIME: http1.MediaType(v.ContentType),
			Charset: strings.ToUpper(v.Charset), Languages: iso3(v.Lang), Truncated: v.Truncated},
		warcColumns: warcColumns{File: m.fileName(), Offset: m.offset, Length: m.first, Segment: numberOf(m.segment),
			Type: m.head.Type},
		Usage: usageColumns{says(usage.Search), says(usage.AIInput), says(usage.TrainAI), says(usage.TDM)},
	}
	var err error
	row.Detected, err = detected(a, v)
	return row, err
}

// numberOf returns the number in a segment's name (PREFIX-TIME-NNNNN.warc.gz).
func numberOf(segment string) string {
	name, _, _ := strings.Cut(segment, ".")
	return name[strings.LastIndexByte(name, '-')+1:]
}

// iso3 converts a language to its ISO 639-3 code, as Common Crawl has it; "" if unknown.
func iso3(lang string) string {
	if base, ok := baseOf(lang); ok {
		return base.ISO3()
	}
	return ""
}

// baseOf returns the language of a tag without region and script.
func baseOf(lang string) (language.Base, bool) {
	tag, err := language.Parse(lang)
	if err != nil {
		return language.Base{}, false
	}
	base, sure := tag.Base()
	return base, sure != language.No
}

// detected sniffs the media type from the first octets of a body (WHATWG MIME Sniffing §7).
func detected(a *storage.Archive, v *crawllog.Visit) (string, error) {
	if !v.HasBody() || v.Length == 0 {
		return "", nil
	}
	b, err := publish.OpenBody(a, v)
	if err != nil {
		return "", publish.OfArchive(err)
	}
	defer b.Close()
	var head [512]byte
	n, err := io.ReadFull(b, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || n == 0 {
		return "", publish.OfArchive(err)
	}
	return http1.MediaType(http.DetectContentType(head[:n])), nil
}

func urlOf(text string) urlColumns {
	row := urlColumns{SURT: key(text), URL: text}
	u, err := url.Parse(text)
	if err != nil {
		return row
	}
	row.Host, row.Protocol, row.Path, row.Query = u.Hostname(), u.Scheme, u.EscapedPath(), u.RawQuery
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		port := int32(n)
		row.Port = &port
	}
	if _, err := netip.ParseAddr(row.Host); err == nil {
		return row
	}
	labels := strings.Split(row.Host, ".")
	slices.Reverse(labels)
	for i, part := range []*string{&row.TLD, &row.Last2, &row.Last3, &row.Last4, &row.Last5} {
		if i < len(labels) {
			*part = labels[i]
		}
	}
	row.Suffix, _ = publicsuffix.PublicSuffix(row.Host)
	row.Registered, _ = publicsuffix.EffectiveTLDPlusOne(row.Host)
	return row
}

// pageOf makes the row of a page that may be listed.
func pageOf(a *storage.Archive, m *member, now time.Time) (*pageRow, error) {
	capture, err := captureOf(a, m)
	if err != nil {
		return nil, err
	}
	row := &pageRow{captureRow: capture, Title: m.v.Title, Lang: m.v.Lang, Canonical: m.v.Canonical,
		UsageBy: []statedBy{}}
	said, err := saidOf(a, m, now)
	if err != nil {
		return nil, err
	}
	for _, s := range usage.Summarize(said).By {
		if !s.Superseded {
			row.UsageBy = append(row.UsageBy, statedBy{string(s.Category), string(s.Value), s.Source,
				int32(s.Line), s.By, s.Text})
		}
	}
	row.Licenses, err = licensesOf(a, m.v, usage.Licenses(said))
	return row, err
}

// licensesOf appends the licenses that the page links to.
func licensesOf(a *storage.Archive, v *crawllog.Visit, list []string) ([]string, error) {
	links, err := publish.Links(a, v)
	for _, l := range links {
		url := l.URL.String()
		if (slices.Contains(strings.Fields(strings.ToLower(l.Rel)), "license") || isCommons(url)) &&
			!slices.Contains(list, url) {
			list = append(list, url)
		}
	}
	return list, err
}

// isCommons reports whether a URL is a Creative Commons license.
func isCommons(url string) bool {
	_, path, _ := strings.Cut(url, "://")
	path = strings.TrimPrefix(path, "www.")
	return strings.HasPrefix(path, "creativecommons.org/licenses/") ||
		strings.HasPrefix(path, "creativecommons.org/publicdomain/")
}

// saidOf returns the usage statements that apply to a page.
func saidOf(a *storage.Archive, m *member, now time.Time) ([]usage.Statement, error) {
	visits, err := a.VisitsOf(m.ref.URLID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(visits, func(v *crawllog.Visit) bool { return v.N == m.ref.N })
	if i < 0 {
		return nil, nil
	}
	return publish.Permits(visits, now, a.VisitsAt)[i].Stated.Usage, nil
}
