"""connect.py PORT HOST...: an HTTP proxy that tunnels each HOST, port 443, to PORT of this machine
and refuses all else. Prints its own port first."""
import socket, sys, threading

target, hosts = int(sys.argv[1]), set(sys.argv[2:])


def copy(a, b):
    try:
        while data := a.recv(1 << 16):
            b.sendall(data)
    except OSError:
        pass
    try:
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(c):
    head = b""
    while b"\r\n\r\n" not in head and (data := c.recv(1 << 16)):
        head += data
    what = head.split(b" ")[1:2]
    if not head.startswith(b"CONNECT ") or what[0].decode() not in {h + ":443" for h in hosts}:
        c.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        return c.close()
    s = socket.create_connection(("127.0.0.1", target))
    c.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    threading.Thread(target=copy, args=(s, c), daemon=True).start()
    copy(c, s)


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
