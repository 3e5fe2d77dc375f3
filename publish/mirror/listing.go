package mirror

import "os"

// File is a file of a mirror that holds what the site has, or what its pages need.
type File struct {
	URL  string // "" of what is the mirror's own
	Name string // of the file; several URLs may have the same
	Type string
	To   string // of a page that stands for a redirect: the URL it leads to
}

// Files lists a mirror, in the order of URLs, and says where a reader begins. What it
// tells of itself is left out.
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
