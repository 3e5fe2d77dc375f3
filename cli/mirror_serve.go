package cli

import (
	"context"
	"net"
	"os"

	"curtsy/internal/localweb"
	"curtsy/publish/mirror"
)

// serveMirror serves a mirror until it is stopped.
func serveMirror(ctx context.Context, u *ui, out string, f *mirrorFlags) error {
	root, err := os.OpenRoot(out)
	if err != nil {
		return checkError(err, out)
	}
	defer root.Close()
	site, err := mirror.NewSite(root, localweb.Names{Public: f.public})
	if err != nil {
		return checkError(err, out)
	}
	listen, err := localAddress("--listen", f.listen, f.public,
		"--public, if everybody who can reach it may see the mirror")
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return usagef("--listen 127.0.0.1:0 for any free port", "listen on %s: %v", listen, err)
	}
	u.print("serving %s at http://%s/", out, l.Addr())
	if !f.public {
		u.say("browsers are led to http://%s.localhost:%d/; one that does not find it: http://%s/%s/",
			site.Token, l.Addr().(*net.TCPAddr).Port, l.Addr(), site.Token)
	}
	return serveAll(ctx, []net.Listener{l}, site.Handler())
}
