"""A provider of OpenID Connect as a process of its own, and one in this process that lies as a test wants.

python provider.py    serves oidc-provider-mock on a free port of this machine, and prints the port
"""

import json
import ssl
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

PEOPLE = {
    "s-ann": {"preferred_username": "ann", "email": "ann@uni.test", "email_verified": True, "groups": ["ir", "staff"]},
    "s-bob": {"preferred_username": "bob ross", "email": "bob@other.test", "email_verified": True, "groups": []},
    "s-eve": {"preferred_username": "eve", "email": "eve@uni.test", "email_verified": False},
}


def main() -> None:
    warnings.simplefilter("ignore")  # of the package's own imports
    from oidc_provider_mock import User, app
    from werkzeug.serving import make_server

    users = [User(sub=sub, claims=claims) for sub, claims in PEOPLE.items()]
    server = make_server("127.0.0.1", 0, app(require_nonce=True, user_claims=users), threaded=True)
    print(server.server_port, flush=True)
    server.serve_forever()


@contextmanager
def real_provider() -> Iterator[str]:
    """The address of a provider in another process."""
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()


@cache
def own_key() -> Any:
    from joserfc.jwk import RSAKey

    return RSAKey.generate_key(2048, parameters={"kid": "one", "alg": "RS256", "use": "sig"})


@dataclass
class Liar:
    """A provider whose metadata and tokens are what a test wants. asked : (method, path, form) of its requests."""

    issuer: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    sign: Any = None  # of (claims), the token; None for its own key
    trouble: str = ""  # of the token endpoint: redirect, silence, close, error, junk
    over: threading.Event = field(default_factory=threading.Event)  # the test has ended, and so has silence
    asked: list[tuple[str, str, Mapping[str, list[str]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.key = own_key()

    def answer(self, method: str, path: str, form: Mapping[str, list[str]]) -> tuple[int, Any]:
        from joserfc import jwt

        self.asked.append((method, path, form))
        match path:
            case "/.well-known/openid-configuration":
                usual = {name: f"{self.issuer}/{name}" for name in ("authorization_endpoint", "token_endpoint")}
                return 200, {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/jwks", **usual, **self.metadata}
            case "/jwks":
                return 200, {"keys": [self.key.as_dict(private=False)]}
            case "/token_endpoint" if self.trouble:
                if self.trouble == "silence":
                    self.over.wait()
                return {"redirect": 307, "error": 500}.get(self.trouble, 200), {}
            case "/token_endpoint":
                sign = self.sign or (lambda claims: jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key))
                token = {"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": sign(self.claims)}
                return 200, token
        return 404, {}


def certificate(folder: Path) -> Path:
    """A self-signed certificate for 127.0.0.1 with its key, in a file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now, host = datetime.now(UTC), x509.IPAddress(ip_address("127.0.0.1"))
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    made = made.add_extension(x509.SubjectAlternativeName([host]), critical=True)
    parts = made.sign(key, hashes.SHA256()), key
    text = parts[0].public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (file := folder / "provider.pem").write_bytes(text)
    return file


@contextmanager
def lying_provider(with_certificate: Path | None = None) -> Iterator[Liar]:
    """with_certificate : speak TLS with it."""
    liar = Liar()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length", 0))
            form = parse_qs(self.rfile.read(length).decode())
            status, content = liar.answer(self.command, urlsplit(self.path).path, form)
            body = json.dumps(content).encode()
            if liar.trouble in ("close", "silence") and self.path == "/token_endpoint":
                self.close_connection = True
                return
            if liar.trouble in ("junk", "redirect") and self.path == "/token_endpoint":
                body = b"<html>down for maintenance</html>"
            self.send_response(status)
            if status == 307:
                self.send_header("location", f"{liar.issuer}/elsewhere")
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    liar.issuer = f"http://127.0.0.1:{server.server_port}"
    if with_certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(with_certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        liar.issuer = liar.issuer.replace("http:", "https:")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield liar
    finally:
        liar.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    main()
