package rules

// OnlyRules is a robots.txt without what is no rule: such lines are "#" in it,
// so that the others keep their numbers, and it parses as the whole does. A
// site may have put a page in its place, and ask that the page is not kept.
func OnlyRules(body []byte, o Options) []byte {
	if o.Dialect == Yandex && notForYandex(body) != "" {
		return nil
	}
	var out []byte
	for t := newText(body); ; {
		line, _, ok := t.next()
		if !ok {
			return out
		}
		switch e := readLine(line, o.Dialect); {
		case e.is != fieldNone && e.is != fieldUnknown:
			out = append(out, e.text...)
		case trimBlanks(line) != "":
			out = append(out, '#')
		}
		out = append(out, '\n')
	}
}
