"""Keys that begin with letters of their own: whose they are, how they begin, and what follows.

Most shapes are those of gitleaks (MIT), whose list is well kept but written in Go; `source` names its rule. Lengths
are lower than those of real keys, so that a cut or masked one is removed, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from art_compliance.cassettes.secrets.changes import REDACTED, Change
from art_compliance.cassettes.secrets.randomness import LOOKED_AT, looks_random

_WORD: Final = "A-Za-z0-9_*-"
_DOTTED: Final = "A-Za-z0-9_.*-"
_BASE64: Final = "A-Za-z0-9+/=_-"
_UPPER: Final = "A-Z0-9"
_HEX: Final = "0-9a-f*"


SCANNERS: Final = "several public scanners agree, no rule of gitleaks"
IDS: Final = "errors of OpenAI and Anthropic"


class Shape(NamedTuple):
    """Keys of one kind. `heads` are separated by spaces, and at least `least` of the `letters` follow one.

    With a head that also begins words, what follows must look generated. An id keeps its head, so that a reader sees
    what it was.
    """

    kind: str
    heads: str
    least: int
    source: str
    letters: str = _WORD
    is_certain: bool = True
    is_id: bool = False


SHAPES: Final[tuple[Shape, ...]] = (
    Shape("an Anthropic key", "sk-ant-", 8, "gitleaks: anthropic-api-key, claude-code-oauth-token"),
    Shape("an OpenAI key", "sk-proj- sk-svcacct- sk-admin-", 12, "gitleaks: openai-api-key", is_certain=False),
    Shape("an OpenAI session token", "sess-", 16, SCANNERS, is_certain=False),
    Shape("an OpenRouter key", "sk-or-v1-", 12, SCANNERS),
    Shape("a Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", 16, "gitleaks: stripe-*", letters="A-Za-z0-9"),
    Shape("a key", "sk- sk_ pk- pk_ rk- rk_", 8, "gitleaks: stripe-access-token, openai-api-key", is_certain=False),
    Shape("a Perplexity key", "pplx- pplx_", 8, "gitleaks: perplexity-api-key", is_certain=False),
    Shape("a Cerebras key", "csk- csk_", 8, "betterleaks: cerebras-api-key", is_certain=False),
    Shape("an NVIDIA key", "nvapi- nvapi_", 8, SCANNERS, is_certain=False),
    Shape("an xAI key", "xai- xai_", 8, "trufflehog: xai", is_certain=False),
    Shape("a gateway key", "gw- gw_ vck- vck_", 8, SCANNERS, is_certain=False),
    Shape("a Together key", "tgp- tgp_", 8, SCANNERS, is_certain=False),
    Shape("a Groq key", "gsk_", 16, "gitleaks: groq-api-key", is_certain=False),
    Shape("a Hugging Face key", "hf_ api_org_", 16, "gitleaks: huggingface-access-token", is_certain=False),
    Shape("a Replicate key", "r8_", 16, SCANNERS, is_certain=False),
    Shape("a Fireworks key", "fw_ fpk_", 16, SCANNERS, is_certain=False),
    Shape("a Pinecone key", "pcsk_", 20, SCANNERS, is_certain=False),
    Shape("a LangSmith key", "lsv2_pt_ lsv2_sk_", 16, "gitleaks: langsmith-api-key"),
    Shape("a LlamaCloud key", "llx-", 20, SCANNERS, is_certain=False),
    Shape("a Voyage key", "pa-", 32, SCANNERS, is_certain=False),
    Shape("a Jina key", "jina_", 20, SCANNERS, is_certain=False),
    Shape("a Tavily key", "tvly-", 16, SCANNERS, is_certain=False),
    Shape("a Databricks token", "dapi", 32, "gitleaks: databricks-api-token", letters=_HEX),
    Shape("a Google key", "AIza", 16, "gitleaks: gcp-api-key"),
    Shape("a Google key", "AQ.", 20, "Gemini API keys that begin with AQ.", is_certain=False),
    Shape("a Google access token", "ya29.", 8, SCANNERS, letters=_DOTTED),
    Shape("a Google client secret", "GOCSPX-", 16, SCANNERS),
    Shape("a Google refresh token", "1//0", 20, SCANNERS),
    Shape("a Google AI Studio project", "gen-lang-client-", 6, "Gemini's errors", letters="0-9", is_id=True),
    Shape("an AWS key id", "AKIA ASIA ABIA ACCA A3TX", 16, "gitleaks: aws-access-token", letters=_UPPER),
    Shape("an AWS user or role", "AIDA AROA AGPA AIPA ANPA ANVA", 16, "IAM identifiers, AWS docs", letters=_UPPER),
    Shape("a Bedrock key", "ABSK", 40, "gitleaks: aws-amazon-bedrock-api-key-long-lived", letters=_BASE64),
    Shape(
        "a Bedrock key", "bedrock-api-key-", 16, "gitleaks: aws-amazon-bedrock-api-key-short-lived", letters=_BASE64
    ),
    Shape("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", 16, "gitleaks: github-*", is_certain=False),
    Shape("a GitHub token", "github_pat_", 16, "gitleaks: github-fine-grained-pat"),
    Shape(
        "a GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glffct- glimt- glagent- gloas- glsoat- GR1348941",
        16,
        "gitleaks: gitlab-*",
        letters=_DOTTED,
    ),
    Shape(
        "a Slack token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.xoxb- xoxe.xoxp- xapp-",
        10,
        "gitleaks: slack-*",
    ),
    Shape("an npm token", "npm_", 16, "gitleaks: npm-access-token", is_certain=False),
    Shape("a PyPI token", "pypi-AgE", 16, "gitleaks: pypi-upload-token"),
    Shape("a SendGrid key", "SG.", 30, "gitleaks: sendgrid-api-token", letters=_DOTTED, is_certain=False),
    Shape("a Brevo key", "xkeysib-", 16, "gitleaks: sendinblue-api-token"),
    Shape("a Mailgun key", "key-", 32, "gitleaks: mailgun-private-api-token", letters=_HEX),
    Shape("a Resend key", "re_", 24, SCANNERS, is_certain=False),
    Shape("a webhook's secret", "whsec_", 16, SCANNERS, letters=_BASE64),
    Shape("a Shopify token", "shpat_ shpca_ shppa_ shpss_", 16, "gitleaks: shopify-*"),
    Shape("a Square token", "sq0atp- sq0csp-", 16, "gitleaks: square-access-token; detect-secrets"),
    Shape("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", 16, "gitleaks: digitalocean-*"),
    Shape("a Doppler token", "dp.pt.", 16, "gitleaks: doppler-api-token", letters=_DOTTED),
    Shape("a Dynatrace token", "dt0c01.", 16, "gitleaks: dynatrace-api-token", letters=_DOTTED),
    Shape("a Vault token", "hvs. hvb.", 20, "gitleaks: vault-service-token, vault-batch-token", is_certain=False),
    Shape("a Grafana token", "glc_ glsa_", 16, "gitleaks: grafana-*", letters=_BASE64, is_certain=False),
    Shape("a Linear key", "lin_api_", 16, "gitleaks: linear-api-key"),
    Shape("a Notion token", "ntn_", 20, "gitleaks: notion-api-token", is_certain=False),
    Shape("a Figma token", "figd_", 20, SCANNERS, is_certain=False),
    Shape("a Postman key", "PMAK-", 20, "gitleaks: postman-api-token"),
    Shape("a Prefect key", "pnu_", 20, "gitleaks: prefect-api-token", is_certain=False),
    Shape("a Pulumi token", "pul-", 32, "gitleaks: pulumi-api-token", letters=_HEX),
    Shape("a RubyGems key", "rubygems_", 32, "gitleaks: rubygems-api-token", letters=_HEX),
    Shape("a Sentry token", "sntrys_ sntryu_", 20, "gitleaks: sentry-*", letters=_BASE64),
    Shape("a New Relic key", "NRAK- NRII- NRJS-", 16, "gitleaks: new-relic-*"),
    Shape("a PlanetScale key", "pscale_tkn_ pscale_oauth_ pscale_pw_", 16, "gitleaks: planetscale-*", letters=_DOTTED),
    Shape("a Heroku key", "HRKU-", 20, "gitleaks: heroku-api-key-v2"),
    Shape("a Fly token", "fo1_ fm1a_ fm1r_ fm2_", 20, "gitleaks: flyio-access-token", letters=_BASE64),
    Shape("an Atlassian token", "ATATT3", 20, "gitleaks: atlassian-api-token", letters=_BASE64),
    Shape("a Docker token", "dckr_pat_", 16, SCANNERS),
    Shape("an Alibaba key id", "LTAI", 16, "gitleaks: alibaba-access-key-id", letters="A-Za-z0-9", is_certain=False),
    Shape("a 1Password token", "ops_eyJ", 40, "gitleaks: 1password-service-account-token", letters=_BASE64),
    Shape("an age key", "AGE-SECRET-KEY-1", 32, "gitleaks: age-secret-key", letters=_UPPER),
    Shape("an Infracost key", "ico-", 32, "gitleaks: infracost-api-token", letters="A-Za-z0-9"),
    Shape("a ReadMe key", "rdme_", 32, "gitleaks: readme-api-token"),
    Shape("an Adobe secret", "p8e-", 24, "gitleaks: adobe-client-secret", is_certain=False),
    Shape("a Facebook token", "EAAM EAAC", 60, "gitleaks: facebook-page-access-token", letters="A-Za-z0-9"),
    Shape("an EasyPost key", "EZAK EZTK", 40, "gitleaks: easypost-api-token", letters="A-Za-z0-9"),
    Shape("a Duffel token", "duffel_test_ duffel_live_", 20, "gitleaks: duffel-api-token"),
    Shape("a Flutterwave key", "FLWSECK_TEST-", 12, "gitleaks: flutterwave-secret-key"),
    Shape("a Shippo token", "shippo_live_ shippo_test_", 20, "gitleaks: shippo-api-token"),
    Shape("a Typeform token", "tfp_", 40, "gitleaks: typeform-api-token", letters=_DOTTED),
    Shape("a Clojars token", "CLOJARS_", 40, "gitleaks: clojars-api-token"),
    Shape("a Sourcegraph token", "sgp_", 32, "gitleaks: sourcegraph-access-token", is_certain=False),
    Shape("an OpenShift token", "sha256~", 40, "gitleaks: openshift-user-token"),
    Shape("an Octopus key", "API-", 25, "gitleaks: octopus-deploy-api-key", letters=_UPPER),
    Shape("an Artifactory key", "AKCp cmVmd", 50, "gitleaks: artifactory-*", letters="A-Za-z0-9"),
    Shape("a Supabase key", "sbp_", 20, SCANNERS, is_certain=False),
    Shape("a Frame.io token", "fio-u-", 40, "gitleaks: frameio-api-token"),
    Shape("a Scalingo token", "tk-us-", 40, "gitleaks: scalingo-api-token"),
    Shape("a SettleMint token", "sm_aat_ sm_pat_ sm_sat_", 16, "gitleaks: settlemint-*"),
    Shape("an organisation's id", "org- org_", 8, IDS, letters="A-Za-z0-9", is_certain=False, is_id=True),
    Shape("a project's id", "proj- proj_", 8, IDS, letters="A-Za-z0-9", is_certain=False, is_id=True),
    Shape("an account's id", "acct_ wrkspc_ user-", 8, IDS, letters="A-Za-z0-9", is_certain=False, is_id=True),
    Shape("a request's id", "req_", 8, IDS, letters="A-Za-z0-9", is_certain=False, is_id=True),
)  # fmt: skip


class _Reader(NamedTuple):
    shape: Shape
    begins: re.Pattern[str]
    goes_on: re.Pattern[str]


def _reader(shape: Shape) -> _Reader:
    begins = re.compile(f"[{shape.letters}]{{{shape.least},{max(shape.least, LOOKED_AT)}}}")
    return _Reader(shape, begins, re.compile(f"[{shape.letters}]*+"))


def _either(heads: list[str]) -> str:
    """A pattern for the heads, by their first letters: most places in a text are ruled out by one letter."""
    firsts = sorted({head[0] for head in heads})
    longest = sorted(heads, key=len, reverse=True)
    branches = {first: "|".join(re.escape(head[1:]) for head in longest if head[0] == first) for first in firsts}
    return "|".join(f"{re.escape(first)}(?:{rest})" for first, rest in branches.items())


_BY_HEAD: Final = {head: reader for shape in SHAPES for reader in [_reader(shape)] for head in shape.heads.split()}
_HEADS: Final = re.compile(f"(?<![A-Za-z0-9])(?:{_either(list(_BY_HEAD))})")


_BLOB: Final = re.compile(r"[A-Za-z0-9_-]{32}")


def _is_key(text: str, start: int, tail: str) -> bool:
    """Whether what begins as words may looks generated, and is not part of a longer one: `_sk-` is also base64."""
    before = _BLOB.fullmatch(text, max(0, start - 32), start)
    return looks_random(tail) and not (before and looks_random(before[0]))


def find_shapes(text: str) -> Iterator[Change]:
    """Every key of these shapes. What may fail is read up to a bound, so that the time is linear in the text."""
    at = 0
    while (head := _HEADS.search(text, at)) is not None:
        shape, begins, goes_on = _BY_HEAD[head[0]]
        tail = begins.match(text, head.end())
        at = head.end()
        if tail is None or not (shape.is_certain or _is_key(text, head.start(), tail[0])):
            continue
        rest = goes_on.match(text, tail.end())
        at = rest.end() if rest else tail.end()
        yield Change(head.start(), at, head[0] + REDACTED if shape.is_id else REDACTED, shape.kind)
