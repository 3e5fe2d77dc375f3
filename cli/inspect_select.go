package cli

import (
	"fmt"
	"strings"

	"curtsy/htmlmeta"
)

// selectedFacts is the JSON of an element that --select selects.
type selectedFacts struct {
	Tag   string            `json:"tag"`
	Text  string            `json:"text"`
	Attrs map[string]string `json:"attrs"`
}

// inspectSelected shows what a selector selects: tag, attributes and text.
func (u *ui) inspectSelected(page htmlmeta.Page, f inspectFlags) error {
	list, err := htmlmeta.Query(page, f.selector)
	if err != nil {
		return usagef("curtsy inspect page.html --select 'main a[href]'", "%v", err)
	}
	for _, s := range list {
		if f.json {
			attrs := map[string]string{}
			for _, a := range s.Attrs {
				attrs[a.Key] = a.Val
			}
			if err := u.json(selectedFacts{s.Tag, s.Text, attrs}); err != nil {
				return err
			}
			continue
		}
		tag := s.Tag
		for _, a := range s.Attrs {
			tag += fmt.Sprintf(" %s=%q", a.Key, a.Val)
		}
		u.print("%s", strings.TrimRight("<"+tag+">  "+s.Text, " "))
	}
	if len(list) == 0 {
		u.say("nothing in the page matches %s", quoted(f.selector))
	}
	return nil
}
