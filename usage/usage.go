// Package usage reads the preferences of a site's owner about the use of what was fetched.
// robots.txt says what may be fetched; usage preferences say what may be done with it
// afterwards. The package does no I/O.
//
//	usage.go          statements, and how they are combined
//	readers.go        the table of all readers, and how they are called
//	contentusage.go   Content-Usage (draft-ietf-aipref-attach, draft-ietf-aipref-vocab)
//	contentsignal.go  Content-Signal (contentsignals.org)
//	tdmrep.go         the TDM Reservation Protocol (W3C)
//	noai.go           noai and noimageai among the directives for robots
//	rsl.go            licenses in Really Simple Licensing 1.0
//
// Most of these are drafts. Each reader is a file with its rules and a row in the table. Code
// that reads robots.txt, headers and pages uses the table.
package usage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Category is a category of use.
type Category string

// The categories.
const (
	Search  Category = "search"   // be found by a search engine
	AIInput Category = "ai-input" // be given to a model as input
	TrainAI Category = "train-ai" // train a model
	TDM     Category = "tdm"      // text and data mining (directive (EU) 2019/790, article 4)
)

// Categories lists all of them.
var Categories = []Category{Search, AIInput, TrainAI, TDM}

// Parse parses the name of a category.
func Parse(s string) (Category, error) {
	if c := Category(s); slices.Contains(Categories, c) {
		return c, nil
	}
	return "", fmt.Errorf("no category of use %q: want search, ai-input, train-ai or tdm", s)
}

// Value is a preference: allowed, disallowed, or unknown if nothing is stated.
type Value string

// The values.
const (
	Yes     Value = "y"
	No      Value = "n"
	Unknown Value = ""
)

// Values of Statement.Source. For a reader's own file it is the path of the file.
const (
	InRobots = "robots.txt"
	InHeader = "header"
	InMeta   = "meta"
	InLink   = "link"
)

// ForImages is Statement.For of statements about the images of a page.
const ForImages = "images"

// Statement is a usage statement of an owner, with its source.
type Statement struct {
	Category Category `json:"category,omitempty"` // "": no known category
	Value    Value    `json:"value,omitempty"`
	Source   string   `json:"source"`
	Line     int      `json:"line,omitempty"` // of robots.txt
	By       string   `json:"by"`             // Name of the reader
	For      string   `json:"for,omitempty"`  // ForImages; "": the page itself
	Text     string   `json:"text,omitempty"` // verbatim
	License  string   `json:"license,omitempty"`
	Policy   string   `json:"policy,omitempty"` // the URL of a policy
}

// String formats the statement on one line.
func (s Statement) String() string {
	what := string(s.Category) + "=" + string(s.Value)
	switch {
	case s.License != "":
		what = "license " + s.License
	case s.Policy != "":
		what = "policy " + s.Policy
	case s.Category == "":
		what = "nothing that is known here"
	case s.For != "":
		what += " for " + s.For
	}
	return what + " (" + s.Where() + ": " + s.Text + ")"
}

// Where formats the source of the statement.
func (s Statement) Where() string {
	if s.Line > 0 {
		return fmt.Sprintf("%s, line %d", s.Source, s.Line)
	}
	return s.Source
}

// Preferences are combined statements. Categories that are not in the map are unknown.
type Preferences map[Category]Value

// String formats preferences: "search=y, train-ai=n".
func (p Preferences) String() string {
	var words []string
	for _, c := range slices.Sorted(maps.Keys(p)) {
		words = append(words, string(c)+"="+string(p[c]))
	}
	return strings.Join(words, ", ")
}

// Combine combines the statements about a resource: any n takes precedence, then any y
// (draft-ietf-aipref-vocab §5.1).
func Combine(list []Statement) Preferences {
	p := Preferences{}
	for i := range list {
		s := &list[i]
		if s.Category == "" || s.For != "" || p[s.Category] == No || Superseded(list, i) {
			continue
		}
		p[s.Category] = s.Value
	}
	return p
}

// Superseded reports whether the reader of a statement counts only the nearest one and another
// statement is nearer to the resource.
func Superseded(list []Statement, i int) bool {
	s := &list[i]
	if r := named(s.By); r == nil || !r.Nearest || s.Category == "" {
		return false
	}
	return slices.ContainsFunc(list, func(o Statement) bool {
		return o.By == s.By && o.Category == s.Category && nearness(o.Source) > nearness(s.Source)
	})
}

// nearness orders sources from the site (-1) to the page.
func nearness(source string) int {
	return slices.Index([]string{InHeader, InMeta}, source)
}

// Licenses returns the licenses named by statements, each once.
func Licenses(list []Statement) []string {
	return distinct(list, func(s *Statement) string { return s.License })
}

// Policies returns the policies named by statements, each once.
func Policies(list []Statement) []string {
	return distinct(list, func(s *Statement) string { return s.Policy })
}

func distinct(list []Statement, of func(*Statement) string) []string {
	found := []string{}
	for i := range list {
		if text := of(&list[i]); text != "" && !slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	return found
}

// Stated is a statement about a category in the JSON output of commands.
type Stated struct {
	Category   Category `json:"category"`
	Value      Value    `json:"value"`
	Source     string   `json:"source"`
	Line       int      `json:"line"` // 0: not from robots.txt
	By         string   `json:"by"`
	For        string   `json:"for,omitempty"`
	Text       string   `json:"text,omitempty"`
	Superseded bool     `json:"superseded,omitempty"`
}

// Summary combines the statements about a resource for the JSON output of commands.
type Summary struct {
	Usage    Preferences `json:"usage"`
	By       []Stated    `json:"usage_by"`
	Licenses []string    `json:"licenses"`
	Policies []string    `json:"policies,omitempty"`
}

// Summarize makes the summary of statements.
func Summarize(list []Statement) Summary {
	sum := Summary{Usage: Combine(list), By: []Stated{}, Licenses: Licenses(list), Policies: Policies(list)}
	for i, s := range list {
		if s.Category != "" {
			sum.By = append(sum.By, Stated{s.Category, s.Value, s.Source, s.Line, s.By, s.For, s.Text,
				Superseded(list, i)})
		}
	}
	return sum
}
