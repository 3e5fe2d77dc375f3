package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

// counts is an in-memory Memory.
type counts map[string]int

func (c counts) Count(shape string) int   { c[shape]++; return c[shape] }
func (c counts) Counted(shape string) int { return c[shape] }
func (c counts) Shortest(name string, n int) bool {
	if c[name+"!"] != 0 && c[name+"!"] <= n {
		return false
	}
	c[name+"!"] = n
	return true
}
func (c counts) Discovered() int             { return len(c) }
func (c counts) Twin(_ *Link, s string) bool { c[s]++; return c[s] > 1 }

func TestSemicolonsSeparateParameters(t *testing.T) {
	for query, want := range map[string]string{"a=1;b=2&c": "a&b&c", "p=x.git;a=log;h=1": "a&h&p",
		"C=M;O=A": "C&O", "": ""} {
		if names, _ := parameterNames(query); names != want {
			t.Errorf("%s: %s, want %s", query, names, want)
		}
	}
	for query, want := range map[string]string{"O=A;C=M": "http://h/?C=M;O=A", "C=M;O=A": "", "q=b;a": "",
		"b=1;a=2&a=3": "http://h/?a=3&b=1;a=2"} {
		if form, _ := twin(weburl.MustParse("http://h/?" + query)); form != want {
			t.Errorf("the form of %s: %s, want %s", query, form, want)
		}
	}
}

func TestHashesAreKnownByTheirForm(t *testing.T) {
	for target, want := range map[string][]string{
		"/info/3c53b6364e":                                            {"3c53b636"},
		"/zip/3c53b6364e/p-3c53b6364e.zip":                            {"3c53b636", "3c53b636"},
		"/?a=blob;h=0123456789abcdef0123456789abcdef01234567;hb=HEAD": {"01234567"},
		"/article/20261122":                                           nil, // only digits
		"/facade/defaced":                                             nil, // only letters
		"/3c53b63":                                                    nil, // too short
		"/ABCDEF0123":                                                 nil,
		"/g3c53b6364e":                                                nil,
		"/00000000000000000000000000000000":                           {"00000000"},
	} {
		if _, got := withoutHashes(target); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

// The page of each version, and the first view of each shape, is fetched at once; further views are
// late, and those of a version that has many count against the budget.
func TestProductsOfVersionsAndViews(t *testing.T) {
	f := &Facts{Settings: &Settings{Traps: Traps{Products: 20}}, Memory: counts{}}
	judged := func(target string) string {
		v := Decide(Added, &Link{URL: weburl.MustParse("http://h" + target), Class: Page}, f)
		switch {
		case v.Excludes():
			return v.Reason.Rule
		case v.Late:
			return "late"
		}
		return ""
	}
	got := map[string]int{}
	for i := range 40 {
		commit := string([]byte{'a' + byte(i%6), '0' + byte(i/6)}) + "23456789ab"
		got["file "+judged("/file/name.c?commit="+commit)]++
		if r := judged("/commit/" + commit); r != "" {
			t.Fatalf("commit %d, found behind a file of it: %s", i, r)
		}
		for _, view := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"} {
			got[judged("/commit/"+commit+"?view="+view)]++
		}
	}
	if got["file "] != 40 || got[""] != 10 || got["late"] != 39*6+20 || got[Products] != 39*4-20 {
		t.Errorf("%v", got)
	}
	if r := judged("/article/1"); r != "" {
		t.Errorf("a page without a version: %s", r)
	}
}

func TestArchivesOfTheWholeTree(t *testing.T) {
	f := &Facts{Settings: &Settings{Traps: Traps{Archives: 1}}, Memory: counts{}}
	for _, c := range []struct {
		target string
		ok     bool
	}{
		{"/zip/a23456789b/p-a23456789b.zip", true}, {"/zip/b23456789b/p-b23456789b.zip", false},
		{"/tarball/b23456789b/p.tar.gz", true}, {"/tarball/c23456789b/p.tar.gz", false},
		{"/?a=snapshot;h=a23456789b;sf=tgz", true}, {"/?a=snapshot;h=b23456789b;sf=tgz", false},
		{"/p-1.0.tar.gz", true}, {"/p-1.1.tar.gz", true}, {"/doc/a23456789b.html", true},
		{"/doc/b23456789b.html", true},
	} {
		v := Decide(Added, &Link{URL: weburl.MustParse("http://h" + c.target), Class: Page}, f)
		if v.Excludes() == c.ok {
			t.Errorf("%s: %v, want it let through: %v", c.target, v.Reason, c.ok)
		}
	}
}

// Each kind of view of versions has its own query budget: many commits exhaust none of them.
func TestEachViewOfVersionsHasABudgetOfItsOwn(t *testing.T) {
	f := &Facts{Settings: &Settings{Traps: Traps{QueryVariants: 100, Products: 5}}, Memory: counts{}}
	left := map[string]int{}
	for i := range 60 {
		commit := string([]byte{'a' + byte(i%6), '0' + byte(i/6)}) + "23456789ab"
		for _, q := range []string{"p=x.git;a=commit;h=" + commit, "p=x.git;a=commitdiff;h=" + commit,
			"p=x.git;a=log;pg=" + commit[1:2] + commit} {
			if v := Decide(Added, &Link{URL: weburl.MustParse("http://h/?" + q), Class: Page}, f); v.Excludes() {
				left[v.Reason.Rule]++
			}
		}
	}
	if len(left) != 0 {
		t.Errorf("left out: %v", left)
	}
}

// A repository browser such as Fossil's shows check-ins on timelines, which can begin at any date in
// several ways and link to more timelines. In whichever order responses arrive, the check-ins are
// fetched before most of these views.
func TestCheckInsComeBeforeViewsByDate(t *testing.T) {
	const checkIns, shown = 200, 20
	info := func(n int) string { return fmt.Sprintf("/info/%02xa%07xf", n%256, n) }
	at := func(n int) string { return fmt.Sprintf("2024-%02d-%02d+10:%02d", n%12+1, n/12%28+1, n%60) }
	dated := map[string]int{}
	for n := range checkIns {
		dated[at(n)] = n
	}
	links := func(target string) (list []string) {
		var n, k int
		if _, from, ok := strings.Cut(target, "c="); ok {
			from, _, _ = strings.Cut(from, "&")
			n = dated[from]
		} else if _, err := fmt.Sscanf(target, "/info/%2xa%7xf", &k, &n); err == nil {
			list = append(list, info(max(n-1, 0)), info(min(n+1, checkIns-1)),
				fmt.Sprintf("/artifact/%02xb%07xe", n%256, n))
			return append(list, "/timeline?c="+at(n), "/timeline?r=trunk&c="+at(n))
		}
		for i := max(n-shown, 0); i < min(n+shown, checkIns); i++ {
			list = append(list, info(i), "/timeline?c="+at(i), "/timeline?r=trunk&c="+at(i))
		}
		return append(list, "/timeline?c="+at(n)+"&n=50", "/timeline?c="+at(n)+"&b="+at(n), "/timeline?c="+at(n)+
			"&advm=0", "/timeline?r=trunk&c="+at(n)+"&n=50")
	}
	for seed := range uint64(8) {
		order := crawlOrder("/timeline", links, rand.New(rand.NewPCG(seed, 0)))
		last, found := 0, 0
		for place, target := range order {
			if strings.HasPrefix(target, "/info/") {
				last, found = place, found+1
			}
		}
		if found != checkIns || last > 3*checkIns {
			t.Errorf("seed %d: %d of %d check-ins, the last at place %d of %d", seed, found, checkIns, last, len(order))
		}
	}
}

// crawlOrder returns the order in which the pages of a site are fetched, four at a time and with
// responses in random order.
func crawlOrder(start string, links func(target string) []string, r *rand.Rand) (order []string) {
	f := &Facts{Settings: &Settings{Traps: Traps{Products: 2000, Facets: 500, Calendar: 4000, QueryVariants: 2000}},
		Memory: counts{}}
	pages, late, seen := []string{start}, []string(nil), map[string]bool{start: true}
	for len(pages)+len(late) > 0 && len(order) < 5000 {
		from := &pages
		if len(pages) == 0 {
			from = &late
		}
		i := r.IntN(min(4, len(*from)))
		target := (*from)[i]
		*from = slices.Delete(*from, i, i+1)
		order = append(order, target)
		for _, to := range links(target) {
			if seen[to] {
				continue
			}
			seen[to] = true
			switch v := Decide(Added, &Link{URL: weburl.MustParse("http://h" + to), Class: Page}, f); {
			case v.Excludes():
			case v.Late:
				late = append(late, to)
			default:
				pages = append(pages, to)
			}
		}
	}
	return order
}
