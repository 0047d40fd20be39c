"""`art verify`: runs again what a certificate is about, and compares."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from art_compliance.commands.console import FAILS, say
from art_compliance.commands.progress import Meter, showing
from art_compliance.publishing.certificate import Certificate, read_certificates
from art_compliance.publishing.verifying import (
    differences,
    require_same_versions,
    run_again,
    selection_of,
)
from art_compliance.run.lines import counted
from art_compliance.run.runner import certify


def verify_command(
    certificate: Annotated[Path, typer.Argument(help="The certificate.json, or its folder.")] = Path("art-report"),
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Run the adapter in this process, as debuggers need it.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Run again what a certificate is about. Exits with 1 if the results differ, with 2 if it is of another version."""
    sys.path.insert(0, "")  # a console script does not see the working directory
    certificates = read_certificates(certificate)
    for one in certificates:
        require_same_versions(one)
    verified = [_verify(one, isolated=not in_process, is_quiet=quiet) for one in certificates]
    raise typer.Exit(0 if all(verified) else FAILS)


def _verify(certificate: Certificate, *, isolated: bool, is_quiet: bool) -> bool:
    near = not isolated or certificate.rerun.in_process
    with showing(is_quiet=is_quiet) as show:
        meter = Meter(selection_of(certificate), partial(show, certificate.adapter.name))
        report = run_again(certificate, run=partial(certify, isolated=not near, on_result=meter))
    wrong = list(differences(certificate, report))
    known = f", with {counted(len(certificate.known), 'known failure')}" if certificate.known else ""
    if not wrong:
        say(f"{certificate.adapter.name}: the certificate is confirmed{known} (seed {report.seed})", style="bold green")
        return True
    say(f"{certificate.adapter.name}: the certificate is not confirmed", style="bold red")
    for line in wrong:
        say(f"  {line}")
    return False
