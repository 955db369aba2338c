"""A model hub on this machine, with faults on demand.

Large files ("LFS") answer with a redirect to a second server, as the real hub does, and carry their sha256 in
X-Linked-Etag; small ones are sent at once. What a file does wrong is queued in `faults`, one entry a request.
"""

import hashlib
import http.server
import json
import re
import ssl
import threading
import urllib.parse


class Fault:
    """What goes wrong with one request for a file. Only the named things do."""

    def __init__(self, status=None, headers=None, cut_after=None, pause_after=None, ignore_range=False,
                 announce=None, no_length=False, shift_range=0, redirect=None):
        self.status = status              # answer this status with a short text
        self.headers = headers or {}      # more headers
        self.cut_after = cut_after        # close the connection after so many bytes of the body
        self.pause_after = pause_after    # (bytes, threading.Event): wait there until the event is set
        self.ignore_range = ignore_range  # send all with status 200
        self.announce = announce          # a Content-Length that is not true
        self.no_length = no_length        # the end of the connection is the end of the file
        self.shift_range = shift_range    # send another part than was asked for
        self.redirect = redirect          # send the client elsewhere


class Request:
    def __init__(self, method, path, headers):
        self.method, self.path = method, path
        self.headers = {key.lower(): value for key, value in headers.items()}

    def __repr__(self):
        return f"{self.method} {self.path} {self.headers.get('range', '')}"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        # A client that uses this server as a proxy sends the whole address.
        path = urllib.parse.urlsplit(self.path).path
        self.server.hub.handle(self, urllib.parse.unquote(path))

    def answer(self, status, body=b"", headers=None):
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_file(self, content, fault, headers):
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        first = int(match.group(1)) if match and not fault.ignore_range else 0
        if first and first >= len(content):
            self.answer(416, headers={"Content-Range": f"bytes */{len(content)}"})
            return
        self.send_response(206 if first else 200)
        for key, value in {**headers, **fault.headers}.items():
            self.send_header(key, value)
        if first:
            first += fault.shift_range
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        body = content[first:]
        if fault.no_length:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body) if fault.announce is None else fault.announce))
        self.end_headers()
        self.send_body(body, fault)

    def send_body(self, body, fault):
        try:
            if fault.pause_after is not None:
                count, event = fault.pause_after
                self.wfile.write(body[:count])
                self.wfile.flush()
                event.wait(60)
                body = body[count:]
            self.wfile.write(body if fault.cut_after is None else body[:fault.cut_after])
        except (BrokenPipeError, ConnectionResetError):
            pass
        if fault.cut_after is not None or fault.announce is not None:
            self.close_connection = True


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that is killed, or that trusts no certificate, is part of the tests."""


class FakeHub:
    def __init__(self, certificate=None):
        self.files = {}      # "OWNER/NAME/path" -> bytes
        self.lfs = set()     # of these paths: sent by the second server
        self.sums = {}       # path -> sha256 that the hub claims instead of the true one
        self.faults = {}     # path -> list of Fault
        self.requests = []
        self.lock = threading.Lock()
        self.servers = [self._start(certificate) for _ in range(2)]
        scheme = "https" if certificate else "http"
        self.url, self.store_url = (f"{scheme}://127.0.0.1:{s.server_address[1]}" for s in self.servers)

    def _start(self, certificate):
        server = _Server(("127.0.0.1", 0), _Handler)
        server.hub = self
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def add(self, path, content, lfs=False):
        self.files[path] = content
        if lfs:
            self.lfs.add(path)

    def fail(self, path, *faults):
        """The next requests for the bytes of `path` go wrong like this, one after the other."""
        self.faults.setdefault(path, []).extend(faults)

    def requests_for(self, text):
        with self.lock:
            return [request for request in self.requests if text in request.path]

    def handle(self, handler, path):
        with self.lock:
            self.requests.append(Request(handler.command, path, handler.headers))
        listing = re.fullmatch(r"/api/models/([^/]+/[^/]+)/revision/([^/]+)", path)
        stored = re.fullmatch(r"/stored/(.+)", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if listing:
            self.send_listing(handler, listing.group(1))
        elif stored:
            self.send(handler, stored.group(1), {"ETag": '"not-a-sum"'})
        elif file:
            self.resolve(handler, f"{file.group(1)}/{file.group(3)}")
        elif path[1:] in self.files:
            self.send(handler, path[1:], {})
        else:
            handler.answer(404, b"no such page")

    def send_listing(self, handler, repository):
        siblings = []
        for path, content in sorted(self.files.items()):
            if not path.startswith(repository + "/"):
                continue
            sibling = {"rfilename": path[len(repository) + 1:], "size": len(content)}
            if path in self.lfs:
                sibling["lfs"] = {"sha256": self.sum_of(path), "size": len(content)}
            siblings.append(sibling)
        if not siblings:
            handler.answer(404, b"no such repository")
            return
        handler.answer(200, json.dumps({"id": repository, "siblings": siblings}).encode(),
                       {"Content-Type": "application/json"})

    def sum_of(self, path):
        return self.sums.get(path) or hashlib.sha256(self.files[path]).hexdigest()

    def resolve(self, handler, path):
        if path not in self.files:
            handler.answer(404, b"Entry not found")
        elif path in self.lfs:
            handler.answer(302, headers={
                "X-Linked-Etag": f'"{self.sum_of(path)}"', "X-Linked-Size": str(len(self.files[path])),
                "Location": f"{self.store_url}/stored/{urllib.parse.quote(path)}"})
        else:
            content = self.files[path]
            git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            self.send(handler, path, {"ETag": f'"{git}"'})

    def send(self, handler, path, headers):
        if path not in self.files:
            handler.answer(404, b"no such file")
            return
        with self.lock:
            queue = self.faults.get(path)
            fault = queue.pop(0) if queue else Fault()
        if fault.redirect:
            handler.answer(302, headers={"Location": fault.redirect})
        elif fault.status:
            handler.answer(fault.status, b"as told", fault.headers)
        else:
            handler.send_file(self.files[path], fault, headers)
