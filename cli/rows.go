package cli

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"curtsy/frontier/judge"
	"curtsy/publish/inventory"
)

// column is a column of a table. width is as in fmt, negative for left alignment; columns of
// width 0 are omitted in tables for people.
type column struct {
	name  string
	width int
}

// rowWriter writes rows as they come, without holding the table in memory.
type rowWriter interface {
	write(v any, cells []string) error
	close() error
}

// newRows returns the writer for a format: table, csv or json.
func newRows(u *ui, format string, columns []column) (rowWriter, error) {
	switch format {
	case "table":
		return &tableRows{u: u, columns: columns}, nil
	case "csv":
		w := &csvRows{csv.NewWriter(u.out)}
		return w, w.w.Write(columnNames(columns))
	case "json":
		return jsonRows{u.out}, nil
	}
	return nil, usagef("--format csv", "no format %q: want table, csv or json", format)
}

func columnNames(columns []column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

type jsonRows struct{ out *dataWriter }

// write returns no error: the writer remembers that of the output, which is no error of the archive.
func (w jsonRows) write(v any, _ []string) error {
	_ = w.out.json(v)
	return nil
}

func (w jsonRows) close() error { return nil }

type csvRows struct{ w *csv.Writer }

func (w *csvRows) write(_ any, cells []string) error {
	for i, cell := range cells {
		cells[i] = harmless(clean(cell))
	}
	return w.w.Write(cells)
}

func (w *csvRows) close() error {
	w.w.Flush()
	return w.w.Error()
}

// harmless keeps spreadsheets from evaluating a cell from the network as a formula.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// tableRows writes for people: narrow columns, then the URL, then the reason.
type tableRows struct {
	u       *ui
	columns []column
	begun   bool
}

func (w *tableRows) write(row any, cells []string) error {
	if !w.begun {
		w.begun = true
		names := make([]string, len(w.columns))
		for i, c := range w.columns {
			names[i] = strings.ToUpper(c.name)
		}
		w.line(names)
	}
	if r, ok := row.(*inventory.Row); ok && !judge.Belongs(r.Rule.Rule) {
		cells[slices.IndexFunc(w.columns, func(c column) bool { return c.name == "state" })] = "-" // not in any count
	}
	w.line(cells)
	return nil
}

func (w *tableRows) line(cells []string) {
	var b strings.Builder
	tail := ""
	for i, c := range w.columns {
		switch {
		case c.width != 0:
			text := cells[i]
			if c.name == "state" {
				text = stateWord(text)
			}
			fmt.Fprintf(&b, "%*s  ", c.width, firstLine(text, max(c.width, -c.width)))
		case c.name == "url":
			tail = cells[i] + tail
		case (c.name == "reason" || c.name == "note" || c.name == "usage") && cells[i] != "":
			tail += "  " + cells[i]
		}
	}
	w.u.print("%s", strings.TrimRight(b.String()+tail, " "))
}

func (w *tableRows) close() error { return nil }
