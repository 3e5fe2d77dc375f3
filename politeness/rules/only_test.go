package rules

import (
	"strings"
	"testing"
)

func TestOnlyRulesParsesAsTheWholeDoes(t *testing.T) {
	page := "<!DOCTYPE html>\n<title>not found</title>\nUser-agent: *   # all\nDisallow: /private\n\n<p>secret words</p>\nAllow: /private/open\nCrawl-delay: 3\nUnknown: secret\nSitemap: /map.xml\n"
	for _, d := range []Dialect{RFC9309, Classic1994, Yandex} {
		o := Options{Agents: []string{"curtsy"}, Dialect: d}
		only := OnlyRules([]byte(page), o)
		if strings.Contains(string(only), "secret") || strings.Contains(string(only), "<") {
			t.Errorf("dialect %v: kept %q", d, only)
		}
		whole, again := Parse([]byte(page), o), Parse(only, o)
		for _, target := range []string{"/", "/private", "/private/open", "/private/x"} {
			if a, b := whole.Verdict(target), again.Verdict(target); a != b {
				t.Errorf("dialect %v, %s: %+v, of the whole %+v", d, target, b, a)
			}
		}
		wd, wl, wok := whole.CrawlDelay()
		if d, l, ok := again.CrawlDelay(); d != wd || l != wl || ok != wok {
			t.Errorf("delay %v in line %d, of the whole %v in line %d", d, l, wd, wl)
		}
	}
}
