// Package usage answers: what does a site's owner say about the use of what was
// fetched? robots.txt says what may be fetched; this is about what may be done with
// it afterwards. It is pure: text in, values out.
//
//	usage.go          one preference, and what several of them add up to
//	readers.go        the table of all readers, and how they are asked
//	contentusage.go   Content-Usage (draft-ietf-aipref-attach, draft-ietf-aipref-vocab)
//	contentsignal.go  Content-Signal (contentsignals.org)
//	tdmrep.go         the TDM Reservation Protocol (W3C)
//	noai.go           noai and noimageai among the directives for robots
//	rsl.go            licenses in Really Simple Licensing 1.0
//
// Most of these are drafts. A reader is a file with its rules and a row in the table;
// whoever reads robots.txt, headers and pages asks the table.
package usage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Category is a kind of use.
type Category string

// The categories that count.
const (
	Search  Category = "search"   // to be found by a search
	AIInput Category = "ai-input" // to be given to a model when it answers
	TrainAI Category = "train-ai" // to train a model
	TDM     Category = "tdm"      // text and data mining (directive (EU) 2019/790, article 4)
)

// Categories lists all of them.
var Categories = []Category{Search, AIInput, TrainAI, TDM}

// Parse reads the name of a category.
func Parse(s string) (Category, error) {
	if c := Category(s); slices.Contains(Categories, c) {
		return c, nil
	}
	return "", fmt.Errorf("no category of use %q: want search, ai-input, train-ai or tdm", s)
}

// Value is a preference: allowed or disallowed. What is not said is neither.
type Value string

// The values.
const (
	Yes     Value = "y"
	No      Value = "n"
	Unknown Value = ""
)

// Places where statements stand: Statement.Source. A file of its own on the site is
// named by its path.
const (
	InRobots = "robots.txt"
	InHeader = "header"
	InMeta   = "meta"
	InLink   = "link"
)

// ForImages is Statement.For of what is said about the pictures of a page.
const ForImages = "images"

// Statement is one thing that an owner says, and where.
type Statement struct {
	Category Category `json:"category,omitempty"` // "": it counts for none
	Value    Value    `json:"value,omitempty"`
	Source   string   `json:"source"`
	Line     int      `json:"line,omitempty"` // of robots.txt
	By       string   `json:"by"`             // Name of the reader
	For      string   `json:"for,omitempty"`  // ForImages; "" is the page itself
	Text     string   `json:"text,omitempty"` // as it is written
	License  string   `json:"license,omitempty"`
	Policy   string   `json:"policy,omitempty"` // the URL of a policy
}

// String is the statement in a line, for people.
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

// Where is where the statement stands, for people.
func (s Statement) Where() string {
	if s.Line > 0 {
		return fmt.Sprintf("%s, line %d", s.Source, s.Line)
	}
	return s.Source
}

// Preferences are what statements add up to; a category that is not there is
// unknown.
type Preferences map[Category]Value

// String reads "search=y, train-ai=n".
func (p Preferences) String() string {
	var words []string
	for _, c := range slices.Sorted(maps.Keys(p)) {
		words = append(words, string(c)+"="+string(p[c]))
	}
	return strings.Join(words, ", ")
}

// Octet holds preferences in one octet, and ReadOctet reads it.
func (p Preferences) Octet() (b byte) {
	for i, c := range Categories {
		switch p[c] {
		case Yes:
			b |= 1 << (2 * i)
		case No:
			b |= 2 << (2 * i)
		}
	}
	return b
}

// ReadOctet is the preferences that Octet wrote.
func ReadOctet(b byte) Preferences {
	p := Preferences{}
	for i, c := range Categories {
		switch b >> (2 * i) & 3 {
		case 1:
			p[c] = Yes
		case 2:
			p[c] = No
		}
	}
	return p
}

// Combine says what statements about one resource add up to: any n takes precedence,
// then any y (draft-ietf-aipref-vocab §5.1).
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

// Superseded says whether another statement of the same reader stands nearer to the
// resource, and the reader lets only the nearest count.
func Superseded(list []Statement, i int) bool {
	s := &list[i]
	if r := named(s.By); r == nil || !r.Nearest || s.Category == "" {
		return false
	}
	return slices.ContainsFunc(list, func(o Statement) bool {
		return o.By == s.By && o.Category == s.Category && nearness(o.Source) > nearness(s.Source)
	})
}

// nearness orders sources from the site to the page.
func nearness(source string) int {
	return slices.Index([]string{InHeader, InMeta}, source)
}

// Licenses are those that statements name, each once.
func Licenses(list []Statement) []string {
	return distinct(list, func(s *Statement) string { return s.License })
}

// Policies are those that statements name, each once.
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

// Stated is a statement about a category as the JSON of every command has it.
type Stated struct {
	Category   Category `json:"category"`
	Value      Value    `json:"value"`
	Source     string   `json:"source"`
	Line       int      `json:"line"` // 0: not of robots.txt
	By         string   `json:"by"`
	For        string   `json:"for,omitempty"`
	Text       string   `json:"text,omitempty"`
	Superseded bool     `json:"superseded,omitempty"`
}

// Summary is what an owner says about one resource, as the JSON of commands has it.
type Summary struct {
	Usage    Preferences `json:"usage"`
	By       []Stated    `json:"usage_by"`
	Licenses []string    `json:"licenses"`
	Policies []string    `json:"policies,omitempty"`
}

// Summarize puts statements into that form.
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
