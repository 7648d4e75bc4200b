"""A real S3 server on loopback (moto's), which notes every request and fails when it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import boto3
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

BUCKET = "corpus"


@dataclass
class Request:
    """One request for an object: its method, name, range (or none) and how many bytes came back."""

    method: str
    path: str
    range: str | None
    sent: int


@dataclass
class Server:
    """The server's address, and what it was asked."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    failing: Callable[[str, str], bool] = lambda _method, _path: False

    def put(self, name: str, data: bytes) -> str:
        """Store an object; return its URL."""
        client = boto3.client("s3", endpoint_url=self.url, region_name="us-east-1")
        client.put_object(Bucket=BUCKET, Key=name, Body=data)
        return f"s3://{BUCKET}/{name}"


class _Quiet(WSGIRequestHandler):
    def log(self, *_: object) -> None:
        pass


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Start a server with an empty bucket; the environment leads to it."""
    server = Server()
    inner = DomainDispatcherApplication(create_backend_app)

    def application(environment: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environment["REQUEST_METHOD"], environment["PATH_INFO"]
        noted = Request(method, path, environment.get("HTTP_RANGE"), 0)
        server.requests.append(noted)
        if server.failing(method, path):
            start("503 Slow Down", [("Content-Length", "0")])
            return [b""]
        body = b"".join(inner(environment, start))
        noted.sent = len(body)
        return [body]

    http = make_server("127.0.0.1", 0, application, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    for name, value in {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    # What is stored is the process's, and outlives a server.
    urlopen(HttpRequest(f"{server.url}/moto-api/reset", method="POST")).close()
    boto3.client("s3", endpoint_url=server.url, region_name="us-east-1").create_bucket(
        Bucket=BUCKET
    )
    server.requests.clear()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
