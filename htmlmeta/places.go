package htmlmeta

// form is the syntax in which an attribute holds links.
type form uint8

const (
	noLink     form = iota
	oneURL          // one reference: href, src
	srcset          // image candidates: HTML §4.8.4.2.1
	cssStyle        // declarations with url()
	document        // a whole document: srcdoc
	refresh         // a meta's content, if it is a refresh
	param           // a param's value, if its name says that it is a URL
	archives        // applet: references separated by commas, relative to codebase
	linkHref        // a link element's href; rel determines the kind
	background      // turned into a background by scripts: a URL, or url()
	handler         // code that may lead elsewhere: location.href = 'x'
	choice          // an option's value: a URL in a menu that leads to pages
	aside           // no link, but needed by other rows or as a directive
)

// place is a row of the table: an attribute of a tag that holds links.
type place struct {
	tag, attr string // tag "*" means every tag
	form      form
	kind      LinkKind
}

// places says where links are in HTML, XHTML and SVG, for reading and rewriting. For links in
// style sheets see css.go, for response headers linkheader.go.
var places = []place{
	// links to pages
	{"a", "href", oneURL, Navigation},
	{"a", "xlink:href", oneURL, Navigation},
	{"area", "href", oneURL, Navigation},
	{"meta", "content", refresh, Navigation},
	{"img", "longdesc", oneURL, Navigation},
	{"frame", "longdesc", oneURL, Navigation},
	{"iframe", "longdesc", oneURL, Navigation},

	// rel determines the kind of a link element (see linkKind)
	{"link", "href", linkHref, Requisite},
	{"link", "imagesrcset", srcset, Requisite},
	{"link", "xlink:href", linkHref, Requisite},

	// documents within the document
	{"iframe", "src", oneURL, Requisite},
	{"iframe", "srcdoc", document, Requisite},
	{"frame", "src", oneURL, Requisite},
	{"object", "data", oneURL, Requisite},
	{"embed", "src", oneURL, Requisite},
	{"applet", "archive", archives, Requisite},
	{"applet", "code", archives, Requisite},
	{"applet", "object", archives, Requisite},
	{"param", "value", param, Requisite},

	// images, audio, video
	{"img", "src", oneURL, Requisite},
	{"img", "srcset", srcset, Requisite},
	{"img", "lowsrc", oneURL, Requisite},
	{"img", "dynsrc", oneURL, Requisite},
	{"image", "src", oneURL, Requisite}, // HTML reads <image> as <img>
	{"image", "srcset", srcset, Requisite},
	{"input", "src", oneURL, Requisite},
	{"source", "src", oneURL, Requisite},
	{"source", "srcset", srcset, Requisite},
	{"video", "src", oneURL, Requisite},
	{"video", "poster", oneURL, Requisite},
	{"audio", "src", oneURL, Requisite},
	{"track", "src", oneURL, Requisite},
	{"bgsound", "src", oneURL, Requisite},

	// scripts and styles
	{"script", "src", oneURL, Requisite},
	{"script", "href", oneURL, Requisite}, // in SVG
	{"*", "style", cssStyle, Requisite},
	{"html", "manifest", oneURL, Requisite},

	// backgrounds
	{"body", "background", oneURL, Requisite},
	{"table", "background", oneURL, Requisite},
	{"thead", "background", oneURL, Requisite},
	{"tbody", "background", oneURL, Requisite},
	{"tfoot", "background", oneURL, Requisite},
	{"tr", "background", oneURL, Requisite},
	{"td", "background", oneURL, Requisite},
	{"th", "background", oneURL, Requisite},

	// SVG
	{"image", "href", oneURL, Requisite},
	{"use", "href", oneURL, Requisite},
	{"feimage", "href", oneURL, Requisite},
	{"pattern", "href", oneURL, Requisite},
	{"textpath", "href", oneURL, Requisite},
	{"mpath", "href", oneURL, Requisite},
	{"lineargradient", "href", oneURL, Requisite},
	{"radialgradient", "href", oneURL, Requisite},
	{"*", "xlink:href", oneURL, Requisite},

	// loaded later by scripts
	{"*", "data-src", oneURL, Requisite},
	{"*", "data-srcset", srcset, Requisite},
	{"img", "data-original", oneURL, Requisite},
	{"img", "data-lazy-src", oneURL, Requisite},
	{"img", "data-lazy-srcset", srcset, Requisite},
	{"source", "data-lazy-srcset", srcset, Requisite},

	{"*", "data-bg", background, Speculative},
	{"*", "data-background", background, Speculative},
	{"*", "data-background-image", background, Speculative},

	// used by code
	{"*", "onclick", handler, Speculative},
	{"option", "value", choice, Speculative},

	// form targets: a crawler submits no forms, a mirror rewrites them
	{"form", "action", oneURL, Form},
	{"button", "formaction", oneURL, Form},
	{"input", "formaction", oneURL, Form},

	// needed by other rows and directives
	{"a", "rel", aside, 0},
	{"area", "rel", aside, 0},
	{"form", "rel", aside, 0},
	{"form", "method", aside, 0},
	{"script", "type", aside, 0},
	{"link", "rel", aside, 0},
	{"link", "as", aside, 0},
	{"link", "type", aside, 0},
	{"applet", "codebase", aside, 0},
	{"param", "name", aside, 0},
	{"meta", "name", aside, 0},
	{"meta", "http-equiv", aside, 0},
	{"meta", "charset", aside, 0},
	{"base", "href", aside, 0},
	{"html", "lang", aside, 0},
	{"html", "xml:lang", aside, 0},

	// needed by notes
	{"link", "hreflang", aside, 0},
	{"img", "alt", aside, 0},
	{"img", "role", aside, 0},
	{"img", "aria-hidden", aside, 0},
	{"area", "alt", aside, 0},
	{"area", "aria-label", aside, 0},
	{"area", "aria-labelledby", aside, 0},
	{"input", "type", aside, 0},
	{"input", "alt", aside, 0},
	{"input", "title", aside, 0},
	{"input", "aria-label", aside, 0},
	{"input", "aria-labelledby", aside, 0},
	{"iframe", "title", aside, 0},
	{"iframe", "role", aside, 0},
	{"iframe", "aria-hidden", aside, 0},
	{"iframe", "aria-label", aside, 0},
	{"iframe", "aria-labelledby", aside, 0},
	{"frame", "title", aside, 0},
}

// otherTags are tags without links whose content is special.
var otherTags = []string{
	"title", "style", "template", "textarea", "xmp", "noembed", "noframes", "plaintext", "svg", "math",
	"h1", "h2", "h3", "h4", "h5", "h6", // in this order
}

// Numbers of tags and attributes that are used in code.
var (
	tagNames  = newNames(tagList())
	attrNames = newNames(attrList())

	tagBase, tagHTML, tagLink, tagMeta = tagNames.of("base"), tagNames.of("html"), tagNames.of("link"),
		tagNames.of("meta")
	tagStyle, tagTitle, tagTemplate = tagNames.of("style"), tagNames.of("title"), tagNames.of("template")
	tagScript, tagPlaintext         = tagNames.of("script"), tagNames.of("plaintext")
	tagA                            = tagNames.of("a")
	tagSVG, tagMath                 = tagNames.of("svg"), tagNames.of("math")
	tagH1, tagH6                    = tagNames.of("h1"), tagNames.of("h6")
	tagImg, tagArea, tagInput       = tagNames.of("img"), tagNames.of("area"), tagNames.of("input")
	tagIframe, tagFrame             = tagNames.of("iframe"), tagNames.of("frame")
	attrHref, attrRel               = attrNames.of("href"), attrNames.of("rel")
	attrID, attrName                = attrNames.of("id"), attrNames.of("name")
	attrSrc, attrType, attrAlt      = attrNames.of("src"), attrNames.of("type"), attrNames.of("alt")
	attrTitle, attrRole             = attrNames.of("title"), attrNames.of("role")
	attrAriaHidden                  = attrNames.of("aria-hidden")
	attrAriaLabel, attrLabelledBy   = attrNames.of("aria-label"), attrNames.of("aria-labelledby")

	placeOf = placeTable()
	rawText = rawTextTags()
)

func tagList() (list []string) {
	for _, p := range places {
		if p.tag != "*" {
			list = append(list, p.tag)
		}
	}
	return append(list, otherTags...)
}

func attrList() (list []string) {
	for _, p := range places {
		list = append(list, p.attr)
	}
	return append(list, "id")
}

const (
	maxTags  = 64
	maxAttrs = 64 // one bit each in attrSet
)

// placeTable indexes places: placeOf[tag][attr] is the index of the row plus one, or 0.
func placeTable() *[maxTags][maxAttrs]uint8 {
	if len(tagNames.list) > maxTags || len(attrNames.list) > maxAttrs {
		panic("htmlmeta: too many names")
	}
	t := new([maxTags][maxAttrs]uint8)
	for i, p := range places {
		if p.tag == "*" {
			for tag := range t {
				setPlace(t, name(tag), p.attr, i)
			}
		}
	}
	for i, p := range places {
		if p.tag != "*" {
			setPlace(t, tagNames.of(p.tag), p.attr, i)
		}
	}
	return t
}

func setPlace(t *[maxTags][maxAttrs]uint8, tag name, attr string, row int) {
	t[tag][attrNames.of(attr)] = uint8(row + 1)
}

// rawTextTags are the tags whose content is not markup (HTML §13.2.6: RCDATA, RAWTEXT and
// script data). noscript is not among them, since scripting is off.
func rawTextTags() *[maxTags]bool {
	t := new([maxTags]bool)
	for _, s := range []string{"script", "style", "title", "textarea", "xmp", "iframe", "noembed",
		"noframes", "plaintext"} {
		t[tagNames.of(s)] = true
	}
	return t
}
