package rules

// OnlyRules returns a robots.txt with "#" for each line that is not a field, so that line numbers and the
// result of parsing stay the same. It is for a site that returns a page in place of the file and asks that
// the page not be archived.
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
