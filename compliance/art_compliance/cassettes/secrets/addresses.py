"""Which mail addresses, IP addresses and passwords in URLs say something about the person who records."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

_ROLES: Final = frozenset(
    {
        "git", "hg", "svn", "noreply", "no-reply", "donotreply", "support", "help", "sales", "security", "privacy",
        "abuse", "postmaster", "webmaster",
    }
)  # fmt: skip
"""Names before the `@` that do not belong to a person: `git@github.com` is a place, not an address."""

_EXAMPLES: Final = re.compile(r"(?:.*\.)?example(?:\.(?:com|org|net|edu))?|.*\.(?:test|invalid|localhost|local)")
"""Domains that RFC 2606 and RFC 6762 reserve."""

_FILES: Final = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "pdf", "css", "js", "mjs", "ts", "tsx", "jsx", "json", "py",
        "rb", "rs", "go", "html", "md", "txt", "xml", "yaml", "yml", "toml", "sh", "zip", "whl", "exe", "dll", "so",
    }
)  # fmt: skip
"""Endings of files, such as `logo@2x.png`. `.rs`, `.sh`, `.so`, `.md` and `.py` are countries' domains as well."""

_SAMPLES: Final = re.compile(r"(?i)pass(?:word|wd)?|pwd|secret|changeme|token|x+|\*+|REDACTED|[$%{\[(].*")
"""Passwords in documentation."""

_RESOLVERS: Final = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9"})
"""Public name servers, which stand in many texts."""

_DOCUMENTED: Final = tuple(
    map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
)
"""Networks of documentation: what stands in for a real address is treated as one."""

_VERSION: Final = re.compile(r"(?i)(?:v|ver|version|release|build|chrome|safari|firefox|edg)[ :=/\"'v]{0,4}$|/$")
"""What comes before a number of four parts that is not an address, such as `Chrome/120.0.0.0`."""


def is_private_mail(match: re.Match[str]) -> bool:
    """Whether an address may be a person's."""
    domain = match["domain"].lower()
    return (
        match["local"].lower() not in _ROLES
        and _EXAMPLES.fullmatch(domain) is None
        and domain.rpartition(".")[2] not in _FILES
    )


def is_real_password(match: re.Match[str]) -> bool:
    """Whether a password in a URL is more than the word that documentation puts there."""
    return _SAMPLES.fullmatch(match["value"]) is None


def is_foreign_address(match: re.Match[str]) -> bool:
    """Whether an IP address may be the recorder's: a public one, and no version."""
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return False
    is_version = address.version == 4 and all(len(part) == 1 for part in match[0].split("."))
    if is_version or match[0] in _RESOLVERS or _VERSION.search(match.string, max(0, match.start() - 16), match.start()):
        return False
    return address.is_global or any(address in network for network in _DOCUMENTED)
