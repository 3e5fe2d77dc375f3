package cli

import (
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/tools/txtar"
)

//go:embed demosite.txtar
var demoFiles []byte

// demoPage is one file of the demo site.
type demoPage struct {
	status int
	header http.Header
	body   []byte
}

// demoSite serves the built-in site on loopback. It is a real web server on a
// real port; what is demonstrated is the crawl that anybody would run.
func demoSite() (origin string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	pages, err := demoPages(l.Addr().String())
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: demoHandler(pages), ReadHeaderTimeout: 10 * time.Second}
	go s.Serve(l)
	return "http://" + l.Addr().String(), func() { s.Close() }, nil
}

func demoHandler(pages map[string]demoPage) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := pages[r.URL.Path]
		if month, isMonth := strings.CutPrefix(r.URL.Path, "/calendar/"); isMonth {
			p, ok = demoMonth(month)
		}
		if !ok {
			p = demoPage{status: 404, header: http.Header{"Content-Type": {"text/html"}},
				body: []byte("<title>Not found</title>")}
		}
		for name, lines := range p.header {
			w.Header()[name] = lines
		}
		w.WriteHeader(p.status)
		w.Write(p.body)
	})
}

// demoMonth is a page of the calendar: every month links to the next.
func demoMonth(month string) (demoPage, bool) {
	t, err := time.Parse("2006/01", month)
	if err != nil {
		return demoPage{}, false
	}
	body := fmt.Sprintf("<!DOCTYPE html><title>%s</title><p>Nothing happens. <a href=%q>next month</a>",
		t.Format("January 2006"), t.AddDate(0, 1, 0).Format("/calendar/2006/01"))
	return demoPage{status: 200, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: []byte(body)},
		true
}

func demoPages(host string) (map[string]demoPage, error) {
	pages := map[string]demoPage{}
	for _, f := range txtar.Parse(demoFiles).Files {
		p := demoPage{status: 200, header: http.Header{}}
		head, body, _ := strings.Cut(string(f.Data), "\n\n")
		p.body = []byte(strings.NewReplacer("HOST", host, "THIS-MONTH", time.Now().Format("2006/01")).Replace(body))
		for line := range strings.SplitSeq(head, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "Status":
				p.status, _ = strconv.Atoi(value)
			case "Charset":
				coded, err := charmap.Windows1251.NewEncoder().Bytes(p.body)
				if err != nil {
					return nil, err
				}
				p.body = coded
			default:
				p.header.Add(name, value)
			}
		}
		pages[f.Name] = p
	}
	return pages, nil
}
