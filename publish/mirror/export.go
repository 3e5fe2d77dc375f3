package mirror

import (
	"cmp"
	"context"

	"curtsy/storage"
)

// Result is the summary of an export.
type Result struct {
	Files     int       `json:"files"`            // bodies written
	Pages     int       `json:"pages"`            // pages of the site among them
	Redirects int       `json:"redirects"`        // stub pages for redirects
	Withheld  int       `json:"withheld"`         // URLs left out by noarchive
	Expired   int       `json:"expired"`          // URLs left out because of unavailable_after
	NeedHTTP  int       `json:"need_http"`        // pages that may need a web server
	External  int       `json:"external"`         // linked URLs of other sites
	Broken    int       `json:"broken"`           // broken URLs of the site
	Live      int       `json:"live"`             // links to the live site although the page is in the mirror
	Still     int       `json:"still,omitempty"`  // pages stored in a form from Options.Still
	Moving    int       `json:"moving,omitempty"` // repaired pages that changed since and run their scripts again
	Complete  bool      `json:"complete"`
	Why       string    `json:"why,omitempty"` // why the crawl is not complete
	Problems  []Problem `json:"problems"`      // of file names; Check finds those of references
}

// maxGrowth limits the size of a mirror to this multiple of its archive, plus 1 GiB. Text
// compresses about 10 times, a decompression bomb 1000 times.
const maxGrowth = 50

// Export makes a mirror of an archive in out. On an error, an old mirror stays as it was.
func Export(ctx context.Context, a *storage.Archive, out string, o Options) (*Result, error) {
	return exportTree(ctx, a, out, o, func(*writer, context.Context) error { return nil })
}

// exportTree is Export with a further step after the site's files are written.
func exportTree(ctx context.Context, a *storage.Archive, out string, o Options,
	after func(*writer, context.Context) error) (*Result, error) {
	o.defaults()
	t, err := newTree(out)
	if err != nil {
		return nil, err
	}
	defer t.discard()
	var kept *stills
	if o.Still == nil {
		if kept, err = stillsOf(t.old); err != nil {
			return nil, &DiskError{err}
		}
	}
	broken, err := o.Broken(ctx) // before gather, since both need memory per URL
	if err != nil {
		return nil, err
	}
	s, err := gather(a, &o)
	if err != nil {
		return nil, err
	}
	t.most, t.minFree = cmp.Or(o.MaxBytes, maxGrowth*s.stored+1<<30), o.MinFree
	s.nameAll()
	o.Watch(Progress{Step: "begin", Total: len(s.list), Bytes: s.sent})
	w := newWriter(a, s, t)
	w.kept = kept
	if err := w.writeAll(ctx); err != nil {
		return nil, err
	}
	if err := after(w, ctx); err != nil {
		return nil, err
	}
	if err := w.noteAbsent(broken.List()); err != nil {
		return nil, err
	}
	r := w.result()
	if kept != nil {
		r.Moving = int(kept.again.Load())
	}
	extra, err := w.writeOwn(r)
	if err != nil {
		return nil, err
	}
	if err := w.writeMap(r, extra); err != nil {
		return nil, err
	}
	// References need no check here: all lead to files that were written, or are in the report.
	// Only names can be bad.
	r.Problems = append([]Problem{}, s.badNames[:min(len(s.badNames), maxProblems)]...)
	return r, t.swap()
}

func (w *writer) result() *Result {
	r := &Result{Complete: w.s.o.Complete, Why: w.s.o.Why}
	for i := range w.s.list {
		switch e := &w.s.list[i]; {
		case e.state == kept && e.file != "":
			r.Files++
			if e.own {
				r.Pages++
			}
		case e.state == moved && e.file != "":
			r.Redirects++
		case e.state == withheld:
			if e.taken {
				r.Withheld++
			} else {
				r.Expired++
			}
		}
	}
	r.Still = int(w.still.Load())
	r.Live = int(w.notes.live.Load())
	r.Broken, r.External, r.NeedHTTP = len(w.notes.rows[broken]), len(w.notes.rows[external]),
		len(w.notes.rows[needsHTTP])
	return r
}

// writeOwn writes the mirror's own files: the report, scripts, and a start page if the site has
// none.
func (w *writer) writeOwn(r *Result) ([]mapped, error) {
	extra := []mapped{{File: ReportFile, Type: typeHTML}}
	if err := w.writeReport(r); err != nil {
		return nil, err
	}
	if has, err := w.writeStills(); err != nil {
		return nil, err
	} else if has {
		extra = append(extra, mapped{File: stillsFile, Type: typeJSON})
	}
	if w.runs.Load() {
		extra = append(extra, mapped{File: linksFile, Type: typeJS}, mapped{File: pathsFile, Type: typeJS})
		if err := w.writePaths(); err != nil {
			return nil, err
		}
		has, err := w.writeData()
		if err != nil {
			return nil, err
		}
		if has {
			extra = append(extra, mapped{File: dataFile, Type: typeJS})
		}
	}
	if w.s.start {
		return extra, nil
	}
	to, href := ReportFile, w.s.o.Seed.String()
	if e, part := w.s.target(w.s.find(w.s.o.Seed), ""); e != nil {
		to, href = encodePath(e.file)+encodeFragment(part), e.url.String()
	}
	extra = append(extra, mapped{File: "index.html", Type: typeHTML})
	return extra, w.tree.put("index.html", w.s.last, stub(to, w.s.o.Seed.String(), href))
}
