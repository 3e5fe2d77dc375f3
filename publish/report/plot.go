package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"curtsy/internal/legible"
)

// Plot is a bar chart, drawn as SVG without scripts. Horizontal bars are positioned in per cent
// of the width, so that text keeps its size on any screen.
type Plot struct {
	Title   string
	Bars    []Bar
	Upright bool // columns; only the first, middle and last have a label
}

// Bar is a value of a plot, with its formatted text.
type Bar struct {
	Label string
	Value float64
	Text  string
}

// Pixels: barHeight is the distance between horizontal bars, columnHeight the height of the
// tallest column.
const (
	barHeight    = 26
	columnHeight = 120
)

// SVG draws the plot. All text is escaped.
func (p Plot) SVG() template.HTML {
	if len(p.Bars) == 0 {
		return ""
	}
	if p.Upright {
		return p.columns()
	}
	var b strings.Builder
	p.open(&b, len(p.Bars)*barHeight)
	most := p.tallest().Value
	for i, bar := range p.Bars {
		y, width := i*barHeight, 0.0
		if bar.Value > 0 {
			width = max(42*bar.Value/most, 0.3)
		}
		fmt.Fprintf(&b, `<text x="0" y="%d">%s</text>`, y+17, escape(legible.Cut(bar.Label, 22)))
		fmt.Fprintf(&b, `<rect class="bar" x="38%%" y="%d" width="%.2f%%" height="16"/>`, y+4, width)
		fmt.Fprintf(&b, `<text x="%.2f%%" dx="6" y="%d">%s</text>`, 38+width, y+17, escape(bar.Text))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func (p Plot) columns() template.HTML {
	var b strings.Builder
	p.open(&b, columnHeight+40)
	most, step := p.tallest().Value, 100/float64(len(p.Bars))
	fmt.Fprintf(&b, `<line class="axis" x1="0" x2="100%%" y1="%d" y2="%d"/>`, columnHeight+18, columnHeight+18)
	for i, bar := range p.Bars {
		height := 0.0
		if most > 0 {
			height = columnHeight * bar.Value / most
		}
		if bar.Value > 0 {
			height = max(height, 1)
		}
		fmt.Fprintf(&b, `<rect class="bar" x="%.3f%%" y="%.1f" width="%.3f%%" height="%.1f">`+
			`<title>%s: %s</title></rect>`,
			float64(i)*step+step/10, columnHeight+18-height, step*0.8, height, escape(bar.Label), escape(bar.Text))
	}
	fmt.Fprintf(&b, `<text x="0" y="12">up to %s</text>`, escape(p.tallest().Text))
	fmt.Fprintf(&b, `<text x="0" y="%d">%s</text>`, columnHeight+35, escape(p.Bars[0].Label))
	if last := p.Bars[len(p.Bars)-1]; len(p.Bars) > 1 {
		fmt.Fprintf(&b, `<text x="100%%" y="%d" text-anchor="end">%s</text>`, columnHeight+35, escape(last.Label))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// open writes the start of the drawing, with a description for screen readers.
func (p Plot) open(b *strings.Builder, height int) {
	said := make([]string, 0, len(p.Bars))
	for _, bar := range p.Bars {
		if len(said) < 12 {
			said = append(said, bar.Label+" "+bar.Text)
		}
	}
	fmt.Fprintf(b, `<svg role="img" width="100%%" height="%d" aria-label="%s">`, height,
		escape(p.Title+": "+strings.Join(said, ", ")))
}

// tallest returns the bar with the largest value, the first among equals.
func (p Plot) tallest() Bar {
	return slices.MaxFunc(p.Bars, func(a, b Bar) int { return cmp.Compare(a.Value, b.Value) })
}

func escape(s string) string { return template.HTMLEscapeString(s) }

// funcs are the template functions.
var funcs = template.FuncMap{
	"bytes": legible.Bytes,
	"pause": pauseText,
	"time":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
	"count": countText[int],
	"many":  many,
}

// many formats a count: "1 page", "2 pages".
func many(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return countText(n) + " " + thing + "s"
}

// countText formats a number with narrow spaces between thousands.
func countText[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func pauseText(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
