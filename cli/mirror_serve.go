package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"curtsy/publish/mirror"
)

// serveMirror serves a mirror until it is stopped.
func serveMirror(ctx context.Context, u *ui, out, listen string) error {
	root, err := os.OpenRoot(out)
	if err != nil {
		return checkError(err, out)
	}
	defer root.Close()
	h, err := mirror.Handler(root)
	if err != nil {
		return checkError(err, out)
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return usagef("--listen 127.0.0.1:0 for any free port", "listen on %s: %v", listen, err)
	}
	u.print("serving %s at http://%s/", out, l.Addr())
	return serveUntil(ctx, l, h)
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
