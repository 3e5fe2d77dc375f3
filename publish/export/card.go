package export

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"curtsy/usage"
)

// card tells, beside a table, what it is: a data card in Markdown.
type card struct {
	o         *Options
	from, to  time.Time
	textless  int
	languages map[string]int
	licenses  map[string]int
	uses      map[string]int
	clusters  int // of pages that are nearly the same
	near      int // pages in them
	framed    int // pages with boilerplate
}

func newCard(o *Options) *card {
	return &card{o: o, languages: map[string]int{}, licenses: map[string]int{}, uses: map[string]int{}}
}

// cardName is where the card of a table is.
func cardName(out string) string { return out + ".md" }

const cardTitle = "# Data card: "

// replaceable says whether a card may come to stand beside out.
func (c *card) replaceable(out string) error {
	b, err := os.ReadFile(cardName(out))
	if errors.Is(err, fs.ErrNotExist) || c.o.Force || bytes.HasPrefix(b, []byte(cardTitle)) {
		return nil
	}
	return fmt.Errorf("%s: %w", cardName(out), cmp.Or(err, ErrNotOurs))
}

// page takes in a page.
func (c *card) page(row *pageRow) {
	if c.from.IsZero() || row.Time.Before(c.from) {
		c.from = row.Time
	}
	if row.Time.After(c.to) {
		c.to = row.Time
	}
	if row.Text == "" {
		c.textless++
	}
	if row.Language != "" {
		c.languages[row.Language]++
	}
	for _, license := range row.Licenses {
		if len(c.licenses) < mostLicenses || c.licenses[license] > 0 {
			c.licenses[license]++
		}
	}
	for _, u := range []struct {
		c usage.Category
		v string
	}{{usage.Search, row.Usage.Search}, {usage.AIInput, row.Usage.AIInput}, {usage.TrainAI, row.Usage.TrainAI},
		{usage.TDM, row.Usage.TDM}} {
		c.uses[string(u.c)+" "+cmp.Or(u.v, "-")]++
	}
	if len(row.Boilerplate) > 0 {
		c.framed++
	}
	if row.Near != "" {
		c.near++
		if row.Near == row.URL {
			c.clusters++
		}
	}
}

// mostLicenses bounds the licenses that are counted.
const mostLicenses = 1000

// write writes the card.
func (c *card) write(out string, r *Result) error {
	var b strings.Builder
	seed := c.o.Seed.String()
	fmt.Fprintf(&b, "%s%s of %s\n\n", cardTitle, r.Table, seed)
	fmt.Fprintf(&b, "| | |\n|---|---|\n| source | <%s> |\n| made | %s by %s |\n| rows | %d |\n", seed,
		c.o.Now.UTC().Format(time.RFC3339), c.o.Software, r.Rows)
	if !c.from.IsZero() {
		fmt.Fprintf(&b, "| captured | %s to %s |\n", c.from.Format(time.DateOnly), c.to.Format(time.DateOnly))
	}
	b.WriteString("\n## Left out\n\n")
	fmt.Fprintf(&b, "- %d withheld: the page may not be shown or listed (noarchive, noindex, unavailable_after, blocked).\n", r.Withheld)
	if r.Consent != nil {
		fmt.Fprintf(&b, "- %d whose owner does not allow %s.\n", r.Refused, r.Purpose)
		if r.Required {
			fmt.Fprintf(&b, "- %d that say nothing about %s.\n", r.Unstated, r.Purpose)
		} else {
			fmt.Fprintf(&b, "- Nothing else for want of consent: %d say nothing about %s and are in it.\n",
				r.Unstated, r.Purpose)
		}
	} else {
		b.WriteString("- Nothing by purpose: the column `usage` has what owners say; `--purpose` leaves out what they disallow.\n")
	}
	if r.Table == Tables[0] {
		c.writeTexts(&b)
	}
	fmt.Fprintf(&b, "\n## How to cite\n\n%s, archived %s by %s; the URL and `fetch_time` of each page used.\n"+
		"The texts belong to their authors: a license that a page states is in `licenses`, and the absence of one is no permission.\n",
		seed, c.o.Now.UTC().Format(time.DateOnly), c.o.Software)
	if err := os.WriteFile(cardName(out), []byte(b.String()), 0o644); err != nil {
		return &DiskError{err}
	}
	return nil
}

// writeTexts tells of the texts of pages.
func (c *card) writeTexts(b *strings.Builder) {
	fmt.Fprintf(b, "- The text of %d pages: it may not be quoted in full, or there is none.\n\n## Texts\n\n",
		c.textless)
	fmt.Fprintf(b, "- Languages, as detected: %s.\n", tally(c.languages))
	fmt.Fprintf(b, "- Near-duplicates: %d pages in %d clusters (`near_duplicate_of`); none is left out.\n",
		c.near, c.clusters)
	fmt.Fprintf(b, "- Boilerplate: %d pages have lines that stand on more than 5 %% of the pages (`boilerplate`); they are in `text`.\n", c.framed)
	fmt.Fprintf(b, "- Licenses that pages state: %s.\n\n", tally(c.licenses))
	b.WriteString("| use | y | n | not said |\n|---|--:|--:|--:|\n")
	for _, name := range usage.Categories {
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", name, c.uses[string(name)+" y"], c.uses[string(name)+" n"],
			c.uses[string(name)+" -"])
	}
}

// tally names what there is most of first.
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
