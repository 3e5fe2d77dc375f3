package rules

import (
	"strings"
	"unicode/utf8"

	"curtsy/internal/weburl"
)

// maxCleanParam is the longest Clean-param, in characters, that counts.
const maxCleanParam = 500

// CleanParam is a Clean-param line: parameters that do not change what a page
// shows. URLs that differ in them only are one page.
type CleanParam struct {
	Names []string // whole names, case counts
	Path  string   // prefix of the path as written, '*' in it is any octets; "" is every path
	Line  int
	Text  string // the line without comment

	pattern pattern
}

// CleanParams are the Clean-param lines; they belong to no group.
func (r *Robots) CleanParams() []CleanParam { return r.params }

func (r *Robots) addCleanParam(e entry) {
	words := strings.Fields(e.value)
	switch {
	case len(words) == 0 || len(words) > 2:
		r.warn(e.line, "Clean-param wants parameters and perhaps a path: ignored")
		return
	case utf8.RuneCountInString(e.value) > maxCleanParam:
		r.warn(e.line, "Clean-param is over %d characters: ignored", maxCleanParam)
		return
	}
	c := CleanParam{Line: e.line, Text: e.text}
	for _, n := range strings.Split(words[0], "&") {
		if n != "" {
			c.Names = append(c.Names, n)
		}
	}
	if len(words) == 2 {
		c.Path = words[1]
	}
	if !validParamPath(c.Path) || len(c.Names) == 0 {
		r.warn(e.line, "Clean-param wants a path of A-Z a-z 0-9 . - / * _ only: ignored")
		return
	}
	if c.Path != "" {
		c.pattern = newPattern(c.Path, RFC9309)
	}
	r.params = append(r.params, c)
}

func validParamPath(s string) bool {
	for i := 0; i < len(s); i++ {
		if classes[s[i]] != classSame && s[i] != '/' && s[i] != '*' || strings.IndexByte("~!'():@=+,;", s[i]) >= 0 {
			return false
		}
	}
	return s == "" || s[0] == '/' || s[0] == '*'
}

// Fold drops from u the parameters that Clean-param lines declare void on its
// path. It returns the first line that dropped one, nil if u is unchanged.
func (r *Robots) Fold(u weburl.URL) (weburl.URL, *CleanParam) {
	if len(r.params) == 0 || u.Query() == "" {
		return u, nil
	}
	var by *CleanParam
	path, query := normal(u.Path(), RFC9309), u.Query()
	for i := range r.params {
		c := &r.params[i]
		if !c.covers(r, path) {
			continue
		}
		if rest, changed := c.drop(query); changed {
			query = rest
			if by == nil {
				by = c
			}
		}
	}
	if by == nil {
		return u, nil
	}
	href := u.Origin() + u.Path()
	if query != "" {
		href += "?" + query
	}
	return weburl.Canonical(href), by
}

// covers says whether the line holds for a path: a prefix with stars, matched
// as rules are.
func (c *CleanParam) covers(r *Robots, path string) bool {
	return c.Path == "" || c.pattern.matches(path) &&
		(c.pattern.literal() || r.temoto.confirms(&c.pattern, path))
}

// drop takes the line's parameters out of a query.
func (c *CleanParam) drop(query string) (rest string, changed bool) {
	kept := make([]string, 0, 8)
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if c.has(name) {
			changed = true
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, "&"), changed
}

func (c *CleanParam) has(name string) bool {
	name = normal(name, RFC9309)
	for _, n := range c.Names {
		if normal(n, RFC9309) == name {
			return true
		}
	}
	return false
}
