package export

import (
	"bytes"
	"cmp"
	"html"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"curtsy/internal/legible"
	"curtsy/internal/zim"
	"curtsy/publish"
	"curtsy/publish/icon"
	"curtsy/publish/mirror"
	"curtsy/storage/crawllog"
)

func oursZIM(_ string, head []byte) bool {
	return bytes.HasPrefix(head, []byte("ZIM\x04")) && bytes.Contains(head, []byte("curtsy/"))
}

// zimSite writes a mirror as a ZIM file.
type zimSite struct {
	*job
	dir   string // temporary, with the mirror
	root  *os.Root
	files []mirror.File
	start string // name of the main page's file
	file  *zim.Writer
	byURL map[string]string // names of files that are not redirects
	langs map[language.Base]int
	title string // of the main page
}

// writeZIM writes the site for Kiwix: the files of a mirror under their names, with its
// redirects as ZIM redirects.
func writeZIM(j *job) (err error) {
	z := &zimSite{job: j, byURL: map[string]string{}, langs: map[language.Base]int{}}
	defer z.close()
	if err := z.mirror(); err != nil {
		return err
	}
	var types []string
	for _, f := range z.files {
		types = append(types, f.Type)
		if f.To == "" && f.URL != "" {
			z.byURL[f.URL] = f.Name
		}
	}
	if z.file, err = zim.New(j.out, types, j.o.Software); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, f := range z.files {
		if err := j.ctx.Err(); err != nil {
			return err
		}
		if seen[f.Name] || f.URL == "" && f.Name != z.start && strings.HasSuffix(f.Name, ".html") {
			continue
		}
		seen[f.Name] = true
		if err := z.add(f); err != nil {
			return err
		}
		if i%64 == 0 {
			j.out.touch(z.dir)
		}
	}
	if err := z.describe(); err != nil {
		return err
	}
	return z.file.Finish(z.start)
}

// mirror makes a mirror beside the export, with the names, permits and rewriting of the mirror
// command.
func (z *zimSite) mirror() error {
	m, err := z.o.mirror()
	if err != nil {
		return err
	}
	if z.dir, err = os.MkdirTemp(z.job.dir(), "."+filepath.Base(z.out.name)+tmpMark+"*"); err != nil {
		return &DiskError{err}
	}
	m.Watch = func(p mirror.Progress) {
		z.out.touch(z.dir)
		if z.o.Watch != nil {
			z.o.Watch(p.Done, p.Total)
		}
	}
	tree := filepath.Join(z.dir, "tree")
	r, err := mirror.Export(z.ctx, z.a, tree, m)
	if err != nil {
		return ofMirror(err)
	}
	z.r.Captures, z.r.Pages, z.r.Withheld = r.Files, r.Pages, r.Withheld+r.Expired
	if z.root, err = os.OpenRoot(tree); err == nil {
		z.files, z.start, err = mirror.Files(z.root)
	}
	return err
}

func (z *zimSite) close() {
	if z.root != nil {
		z.root.Close()
	}
	os.RemoveAll(z.dir)
}

// add adds a file of the mirror.
func (z *zimSite) add(f mirror.File) error {
	if to, ok := z.byURL[f.To]; ok && !z.hasFragment(f.Name) {
		z.file.Redirect(f.Name, to)
		return nil
	}
	p := zim.Page{Path: f.Name, Type: f.Type}
	if f.Type == "text/html" || f.Type == "application/xhtml+xml" {
		z.page(&p, f)
	}
	body, err := z.root.Open(f.Name)
	if err != nil {
		return &DiskError{err}
	}
	defer body.Close()
	st, err := body.Stat()
	if err != nil {
		return &DiskError{err}
	}
	if f.Type != "text/html" {
		return z.file.Add(p, st.Size(), body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return &DiskError{err}
	}
	text = zimPage(text, html.EscapeString((&url.URL{Path: path.Base(f.Name)}).String()))
	return z.file.Add(p, int64(len(text)), bytes.NewReader(text))
}

// hasFragment reports whether the mirror's stub of a redirect leads to a fragment, which ZIM
// redirects cannot express.
func (z *zimSite) hasFragment(name string) bool {
	stub, _ := z.root.ReadFile(name) // if this fails, opening the file fails too
	_, to, _ := bytes.Cut(stub, []byte("; url="))
	to, _, _ = bytes.Cut(to, []byte(`"`))
	return bytes.IndexByte(to, '#') >= 0
}

// page sets a page's title, and whether readers may suggest it. A noindex page is not
// suggested, and its title is not used as the title of the file.
func (z *zimSite) page(p *zim.Page, f mirror.File) {
	visits := z.a.VisitsAt(f.URL)
	until := visits
	if !z.o.At.IsZero() {
		until = publish.Until(visits, z.o.At)
	}
	v := crawllog.Current(until, z.a.VisitsAt)
	if v == nil {
		return
	}
	permit := publish.Permits(visits, z.o.Now, z.a.VisitsAt)[slices.Index(visits, v)]
	if v.Refers != nil && v.Title == "" {
		if o, err := z.a.Visit(*v.Refers); err == nil && o != nil {
			v = o
		}
	}
	if base, ok := baseOf(v.Lang); ok {
		z.langs[base]++
	}
	if !permit.List {
		return
	}
	p.Front, p.Title = true, legible.Cut(oneLine(v.Title), 250)
	if f.Name == z.start {
		z.title = p.Title
	}
}

// describe writes the metadata (https://wiki.openzim.org/wiki/Metadata), within the lengths
// that zimcheck allows.
func (z *zimSite) describe() error {
	host := z.o.Seed.Host()
	lang, short, most := "und", "mul", 0
	for base, n := range z.langs {
		if n > most || n == most && base.String() < short {
			lang, short, most = base.ISO3(), base.String(), n
		}
	}
	day := z.o.Now.UTC().Format("2006-01-02")
	as := z.o.Now
	if !z.o.At.IsZero() {
		as = z.o.At
	}
	for _, m := range [][2]string{
		{"Title", legible.Cut(cmp.Or(z.title, host), 30)}, {"Name", host + "_" + short + "_all"}, {"Language", lang},
		{"Creator", host}, {"Publisher", "curtsy"}, {"Date", day}, {"Tags", "_ftindex:no"},
		{"Description", legible.Cut(host+", as it was on "+as.UTC().Format("2 January 2006"), 80)},
		{"Source", z.o.Seed.String()},
	} {
		if err := z.file.Meta(m[0], m[1]); err != nil {
			return err
		}
	}
	return z.file.Illustration(icon.PNG(z.a, z.o.Seed.String(), z.o.Now))
}

// oneLine joins text to one line, without invalid UTF-8 and NUL.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")), " ")
}
