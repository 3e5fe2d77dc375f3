package rules

import (
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The reference implementation is written from RFC 9309 alone, slow and simple, and shares no code with
// the package: lines by strings.Split, one pass over all groups, and a recursive matcher with a table.

// refSymbols turns text into symbols: "*" (a wildcard, if wild) or one character of an octet's
// normalised form. Forms are compared by character, as Google and temoto do: "3" also matches in "%C3".
func refSymbols(s string, wild bool) (out []string, octets int) {
	const same = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!'():@=+,;"
	for i := 0; i < len(s); i++ {
		c, coded := s[i], false
		if c == '%' && i+2 < len(s) {
			if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				c, coded, i = b[0], true, i+2
			}
		}
		form := fmt.Sprintf("%%%02X", c)
		switch {
		case wild && c == '*' && !coded:
			out, octets = append(out, "*"), octets+1
			continue
		case c == '$' && !coded:
			octets++
		case strings.IndexByte(same, c) >= 0, !coded && strings.IndexByte("/?&", c) >= 0:
			form = string(rune(c))
			octets++
		default:
			octets += 3
		}
		out = append(out, strings.Split(form, "")...)
	}
	return out, octets
}

// refMatch reports whether the pattern matches a prefix of path (all of it, if end).
func refMatch(pattern, path []string, end bool) bool {
	width := len(path) + 1
	seen := make([]bool, (len(pattern)+1)*width)
	var match func(i, j int) bool
	match = func(i, j int) bool {
		if i == len(pattern) {
			return !end || j == len(path)
		}
		if at := i*width + j; seen[at] {
			return false
		} else {
			seen[at] = true
		}
		if pattern[i] == "*" {
			return match(i+1, j) || j < len(path) && match(i, j+1)
		}
		return j < len(path) && pattern[i] == path[j] && match(i+1, j+1)
	}
	return match(0, 0)
}

// refVerdict decides by a file of "field: value" lines ended by LF, for one agent.
func refVerdict(robots, agent, target string) (allow bool, line int) {
	if cut := strings.IndexByte(target, '#'); cut >= 0 {
		target = target[:cut]
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	path, _ := refSymbols(target, false)
	if strings.Join(path, "") == "/robots.txt" {
		return true, 0
	}
	best := map[string][3]int{} // agent → octets, allow, line
	named := map[string]bool{}
	var agents []string
	inList := false
	for n, text := range strings.Split(robots, "\n") {
		text, _, _ = strings.Cut(text, "#")
		name, value, ok := strings.Cut(text, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok {
			continue
		}
		switch name {
		case "user-agent":
			if !inList {
				agents, inList = nil, true
			}
			agents = append(agents, strings.ToLower(value))
			named[strings.ToLower(value)] = true
		case "allow", "disallow":
			if agents == nil {
				continue
			}
			inList = false
			if value == "" || value[0] != '/' && value[0] != '*' {
				continue
			}
			body, end := strings.CutSuffix(value, "$")
			pattern, octets := refSymbols(body, true)
			if end {
				octets++
			}
			if !refMatch(pattern, path, end) {
				continue
			}
			rank := [3]int{octets, 0, n + 1}
			if name == "allow" {
				rank[1] = 1
			}
			for _, a := range agents {
				old, has := best[a]
				if !has || rank[0] > old[0] || rank[0] == old[0] && rank[1] > old[1] {
					best[a] = rank
				}
			}
		}
	}
	who := "*"
	if named[agent] {
		who = agent
	}
	won, has := best[who]
	if !has {
		return true, 0
	}
	return won[1] == 1, won[2]
}

// inputs generates robots.txt files and URLs that are likely to match.
type inputs struct{ *rand.Rand }

func (g inputs) pick(ss ...string) string { return ss[g.IntN(len(ss))] }

func (g inputs) path(wild bool) string {
	var b strings.Builder
	b.WriteString(g.pick("/", "/", "/", "/", "//", "/a", "", "?"))
	if wild && g.IntN(12) == 0 {
		b.Reset()
		b.WriteString(g.pick("*", "*a", "a", "$", "*$", "%2F"))
	}
	for range g.IntN(8) {
		if wild && g.IntN(4) == 0 {
			b.WriteString(g.pick("*", "*", "*", "**", "$", "*$*"))
		}
		b.WriteString(g.pick("a", "b", "ab", "a", "b", "/", ".", "?", "&", "=", ":", "%61", "%2f", "%2F", "%3f", "%26",
			"%2A", "%24", "%25",
			"%3D", "%3a", "%", "%6", "%zz", "*", "$", "é", "%c3%A9", "%C3", "(", "%28", "'", "!", "[", "%5b", "|", " ",
			"\"", "\\", "{", "^", "~", "%7E", "+", "-", "_", "\xff", "ツ", ";", ","))
	}
	if wild && g.IntN(5) == 0 {
		b.WriteByte('$')
	}
	return strings.ReplaceAll(b.String(), "#", "")
}

func (g inputs) robots() string {
	var b strings.Builder
	for range 1 + g.IntN(12) {
		switch g.IntN(7) {
		case 0:
			b.WriteString("User-agent: " + g.pick("*", "bot", "Bot", "other", "b"))
		case 1:
			b.WriteString(g.pick("", "# a comment", "Sitemap: http://h/s", "Crawl-delay: 5", "Foo: bar", "junk"))
		default:
			b.WriteString(g.pick("Allow: ", "Disallow: ", "Disallow:", "disallow : ") + g.path(true) + g.pick("",
				"", " ", " # x"))
		}
		b.WriteByte('\n')
	}
	if g.IntN(3) > 0 {
		return "User-agent: " + g.pick("*", "bot") + "\n" + b.String()
	}
	return b.String()
}

var pairs = flag.Int("pairs", 30000, "robots.txt and URL pairs to compare with the reference (also $CURTSY_TEST_PAIRS)")

// TestNoDifferenceToTheReference: our decision and its line equal the reference's, on the number of
// pairs given by -pairs; 1,000,000 were run.
func TestNoDifferenceToTheReference(t *testing.T) {
	n := *pairs
	if testing.Short() {
		n /= 5
	}
	if env, err := strconv.Atoi(os.Getenv("CURTSY_TEST_PAIRS")); err == nil {
		n = env
	}
	g := inputs{rand.New(rand.NewPCG(9309, 1994))}
	denied, patterns := 0, 0
	for i := 0; i < n; {
		robots := g.robots()
		for i%4000 == 0 && strings.Count(robots, "\n") < 4*manyRules {
			robots += g.robots() // enough rules for the gram index to be used
		}
		r := Parse([]byte(robots), Options{Agents: []string{"bot"}})
		for range 8 {
			i++
			target := g.path(false)
			allow, line := refVerdict(robots, "bot", target)
			v := r.Verdict(target)
			if v.Allow != allow || !sameLine(r, v.Line, line) {
				t.Fatalf("%q on\n%s\nallowed = %v by line %d; the reference says %v by line %d", target, robots,
					v.Allow, v.Line, allow, line)
			}
			if !v.Allow {
				denied++
			}
			if strings.ContainsAny(v.Rule, "*$") {
				patterns++
			}
		}
	}
	t.Logf("%d pairs, %d denied, %d decided by a rule with * or $", n, denied, patterns)
	if denied < n/20 || patterns < n/50 {
		t.Errorf("the pairs hardly ever meet: %d denied, %d by patterns, of %d", denied, patterns, n)
	}
}

// sameLine reports whether two lines are equally good: of rules of equal rank, either may be named.
func sameLine(r *Robots, a, b int) bool {
	if a == b {
		return true
	}
	var x, y *rule
	for i := range r.rules {
		switch r.rules[i].line {
		case a:
			x = &r.rules[i]
		case b:
			y = &r.rules[i]
		}
	}
	return x != nil && y != nil && byPrecedence(*x, *y) == 0
}

// FuzzVerdict compares Parse and Verdict with the reference on arbitrary input, and checks that no
// dialect panics.
func FuzzVerdict(f *testing.F) {
	g := inputs{rand.New(rand.NewPCG(1, 2))}
	for range 50 {
		f.Add(g.robots(), g.path(false))
	}
	f.Add("User-agent: *\r\nDisallow: /a%2", "/a%2f")
	f.Add("\xff\xfeU\x00", "?")
	f.Add("User-agent *\nDisallow /x/*/y$", "/x/1/y")
	f.Fuzz(func(t *testing.T, robots, target string) {
		o := Options{Agents: []string{"bot"}}
		for _, o.Dialect = range []Dialect{Yandex, Classic1994, RFC9309} {
			r := Parse([]byte(robots), o)
			v := r.Verdict(target)
			if again := r.Verdict(target); again != v {
				t.Fatalf("%+v, then %+v", v, again)
			}
		}
		if !plainFile(robots) {
			return
		}
		v := Parse([]byte(robots), o).Verdict(target)
		if allow, line := refVerdict(robots, "bot", target); v.Allow != allow {
			t.Fatalf("%q on %q: allowed = %v by line %d; the reference says %v by %d", target, robots, v.Allow,
				v.Line, allow, line)
		}
	})
}

// plainFile reports whether the reference can read a file: it calls for none of this package's leniency,
// and every line is "field: value" with a field that the reference knows.
func plainFile(s string) bool {
	if len(s) > 10000 || strings.ContainsAny(s, "\r\x00\v\f\x1c\x1d\x1e\x1f") || strings.HasPrefix(s, "\xef") ||
		strings.ContainsAny(s, "\u0085\u00a0") {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(line, ":")
		name = strings.Trim(name, " \t")
		for _, r := range name + value {
			if r > 0x7f {
				if strings.TrimSpace(string(r)) == "" {
					return false // a Unicode space, which this package treats as octets
				}
			}
		}
		switch lower := strings.ToLower(name); {
		case strings.TrimSpace(line) == "", !ok && !strings.ContainsAny(strings.TrimSpace(line), " \t"):
		case !ok, lower == "user-agent" && productToken(strings.TrimSpace(value)) != strings.TrimSpace(value) &&
			strings.TrimSpace(value) != "*":
			return false
		case lower == "user-agent" || lower == "allow" || lower == "disallow":
		case strings.HasPrefix(lower, "u"), strings.HasPrefix(lower, "a"), strings.HasPrefix(lower, "d"):
			return false
		}
	}
	return true
}

// TestTemotoAgrees: for a pattern and a path, temoto/robotstxt matches exactly when pattern.matches does.
func TestTemotoAgrees(t *testing.T) {
	g := inputs{rand.New(rand.NewPCG(3, 4))}
	var ask secondReader
	yes := 0
	for range *pairs {
		p := newPattern("/"+g.path(true), RFC9309)
		path := pathOf(g.path(false), RFC9309)
		if p.literal() {
			continue
		}
		got, want := ask.matches(&p, path), p.matches(path)
		if got != want {
			t.Fatalf("%q $ %v on %q: temoto says %v, we %v", p.text, p.end, path, got, want)
		}
		if want {
			yes++
		}
	}
	if yes < *pairs/1000 {
		t.Errorf("%d of %d match: too few to tell", yes, *pairs)
	}
}
