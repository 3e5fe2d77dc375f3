package render

import (
	"net"
)

// wall is a proxy that closes every connection. It stops the browser's requests that are not paused.
type wall struct {
	net.Listener
	address string // "http://127.0.0.1:40123"
}

func newWall() (*wall, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &wall{Listener: l, address: "http://" + l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return w, nil
}
