package app

import (
	"encoding/json"
	"net/http"
	"strings"
)

// tableView is a table of a command's output.
type tableView struct {
	Archive, Title, Note string
	Rows                 []tableRow
	Lines                []string
	Command              string
	More                 bool
}

type tableRow struct {
	What, URL, Why string
	Lines          []string
	Explain        bool
}

// maxRows is the most rows shown.
const maxRows = 300

// table shows the output of a command, one row per line of JSON.
func (s *Server) table(title string, row func(l *language, line []byte) tableRow, command ...string) http.HandlerFunc {
	return s.of(func(w http.ResponseWriter, r *http.Request, a *archive) {
		l := s.language(r)
		v := &tableView{Archive: a.name, Title: l.say(title)}
		args := append([]string{command[0], s.dir(a.name)}, command[1:]...)
		if rule := r.URL.Query().Get("rule"); rule != "" && !strings.HasPrefix(rule, "-") {
			args = append(args, "--reason="+rule)
		}
		v.Command = s.commandLine(args)
		lines, o := s.read(r, append(args, "--json"), maxRows+1)
		v.More = len(lines) > maxRows
		for _, line := range lines[:min(len(lines), maxRows)] {
			v.Rows = append(v.Rows, row(l, line))
		}
		if len(lines) == 0 {
			v.Note = o.Err
			if o.Try != "" {
				v.Note += " (" + o.Try + ")"
			}
		}
		s.show(w, r, http.StatusOK, "table", v.Title, v)
	})
}

func skipped(_ *language, line []byte) tableRow {
	var j struct{ URL, Reason string }
	_ = json.Unmarshal(line, &j)
	return tableRow{URL: j.URL, Why: j.Reason, Explain: true}
}

func changed(_ *language, line []byte) tableRow {
	var j struct {
		URL, Change, Title string
		Passages           []struct{ Was, Now string }
	}
	_ = json.Unmarshal(line, &j)
	row := tableRow{What: j.Change, URL: j.URL, Why: j.Title}
	for _, p := range j.Passages {
		row.Lines = append(row.Lines, "− "+p.Was, "+ "+p.Now)
	}
	return row
}

func broken(l *language, line []byte) tableRow {
	var j struct{ From, To, Reason string }
	_ = json.Unmarshal(line, &j)
	return tableRow{What: j.Reason, URL: j.To, Why: l.say("on %s", j.From)}
}

func audited(_ *language, line []byte) tableRow {
	var j struct{ Finding, Level, URL, Detail, Says string }
	_ = json.Unmarshal(line, &j)
	return tableRow{What: j.Level, URL: j.URL, Why: strings.TrimSpace(j.Finding + ": " + j.Says + " " + j.Detail)}
}

// explain shows the output of the explain command for a URL.
func (s *Server) explain(w http.ResponseWriter, r *http.Request, a *archive) {
	url := r.URL.Query().Get("url")
	if strings.HasPrefix(url, "-") {
		s.lost(w, r)
		return
	}
	args := []string{"explain", s.dir(a.name), url}
	v := &tableView{Archive: a.name, Title: s.language(r).say("Why?"), Command: s.commandLine(args)}
	lines, o := s.read(r, args, maxRows)
	for _, line := range lines {
		v.Lines = append(v.Lines, string(line))
	}
	v.Note = o.Err
	s.show(w, r, http.StatusOK, "table", v.Title, v)
}
