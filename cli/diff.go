package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/changes"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

func diffCmd(u *ui) *cobra.Command {
	asJSON := false
	return newCommand("diff DIR URL [T1 [T2]]", vars{"json": &asJSON},
		u.runs(func(ctx context.Context, a []string) error { return diff(ctx, u, a, asJSON) }))
}

// diffJSON is the output of --json.
type diffJSON struct {
	URL      string            `json:"url"`
	Was      string            `json:"was"` // times of capture, RFC 3339
	Now      string            `json:"now"`
	Type     string            `json:"type"`   // of the later copy
	Text     bool              `json:"text"`   // both are text and were compared
	Differ   bool              `json:"differ"` // the payloads differ
	Passages []changes.Passage `json:"passages"`
}

// diff prints the differences between two copies of a URL.
func diff(ctx context.Context, u *ui, args []string, asJSON bool) (err error) {
	dir, text, times := args[0], args[1], args[2:]
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	url, err := urlAt(a.seed, text)
	if err != nil {
		return err
	}
	visits, err := visitsOf(a, url)
	if err != nil {
		return archiveError(err, dir)
	}
	if err := mayQuote(a.Archive, visits, crawllog.Current(visits, a.VisitsAt)); err != nil {
		return err
	}
	was, now, err := pairOf(a.Archive, visits, url, dir, times)
	if err != nil {
		return err
	}
	if err := mayQuote(a.Archive, visits, was, now); err != nil {
		return err
	}
	passages, err := changes.Compare(ctx, changes.Copy{Archive: a.Archive, Visit: was},
		changes.Copy{Archive: a.Archive, Visit: now})
	noText := errors.Is(err, changes.ErrNoText)
	if err != nil && !noText {
		return stoppedError(err, dir, "stopped", "curtsy diff "+quoted(dir)+" "+quoted(text))
	}
	j := diffJSON{url.String(), instant(&was.At), instant(&now.At), now.ContentType, !noText, now.Differs(was),
		orEmpty(passages)}
	if asJSON {
		u.json(j)
		return nil
	}
	u.print("%s", j.URL)
	u.print("%s → %s", j.Was, j.Now)
	u.printDiff(&j, was, now)
	return nil
}

// visitsOf returns all visits of a URL, oldest first.
func visitsOf(a *opened, url weburl.URL) ([]*crawllog.Visit, error) {
	found, err := a.f.Find(url)
	if err != nil || len(found) == 0 {
		return nil, corrupt(err)
	}
	return a.VisitsOf(found[len(found)-1].ID)
}

// pairOf chooses the copies to compare.
func pairOf(a *storage.Archive, visits []*crawllog.Visit, url weburl.URL, dir string, times []string) (was,
	now *crawllog.Visit, err error) {
	copies := changes.Copies(visits)
	if len(copies) == 0 {
		return nil, nil, usagef("curtsy explain "+quoted(dir)+" "+quoted(url.String()), "no copy of %s is kept", url)
	}
	if len(times) == 0 {
		was, now = changes.LastPair(visits)
		if was == nil {
			return nil, nil, usagef("curtsy update "+quoted(dir),
				"%s: no two copies differ: there is nothing to compare", url)
		}
		return was, now, nil
	}
	now = crawllog.Current(copies, a.VisitsAt)
	for i, chosen := range []**crawllog.Visit{&was, &now}[:len(times)] {
		at, err := atFlag(fmt.Sprintf("T%d", i+1), times[i], time.Now())
		if err != nil {
			return nil, nil, err
		}
		if *chosen = publish.CurrentAt(copies, at, a.VisitsAt); *chosen == nil {
			return nil, nil, usagef("a time from "+instant(&copies[0].At)+" on",
				"%s: there is no copy from %s or earlier", url, times[i])
		}
	}
	return was, now, nil
}

// mayQuote returns an error if the page's owner does not permit quoting.
func mayQuote(a *storage.Archive, visits []*crawllog.Visit, chosen ...*crawllog.Visit) error {
	permits := publish.Permits(visits, time.Now(), a.VisitsAt)
	for _, v := range chosen {
		i := slices.Index(visits, v)
		if i < 0 { // nothing is known of the URL
			continue
		}
		if p := permits[i]; !p.Quote() {
			return exitWith(exitFailed, fmt.Errorf("%s may not be shown, at its owner's request: %s", v.URL, p.Why()),
				"")
		}
	}
	return nil
}

// printDiff prints the passages for people.
func (u *ui) printDiff(j *diffJSON, was, now *crawllog.Visit) {
	switch {
	case !j.Differ:
		u.print("the copies are the same")
	case !j.Text:
		u.print("%s: no text to compare; %s → %s, %s → %s", j.Type, legible.Bytes(was.Length),
			legible.Bytes(now.Length), was.Digest, now.Digest)
	case len(j.Passages) == 0:
		u.print("the text is the same, the bytes differ: %s → %s", was.Digest, now.Digest)
	}
	marks := map[string][2]string{"=": {"", ""}, "-": {"[-", "-]"}, "+": {"{+", "+}"}}
	if hasColours(u.out.w) {
		marks["-"], marks["+"] = [2]string{red, plain}, [2]string{green, plain}
	}
	for _, p := range j.Passages {
		var b strings.Builder
		for _, w := range p.Words {
			m := marks[w.Op]
			// Text of a page is cleaned before escape sequences are added.
			b.WriteString(" " + m[0] + oneLine(w.Text) + m[1])
		}
		_, _ = u.out.Write([]byte("\n " + b.String() + "\n"))
	}
}
