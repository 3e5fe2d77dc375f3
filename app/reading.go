package app

import (
	"encoding/json"
	"net/http"
	"strings"
)

// tableView is a list that a command gives.
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

// maxRows is how many rows a page shows.
const maxRows = 300

// table shows what a command prints, a row for each line of JSON.
func (s *Server) table(w http.ResponseWriter, r *http.Request, title string, args []string,
	row func(line []byte) tableRow) {
	a := s.find(r.PathValue("name"))
	if a == nil {
		s.lost(w, r)
		return
	}
	v := &tableView{Archive: a.name, Title: s.language(r).say(title)}
	args = append([]string{args[0], s.dir(a.name)}, args[1:]...)
	v.Command = s.commandLine(args)
	lines, o := s.read(r, append(args, "--json"), maxRows+1)
	if v.More = len(lines) > maxRows; v.More {
		lines = lines[:maxRows]
	}
	for _, line := range lines {
		v.Rows = append(v.Rows, row(line))
	}
	if len(lines) == 0 {
		v.Note = o.Err
		if o.Try != "" {
			v.Note += " (" + o.Try + ")"
		}
	}
	s.show(w, r, http.StatusOK, "table", v.Title, v)
}

func (s *Server) skipped(w http.ResponseWriter, r *http.Request) {
	rule := r.URL.Query().Get("rule")
	if strings.HasPrefix(rule, "-") {
		rule = ""
	}
	s.table(w, r, "Left out by a rule", []string{"list", "--reason=" + rule}, func(line []byte) tableRow {
		var j struct{ URL, Reason string }
		_ = json.Unmarshal(line, &j)
		return tableRow{URL: j.URL, Why: j.Reason, Explain: true}
	})
}

func (s *Server) changed(w http.ResponseWriter, r *http.Request) {
	s.table(w, r, "What changed", []string{"changes"}, func(line []byte) tableRow {
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
	})
}

func (s *Server) broken(w http.ResponseWriter, r *http.Request) {
	s.table(w, r, "Broken links", []string{"links", "--broken"}, func(line []byte) tableRow {
		var j struct{ From, To, Reason string }
		_ = json.Unmarshal(line, &j)
		return tableRow{What: j.Reason, URL: j.To, Why: s.language(r).say("on %s", j.From)}
	})
}

func (s *Server) audit(w http.ResponseWriter, r *http.Request) {
	s.table(w, r, "Audit", []string{"audit"}, func(line []byte) tableRow {
		var j struct{ Finding, Level, URL, Detail, Says string }
		_ = json.Unmarshal(line, &j)
		return tableRow{What: j.Level, URL: j.URL, Why: strings.TrimSpace(j.Finding + ": " + j.Says + " " + j.Detail)}
	})
}

// explain shows what the command of that name says of a URL.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	a, url := s.find(r.PathValue("name")), r.URL.Query().Get("url")
	if a == nil || strings.HasPrefix(url, "-") {
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
