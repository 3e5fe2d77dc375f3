package mirror

import "os"

// File is a file of a mirror: a file of the site, or one that its pages need.
type File struct {
	URL  string // "" for the mirror's own files
	Name string // of the file; several URLs may share it
	Type string
	To   string // for the stub of a redirect: its target URL
}

// Files lists the files of a mirror by URL, without its report and map, and returns the name of
// the start page.
func Files(root *os.Root) (list []File, start string, err error) {
	m, err := readMap(root)
	if err != nil {
		return nil, "", err
	}
	start = "index.html"
	for _, f := range m.Files {
		switch {
		case f.URL == m.Seed && f.To == "":
			start = f.File
		case f.URL == "" && (f.File == ReportFile || f.File == MapFile):
			continue
		}
		list = append(list, File{URL: f.URL, Name: f.File, Type: f.Type, To: f.To})
	}
	return list, start, nil
}
