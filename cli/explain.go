package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler/explain"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

func explainCmd(u *ui) *cobra.Command {
	var asJSON bool
	return newCommand("explain DIR URL", vars{"json": &asJSON}, func(_ *cobra.Command, a []string) error {
		seed, c, err := remembered(a[0])
		if err != nil {
			return err
		}
		url, err := urlAt(seed, a[1])
		if err != nil {
			return err
		}
		o, err := offlineOptions(&c, seed, u.logger(false))
		if err != nil {
			return err
		}
		x, err := explain.URL(a[0], url, o)
		if err != nil {
			return archiveError(err, a[0])
		}
		p := permitOf(x, time.Now())
		if asJSON {
			u.json(struct {
				*explain.Explanation
				Permit *permitJSON `json:"permit,omitempty"`
			}{x, p})
			return nil
		}
		printExplanation(u, x)
		if p != nil {
			u.print("published")
			u.print("  %s", p)
			u.print("  searched    %s", searchedText(x.Visits, time.Now(), x.Lookup))
		}
		if x.Due != nil {
			u.print("due")
			u.print("  %s", dueText(u, x.Due, time.Now()))
		}
		return nil
	})
}

// urlAt parses a URL of an archive as typed: complete, without scheme, or relative to the seed.
func urlAt(seed weburl.URL, s string) (weburl.URL, error) {
	if u, err := weburl.ParsePage(s); err == nil && u.Route() != "" {
		return u, nil
	}
	if _, err := weburl.Parse(s); err == nil || strings.Contains(s, "://") {
		return seedURL(s)
	}
	if rest, ok := strings.CutPrefix(s, seed.Host()); ok && (rest == "" || strings.ContainsAny(rest[:1], "/?#")) {
		s = seed.Origin() + rest
	}
	u, err := seed.Resolve(s)
	if err != nil {
		return u, usagef(quoted(seed.String())+", or a path on that site", "%q: %v", s, err)
	}
	return u, nil
}

// dueText says when update --auto visits a URL again.
func dueText(u *ui, d *explain.Due, now time.Time) string {
	when := "in the next round of update --auto"
	if d.At.After(now) {
		when = "from " + u.time(d.At) + " on, with update --auto"
	}
	return when + ": " + d.Why
}

// permitJSON says what may be shown of a URL.
type permitJSON struct {
	Show bool   `json:"show"` // the copy itself
	List bool   `json:"list"` // the URL, in results and lists
	Why  string `json:"why,omitempty"`
	// Usage holds the owner's usage preferences.
	Usage usage.Preferences `json:"usage"`
}

func (p *permitJSON) String() string {
	text := "the copy may be shown"
	if !p.Show {
		text = "the copy may not be shown"
	}
	if p.List {
		text += ", the URL listed"
	} else {
		text += ", the URL not listed"
	}
	if p.Why != "" {
		text += ": " + p.Why
	}
	return text
}

// permitOf returns the permit of the current visit of the URL.
func permitOf(x *explain.Explanation, now time.Time) *permitJSON {
	v := crawllog.Current(x.Visits, x.Lookup)
	if v == nil || v.Kept == "" {
		return nil
	}
	d := publish.Permits(x.Visits, now, x.Lookup)[slices.Index(x.Visits, v)]
	return &permitJSON{Show: d.Show, List: d.List, Why: d.Why(), Usage: d.Usage}
}

func printExplanation(u *ui, x *explain.Explanation) {
	u.print("%s", x.URL)
	state := stateWord(x.State)
	if !x.Reason.IsZero() {
		state += ": " + x.Reason.String()
	}
	if !x.Known {
		state = "not known to this crawl; the current rules would decide"
	}
	u.print("  %s", state)
	if len(x.Path) > 0 {
		u.print("found")
	}
	for i, s := range x.Path {
		u.print("  %s%s  (%s)", strings.Repeat(" ", min(i, 20)), s.URL, s.How)
	}
	if x.Orphan {
		u.print("  orphan: only a sitemap names it, no link leads to it")
	}
	for _, f := range x.Finds[:max(len(x.Finds)-1, 0)] {
		u.print("  earlier: on %s (%s): %s %s", f.Via, f.How, stateWord(f.State), f.Reason)
	}
	u.print("decided")
	for _, d := range x.Decisions {
		mark, verdict := " ", "yes"
		if !d.Allow {
			mark, verdict = ">", "no"
		}
		if !d.Fetched.IsZero() {
			d.Text += ", fetched " + u.time(d.Fetched)
		}
		u.print("%s", strings.TrimRight(fmt.Sprintf("%s %-17s %-3s  %s", mark, d.Rule, verdict, d.Text), " "))
	}
	if x.StandsFor != "" {
		u.print("  stands for %s", x.StandsFor)
	}
	for _, v := range x.Visits {
		printVisit(u, v)
	}
	if x.Session != nil {
		u.print("cookies   %s", x.Session)
	}
}

func printVisit(u *ui, v *crawllog.Visit) {
	u.print("visit %d  %s", v.N, u.time(v.At))
	if v.Error != "" {
		u.print("  error      %s", v.Error)
	} else {
		status := strings.TrimSpace(fmt.Sprintf("%d %s", v.Status, v.ContentType))
		u.print("  status     %s, %s in %s", status, legible.Bytes(v.Length), v.Took.Round(10*time.Microsecond))
	}
	if v.Waited > 0 || v.Delay != "" {
		u.print("  waited     %s after the last download (%s)", v.Waited.Round(10*time.Microsecond), v.Delay)
	}
	if v.Location != "" {
		u.print("  redirects  to %s", v.Location)
	}
	if v.Blocked != "" {
		u.print("  blocked    %s: kept as received, not treated as a page", v.Blocked)
	}
	if v.Truncated != "" {
		u.print("  truncated  %s", v.Truncated)
	}
	if r := v.Rendered; r != nil {
		u.print("  rendered   %s, %s requested%s", legible.Bytes(r.Length), legible.Count(r.Asked, "URL"),
			unless(r.Cut == "", "; "+r.Cut))
		for _, m := range r.Missing {
			u.print("  missing    %s: %s", m.URL, m.Why)
		}
	} else if v.Bare {
		u.print("  shows      nearly nothing without its scripts: --render auto runs them")
	}
	if v.Directives != nil {
		for _, s := range v.Directives.Sources {
			u.print("  asks       %s (%s: %s)", s.Directive, s.From, s.Text)
		}
	}
	for i := range v.Usage {
		u.print("  use        %s", publish.StatementText(v, i))
	}
	u.print("  kept       %s", keptText(v))
}

// keptText says what is archived of a visit, and where.
func keptText(v *crawllog.Visit) string {
	where := ""
	if v.Record != nil {
		where = fmt.Sprintf(": %s at %d, %s", v.Record.Segment, v.Record.Offset, legible.Count(v.Record.Length, "byte"))
	}
	if e := v.Elsewhere(); e != nil {
		return "the head; " + e.String() + where
	}
	switch v.Kept {
	case crawllog.KeptResponse:
		return "in full" + where
	case crawllog.KeptRevisit:
		return "the head; the body is the same as that of an earlier response" + where
	case crawllog.KeptWithheld:
		return "nothing of the body, as the site asks" + where
	}
	return "nothing"
}
