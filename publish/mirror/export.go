package mirror

import (
	"cmp"
	"context"

	"curtsy/storage"
)

// Result is what an export did.
type Result struct {
	Files     int       `json:"files"`            // bodies written
	Pages     int       `json:"pages"`            // of them, pages of the site
	Redirects int       `json:"redirects"`        // stub pages
	Withheld  int       `json:"withheld"`         // URLs left out by noarchive
	Expired   int       `json:"expired"`          // URLs left out since their unavailable_after has passed
	NeedHTTP  int       `json:"need_http"`        // pages that want a web server
	External  int       `json:"external"`         // URLs of other sites that are linked to
	Broken    int       `json:"broken"`           // URLs of the site that links lead to in vain
	Live      int       `json:"live"`             // links to the live site whose page is here
	Still     int       `json:"still,omitempty"`  // pages in the form that Options.Still gave
	Moving    int       `json:"moving,omitempty"` // pages that run their scripts again, after a repair
	Complete  bool      `json:"complete"`
	Why       string    `json:"why,omitempty"` // it is not complete
	Problems  []Problem `json:"problems"`      // with the names of files; see Check for the references in them
}

// maxGrowth is how many times as large as its archive a mirror may become,
// beside 1 GiB: text is a tenth when it is packed, and a bomb a thousandth.
const maxGrowth = 50

// Export makes the mirror of an archive in out. An error leaves what was there.
func Export(ctx context.Context, a *storage.Archive, out string, o Options) (*Result, error) {
	return exportTree(ctx, a, out, o, func(*writer, context.Context) error { return nil })
}

// exportTree is Export with a step behind the writing of the site's files.
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
	broken, err := o.Broken(ctx) // before the entries are there: both take memory for each URL
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
	// Each reference that was written is to a name that was given and written, or the
	// report says where it leads: what is left to be said is of the names themselves.
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

// writeOwn writes the files of our own: the report, and a start page where
// the site has none.
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
	l := &linker{s: w.s}
	if e, part := l.target(w.s.find(w.s.o.Seed), ""); e != nil {
		to, href = encodePath(e.file)+encodeFragment(part), e.url.String()
	}
	extra = append(extra, mapped{File: "index.html", Type: typeHTML})
	return extra, w.tree.put("index.html", w.s.last, stub(to, w.s.o.Seed.String(), href))
}
