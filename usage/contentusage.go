package usage

import (
	"net/http"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// contentUsage reads Content-Usage (draft-ietf-aipref-attach §4, §5).
var contentUsage = &Reader{
	Name: "Content-Usage", Field: "content-usage", Rule: contentUsageRule,
	Headers: []string{"Content-Usage"}, Header: contentUsageHeader,
}

// contentUsageRule parses "[/path ]dictionary". A value that does not begin with a slash has no
// path.
func contentUsageRule(value string) (r Rule) {
	if strings.HasPrefix(value, "/") {
		end := strings.IndexAny(value+" ", " \t")
		r.Path, value = value[:end], strings.Trim(value[end:], " \t")
	}
	said, err := expression(value)
	switch {
	case strings.HasPrefix(value, "*"):
		r.Doubt = "a path begins with /, so * begins none: nothing is read"
	case err != nil:
		r.Doubt = "not a Dictionary of RFC 9651, so nothing in it counts: " + err.Error()
	case len(said) == 0:
		r.Doubt = "no known category with a value of y or n"
	}
	r.Says = said
	return r
}

// contentUsageHeader reads the header. Several lines are one field (RFC 9651 §4.2).
func contentUsageHeader(h http.Header) []Statement {
	value := strings.Join(h["Content-Usage"], ", ")
	if len(value) > maxHeader {
		return nil
	}
	said, _ := expression(value)
	for i := range said {
		said[i].Text = "Content-Usage: " + value
	}
	return said
}

// expression parses preferences (draft-ietf-aipref-vocab §6). In the Dictionary only the Tokens
// y and n count; of repeated keys the last.
func expression(value string) (said []Statement, err error) {
	d, err := httpsfv.UnmarshalDictionary([]string{value})
	if err != nil {
		return nil, err
	}
	for _, key := range d.Names() {
		member, _ := d.Get(key)
		item, isItem := member.(httpsfv.Item)
		token, isToken := item.Value.(httpsfv.Token)
		v := Value(token)
		if isItem && isToken && (v == Yes || v == No) && slices.Contains(Categories, Category(key)) {
			said = append(said, Statement{Category: Category(key), Value: v})
		}
	}
	return said, nil
}
