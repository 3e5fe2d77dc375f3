package mirror

import "strings"

// obeyed are extensions of files that web servers execute or desktops open as a command.
// Apache's AddHandler matches them anywhere in a name: x.php.html is executed (mod_mime, "Files
// with Multiple Extensions").
var obeyed = words(`php php2 php3 php4 php5 php6 php7 php8 phps pht phtm phtml phar
	shtml shtm stm cgi fcgi fpl pl var jsp jspx jspf jsw jsv asp aspx asa asax ascx ashx asmx cshtml vbhtml cfm cfml cfc
	htaccess htpasswd htgroup hta lnk pif scf url desktop webloc library-ms search-ms settingcontent-ms`)

// obeyedNames are names of files that configure a web server or a desktop.
var obeyedNames = words(`web.config desktop.ini autorun.inf php.ini _headers _redirects cname`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// isObeyed reports whether a server executes or a desktop acts on a file of that name.
func isObeyed(name string) bool {
	name = strings.ToLower(name)
	_, ext := splitExt(name)
	return obeyedNames[name] || ext != "" && obeyed[ext[1:]]
}

// defuse replaces the dots before such extensions, anywhere in a name: index.php.html becomes
// index_php.html.
func defuse(name string) string {
	if strings.IndexByte(name, '.') < 0 {
		return name
	}
	b := []byte(name)
	for i := range b {
		if b[i] != '.' || i == 0 {
			continue
		}
		ext, _, _ := strings.Cut(name[i+1:], ".")
		if obeyed[strings.ToLower(ext)] {
			b[i] = '_'
		}
	}
	return string(b)
}
