package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"curtsy/internal/weburl"
)

// Bounds on Clean-param lines: the characters of one, their number, and the names in all of them. They
// bound the work of Fold for one URL: each line is compared at most once, and each name is looked up once.
const (
	maxCleanParam  = 500
	maxCleanParams = 1000
	maxCleanNames  = 10_000
	maxAskedFold   = 16 // patterns checked with temoto per URL
)

// CleanParam is a Clean-param line: parameters that do not change the content of a page. URLs that differ
// only in them are one page.
type CleanParam struct {
	Names []string // complete names, case-sensitive
	Path  string   // path prefix as written; '*' is any octets; "" is every path
	Line  int
	Text  string // the line without comment

	pattern pattern
}

// cleanParams are the Clean-param lines of a file, indexed by parameter name.
type cleanParams struct {
	lines []CleanParam
	by    map[string][]uint16 // indices of lines by normalized name
	names int                 // number of names in all lines
}

// CleanParams returns the Clean-param lines; they belong to no group.
func (r *Robots) CleanParams() []CleanParam { return r.params.lines }

func (r *Robots) addCleanParam(e entry) {
	words := strings.Fields(e.value)
	switch {
	case len(words) == 0 || len(words) > 2:
		r.warn(e.line, "Clean-param needs parameters and optionally a path: ignored")
		return
	case utf8.RuneCountInString(e.value) > maxCleanParam:
		r.warn(e.line, "Clean-param is over %d characters: ignored", maxCleanParam)
		return
	}
	c := CleanParam{Line: e.line, Text: e.text}
	c.Names = slices.DeleteFunc(strings.Split(words[0], "&"), func(n string) bool { return n == "" })
	if len(words) == 2 {
		c.Path = words[1]
	}
	if !validParamPath(c.Path) || len(c.Names) == 0 {
		r.warn(e.line, "Clean-param allows only A-Z a-z 0-9 . - / * _ in its path: ignored")
		return
	}
	if strings.Count(c.Path, "*") > maxStars {
		r.warn(e.line, "Clean-param has more than %d stars in its path: ignored", maxStars)
		return
	}
	if !r.params.add(c) {
		r.warn(e.line, "more than %d Clean-param lines, or %d names in them: ignored", maxCleanParams, maxCleanNames)
	}
}

// add adds a line unless a bound is reached.
func (ps *cleanParams) add(c CleanParam) bool {
	if len(ps.lines) == maxCleanParams || ps.names+len(c.Names) > maxCleanNames {
		return false
	}
	if c.Path != "" {
		c.pattern = newPattern(c.Path, RFC9309)
	}
	for _, n := range c.Names {
		n = normal(n, RFC9309)
		ps.by[n] = append(ps.by[n], uint16(len(ps.lines)))
	}
	ps.names += len(c.Names)
	ps.lines = append(ps.lines, c)
	return true
}

func validParamPath(s string) bool {
	for i := 0; i < len(s); i++ {
		if classes[s[i]] != classSame && s[i] != '/' && s[i] != '*' || strings.IndexByte("~!'():@=+,;", s[i]) >= 0 {
			return false
		}
	}
	return s == "" || s[0] == '/' || s[0] == '*'
}

// Fold removes the parameters from u that Clean-param lines declare irrelevant for its path. It returns the
// first line that removed one; nil if u is unchanged.
func (r *Robots) Fold(u weburl.URL) (weburl.URL, *CleanParam) {
	if len(r.params.lines) == 0 || u.Query() == "" {
		return u, nil
	}
	f := folding{r: r, path: normal(u.Path(), RFC9309)}
	query := f.fold(u.Query())
	if f.by == nil {
		return u, nil
	}
	href := u.Origin() + u.Path()
	if query != "" {
		href += "?" + query
	}
	return weburl.FromCanonical(href), f.by
}

// folding is the state of Fold for one URL.
type folding struct {
	r      *Robots
	path   string
	covers []int8         // by line: 1 applies to the path, -1 does not, 0 is unknown
	void   map[string]int // by name: the first line that removes it, or none
	by     *CleanParam    // the first line that removed a parameter
	asked  int            // calls of temoto
	steps  int            // names and lines examined, for a test
}

// none is the result of droppedBy for a parameter that no line removes.
const none = -1

// fold removes parameters from a query.
func (f *folding) fold(query string) string {
	kept := make([]string, 0, 8)
	first := none
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		line := f.droppedBy(normal(name, RFC9309))
		if line == none {
			kept = append(kept, part)
		} else if first == none || line < first {
			first = line
		}
	}
	if first != none {
		f.by = &f.r.params.lines[first]
	}
	return strings.Join(kept, "&")
}

// droppedBy returns the first line that removes a parameter. The lines of a name are searched once, however
// often the URL contains the name.
func (f *folding) droppedBy(name string) int {
	f.steps++
	lines := f.r.params.by[name]
	if len(lines) == 0 {
		return none
	}
	if line, known := f.void[name]; known {
		return line
	}
	line := none
	for _, i := range lines {
		f.steps++
		if f.isCovered(int(i)) {
			line = int(i)
			break
		}
	}
	if f.void == nil {
		f.void = make(map[string]int)
	}
	f.void[name] = line
	return line
}

// isCovered reports whether a line applies to the path: its path is a prefix with wildcards, matched like
// a rule.
func (f *folding) isCovered(line int) bool {
	c := &f.r.params.lines[line]
	if c.Path == "" {
		return true
	}
	if f.covers == nil {
		f.covers = make([]int8, len(f.r.params.lines))
	}
	if f.covers[line] == 0 {
		f.steps++
		f.covers[line] = -1
		if c.pattern.matches(f.path) && f.confirms(&c.pattern) {
			f.covers[line] = 1
		}
	}
	return f.covers[line] == 1
}

// confirms checks the first matching patterns with temoto too, which is slow for a new pattern; beyond
// maxAskedFold pattern.matches decides alone.
func (f *folding) confirms(p *pattern) bool {
	if p.literal() || f.asked == maxAskedFold {
		return true
	}
	f.asked++
	return !p.wantsSecond(f.path) || f.r.second.matches(p, f.path)
}
