package export

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"

	"curtsy/usage"
)

// card is the data card of a table: a Markdown file beside it.
type card struct {
	*Result
	Seed, Software      string
	Now, From, To       time.Time
	Textless            int
	Languages, Licenses map[string]int
	Uses                [4]use // in the order of usage.Categories
	Clusters            int    // clusters of near-duplicate pages
	Near                int    // pages in these clusters
	Framed              int    // pages with boilerplate
}

// use counts the pages by what they state about one category of use.
type use struct {
	Category        usage.Category
	Yes, No, Unsaid int
}

func newCard(j *job) *card {
	c := &card{Result: j.r, Seed: j.o.Seed.String(), Software: j.o.Software, Now: j.o.Now.UTC(),
		Languages: map[string]int{}, Licenses: map[string]int{}}
	for i, category := range usage.Categories {
		c.Uses[i].Category = category
	}
	return c
}

// cardName returns the path of a table's card.
func cardName(out string) string { return out + ".md" }

func oursCard(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("# Data card: ")) }

// page adds a page with its usage preferences to the counts.
func (c *card) page(row *pageRow, says usage.Preferences) {
	if c.From.IsZero() || row.Time.Before(c.From) {
		c.From = row.Time
	}
	if row.Time.After(c.To) {
		c.To = row.Time
	}
	if row.Text == "" {
		c.Textless++
	}
	if row.Language != "" {
		c.Languages[row.Language]++
	}
	for _, license := range row.Licenses {
		if len(c.Licenses) < mostLicenses || c.Licenses[license] > 0 {
			c.Licenses[license]++
		}
	}
	for i, category := range usage.Categories {
		switch says[category] {
		case usage.Yes:
			c.Uses[i].Yes++
		case usage.No:
			c.Uses[i].No++
		default:
			c.Uses[i].Unsaid++
		}
	}
	if len(row.Boilerplate) > 0 {
		c.Framed++
	}
	if row.Near != "" {
		c.Near++
		if row.Near == row.URL {
			c.Clusters++
		}
	}
}

// mostLicenses is the most distinct licenses counted.
const mostLicenses = 1000

//go:embed card.md
var cardText string

// write writes the card beside the table.
func (c *card) write(out string) error {
	t, err := template.New("card").Funcs(template.FuncMap{"tally": tally}).Parse(cardText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, c); err != nil {
		return err
	}
	f, err := begin(cardName(out))
	if err != nil {
		return err
	}
	defer f.discard()
	_, _ = f.Write(b.Bytes()) // seal reports its error
	if _, err := f.seal(); err != nil {
		return err
	}
	return f.place()
}

// tally lists the most frequent names with their counts.
func tally(m map[string]int) string {
	const most = 20
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(m[b]-m[a], cmp.Compare(a, b)) })
	var words []string
	for i, name := range names {
		if i == most {
			words = append(words, fmt.Sprintf("and %d others", len(names)-most))
			break
		}
		words = append(words, fmt.Sprintf("%s %d", name, m[name]))
	}
	return cmp.Or(strings.Join(words, ", "), "none")
}
