"""The options of `art certify --gateway`, as the name of an adapter."""

from __future__ import annotations

from typing import Final, NamedTuple

from art_compliance.findings import HarnessError
from art_compliance.subject.gateways.reading import make_gateway

_OF_BOTH: Final = {"speaks", "without", "header"}
"""Options that `--endpoint` has, too."""


class AskedGateway(NamedTuple):
    """What the options say of a gateway."""

    url: str | None
    speaks: str | None
    to: str | None
    provider_port: int | None
    allow: list[str] | None
    without: list[str] | None
    header: list[str] | None
    key_from: str
    model: str | None

    def _require_fitting(self, *, is_live: bool, dialect: str | None) -> None:
        if self.url is None:
            for option in ("speaks", "to", "provider_port", "allow", "without", "header"):
                if getattr(self, option) is not None:
                    flags = "--gateway or --endpoint" if option in _OF_BOTH else "--gateway"
                    raise HarnessError(f"--{option.replace('_', '-')} needs {flags} URL")
            return
        for option in ("speaks", "to"):
            if getattr(self, option) is None:
                raise HarnessError(f"--gateway needs --{option} FORMAT: see art certify --help")
        if is_live:
            raise HarnessError("--live is for adapters: a gateway calls the provider of its own settings")
        if dialect is not None:
            raise HarnessError("--dialect is for adapters: a gateway has --speaks and --to")

    def names(self, *, is_live: bool, dialect: str | None) -> list[str]:
        """The name of the gateway, if one is asked for. Raises HarnessError for options that do not go together."""
        self._require_fitting(is_live=is_live, dialect=dialect)
        if self.url is None:
            return []
        if not self.url.startswith(("http://", "https://")) or "#" in self.url:
            raise HarnessError(f"--gateway {self.url}: give a URL such as http://localhost:4000/v1")
        port = {} if self.provider_port is None else {"port": self.provider_port}
        made = make_gateway(
            url=self.url.rstrip("/"),
            speaks=self.speaks,
            to=self.to,
            model=self.model,
            key_from=self.key_from or None,
            allow=tuple(self.allow or ()),
            without=tuple(self.without or ()),
            header=tuple(self.header or ()),
            **port,
        )
        return [str(made)]
