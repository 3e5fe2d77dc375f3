package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

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
	return serveUntil(ctx, l, site.Handler())
}

// serveUntil serves until the context ends, and then what has begun for a
// moment more.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := context.AfterFunc(ctx, func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if s.Shutdown(bounded) != nil {
			s.Close()
		}
	})
	defer ended()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
