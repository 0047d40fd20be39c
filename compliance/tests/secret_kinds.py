"""Made-up secrets of many kinds, and texts that only look like secrets.

A secret is assembled when it is needed, from its beginning and letters drawn from a seed, so that no scanner takes this
file for a leak.
"""

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
LOWER = string.ascii_lowercase + string.digits
BASE64 = ALNUM + "+/"


class Made(NamedTuple):
    """A made-up secret: the text in which it stands, and the part that must never be read again."""

    text: str
    private: str


def letters(alphabet: str, count: int, seed: str) -> str:
    """Letters as a generator of keys draws them, the same ones every time; the ends are letters or digits."""
    draw = random.Random(seed)
    drawn = "".join(draw.choice(alphabet) for _ in range(count - 2))
    plain = [letter for letter in alphabet if letter.isalnum()]
    return draw.choice(plain) + drawn + draw.choice(plain)


def _headed(name: str, head: str, alphabet: str, count: int) -> Made:
    tail = letters(alphabet, count, name)
    return Made(head + tail, tail)


def _framed(name: str, before: str, alphabet: str, count: int, after: str = "") -> Made:
    inner = letters(alphabet, count, name)
    return Made(before + inner + after, inner)


def _parts(name: str, *parts: str | tuple[str, int]) -> Made:
    drawn = [part if isinstance(part, str) else letters(*part, f"{name}{at}") for at, part in enumerate(parts)]
    return Made("".join(drawn), "".join(drawn))


def _uuid(name: str, before: str) -> Made:
    drawn = random.Random(name).getrandbits(128)
    made = str(uuid.UUID(int=drawn, version=4))
    return Made(before + made, made)


def _pem(name: str, kind: str) -> Made:
    lines = [letters(BASE64, 64, f"{name}{at}") for at in range(6)]
    dashes = "-" * 5
    body = "\n".join(lines)
    return Made(f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}\n{body}\n{dashes}END {kind}PRIVATE KEY{dashes}", lines[3])


HEADED: dict[str, tuple[str, str, int]] = {
    "OpenAI": ("sk-", ALNUM, 48),
    "OpenAI, project": ("sk-proj-", WORD, 120),
    "OpenAI, service account": ("sk-svcacct-", WORD, 120),
    "OpenAI, administrator": ("sk-admin-", WORD, 120),
    "OpenAI, session": ("sess-", ALNUM, 40),
    "Anthropic": ("sk-ant-" + "api03-", WORD, 95),
    "Anthropic, administrator": ("sk-ant-" + "admin01-", WORD, 95),
    "Claude Code": ("sk-ant-" + "oat01-", WORD, 95),
    "OpenRouter": ("sk-or-" + "v1-", HEX, 64),
    "DeepSeek": ("sk-", HEX, 32),
    "Google": ("AI" + "za", WORD, 35),
    "Google, new": ("A" + "Q.", WORD, 50),
    "Google OAuth, access": ("ya" + "29.", WORD, 120),
    "Google OAuth, refresh": ("1/" + "/0", WORD, 100),
    "Google OAuth, client secret": ("GOC" + "SPX-", WORD, 28),
    "Groq": ("g" + "sk_", ALNUM, 52),
    "xAI": ("x" + "ai-", ALNUM, 80),
    "Perplexity": ("pp" + "lx-", ALNUM, 48),
    "Cerebras": ("c" + "sk-", LOWER, 48),
    "NVIDIA": ("nv" + "api-", WORD, 64),
    "Together": ("tgp_" + "v1_", WORD, 43),
    "Replicate": ("r" + "8_", ALNUM, 37),
    "Fireworks": ("f" + "w_", ALNUM, 24),
    "Hugging Face": ("h" + "f_", string.ascii_letters, 34),
    "Hugging Face, organisation": ("api_" + "org_", string.ascii_letters, 34),
    "Pinecone": ("pc" + "sk_", ALNUM, 60),
    "LangSmith": ("lsv2_" + "pt_", HEX, 40),
    "Databricks": ("da" + "pi", HEX, 32),
    "AWS, long-lived": ("AK" + "IA", UPPER, 16),
    "AWS, temporary": ("AS" + "IA", UPPER, 16),
    "AWS, a role's id": ("AR" + "OA", UPPER, 17),
    "Bedrock, long-lived": ("AB" + "SK", BASE64, 128),
    "Bedrock, short-lived": ("bedrock-api-" + "key-", BASE64, 200),
    "GitHub, personal": ("gh" + "p_", ALNUM, 36),
    "GitHub, OAuth": ("gh" + "o_", ALNUM, 36),
    "GitHub, user of an app": ("gh" + "u_", ALNUM, 36),
    "GitHub, server of an app": ("gh" + "s_", ALNUM, 36),
    "GitHub, refresh": ("gh" + "r_", ALNUM, 76),
    "GitHub, fine-grained": ("github" + "_pat_", ALNUM + "_", 82),
    "GitLab, personal": ("gl" + "pat-", WORD, 20),
    "GitLab, deploy": ("gl" + "dt-", WORD, 20),
    "GitLab, runner": ("gl" + "rt-", WORD, 20),
    "GitLab, trigger": ("gl" + "ptt-", HEX, 40),
    "Slack, bot": ("xo" + "xb-", string.digits, 12),
    "Slack, user": ("xo" + "xp-", ALNUM + "-", 70),
    "Slack, app": ("xa" + "pp-1-", ALNUM + "-", 80),
    "npm": ("np" + "m_", ALNUM, 36),
    "PyPI": ("py" + "pi-AgEIcHlwaS5vcmc", WORD, 150),
    "SendGrid": ("S" + "G.", WORD, 66),
    "Brevo": ("xkey" + "sib-", HEX, 64),
    "Mailgun": ("k" + "ey-", HEX, 32),
    "Stripe": ("sk_" + "live_", ALNUM, 24),
    "Stripe, restricted": ("rk_" + "live_", ALNUM, 24),
    "Stripe, webhook": ("wh" + "sec_", ALNUM, 32),
    "Shopify": ("sh" + "pat_", HEX, 32),
    "Square": ("sq0" + "csp-", WORD, 43),
    "DigitalOcean": ("dop_" + "v1_", HEX, 64),
    "Doppler": ("dp." + "pt.", ALNUM, 43),
    "Vault": ("h" + "vs.", WORD, 95),
    "Grafana": ("gl" + "sa_", ALNUM, 41),
    "Linear": ("lin_" + "api_", ALNUM, 40),
    "Notion": ("nt" + "n_", ALNUM, 46),
    "Figma": ("fi" + "gd_", WORD, 40),
    "Postman": ("PM" + "AK-", HEX, 59),
    "Pulumi": ("pu" + "l-", HEX, 40),
    "RubyGems": ("ruby" + "gems_", HEX, 48),
    "Sentry": ("sn" + "tryu_", HEX, 64),
    "New Relic": ("NR" + "AK-", UPPER, 27),
    "PlanetScale": ("pscale_" + "pw_", WORD, 43),
    "Heroku": ("HR" + "KU-AA", WORD, 58),
    "Atlassian": ("ATA" + "TT3", ALNUM, 180),
    "Docker": ("dckr_" + "pat_", WORD, 27),
    "Alibaba": ("LT" + "AI", ALNUM, 20),
    "age": ("AGE-SECRET-" + "KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "Tavily": ("tv" + "ly-", ALNUM, 32),
    "an organisation of OpenAI": ("or" + "g-", ALNUM, 24),
    "a project of OpenAI": ("pro" + "j_", ALNUM, 24),
    "a user of OpenAI": ("use" + "r-", ALNUM, 24),
    "a request of Anthropic": ("re" + "q_", ALNUM, 24),
}
"""How keys begin, what they are made of, and how many letters follow."""

FRAMED: dict[str, Callable[[str], Made]] = {
    "an AWS secret beside its id": lambda name: Made(
        f"{'AK' + 'IA'}{letters(UPPER, 16, 'id')}:{letters(BASE64, 40, name)}", letters(BASE64, 40, name)
    ),
    "an AWS secret with its name": lambda name: _framed(name, "aws_secret_access_key = ", BASE64, 40),
    "an ARN of a user": lambda name: _framed(name, "arn:aws:iam::", string.digits, 12, ":user/jane"),
    "an ARN of Bedrock": lambda name: _framed(
        name, "arn:aws:bedrock:us-east-1:", string.digits, 12, ":inference-profile/us.anthropic.claude"
    ),
    "an Azure resource": lambda name: Made(
        f"{_uuid(name, '/subscriptions/').text}/resourceGroups/acme-rg/providers/Microsoft.CognitiveServices",
        _uuid(name, "").private,
    ),
    "an Azure storage key": lambda name: _framed(name, "AccountName=acme;AccountKey=", BASE64, 86, "=="),
    "a secret of Microsoft Entra": lambda name: _parts(name, (ALNUM, 3), "8Q~", (ALNUM, 34)),
    "an Azure key with its name": lambda name: _framed(name, "AZURE_OPENAI_API_KEY=", HEX, 32),
    "a Cohere key with its name": lambda name: _framed(name, 'cohere_api_key: "', ALNUM, 40, '"'),
    "a Mistral key with its name": lambda name: _framed(name, "export MISTRAL_API_KEY=", ALNUM, 32),
    "a Zhipu key": lambda name: _parts(name, (HEX, 32), ".", (ALNUM, 16)),
    "a bearer token": lambda name: _framed(name, "Authorization: Bearer ", ALNUM, 40),
    "a basic authorization": lambda name: _framed(name, "authorization: Basic ", ALNUM, 40, "=="),
    "a name and a password": lambda _: Made("Basic " + "dXNlcjpw" + "YXNzd29y" + "ZA", "dXNlcjpw" + "YXNzd29y" + "ZA"),
    "the number of an AWS account": lambda name: _framed(name, '"AccountId":"', "123456789", 12, '"'),
    "another scheme": lambda name: _framed(name, "Authorization: Token ", HEX, 40),
    "a JSON web token": lambda name: _parts(name, "ey" + "J", (ALNUM, 30), ".", (ALNUM, 60), ".", (WORD, 43)),
    "a private key": lambda name: _pem(name, "RSA "),
    "a private key of PKCS 8": lambda name: _pem(name, ""),
    "a session cookie": lambda name: _framed(name, "Cookie: session=", ALNUM, 32),
    "a password in a URL": lambda name: _framed(name, "postgres://admin:", ALNUM, 20, "@db.acme.com/main"),
    "a signed URL": lambda name: _framed(name, "https://blob.acme.com/a.png?sv=2030&sig=", ALNUM, 43),
    "a Slack webhook": lambda name: _framed(name, "https://hooks.slack.com/services/T00AB/B00CD/", ALNUM, 24),
    "a Discord webhook": lambda name: _framed(name, "https://discord.com/api/webhooks/123456789012345678/", WORD, 68),
    "a Discord bot": lambda name: _parts(name, "M", (ALNUM, 23), ".", (ALNUM, 6), ".", (WORD, 27)),
    "a Telegram bot": lambda name: _parts(name, ("123456789", 10), ":AA", (WORD, 33)),
    "a Twilio key": lambda name: _parts(name, "S" + "K", (HEX, 32)),
    "a Mailchimp key": lambda name: _parts(name, (HEX, 32), "-us12"),
    "a Terraform token": lambda name: _parts(name, (ALNUM, 14), ".atlas" + "v1.", (ALNUM, 64)),
    "an organisation's UUID": lambda name: _uuid(name, "organization_id: "),
    "a project's UUID": lambda name: _uuid(name, "in project "),
    "a user's UUID": lambda name: _uuid(name, "user_id="),
    "a tenant's UUID": lambda name: _uuid(name, "tenant '"),
    "a user of Claude Code": lambda name: _uuid(name, f"user_{letters(HEX, 64, name)}_account_"),
    "a project of Google Cloud": lambda name: _framed(name, "projects/", LOWER, 16, "/locations/us-central1"),
    "a project's number": lambda name: _framed(name, "has not been used in project ", "123456789", 12, " before"),
    "a mail address": lambda name: _framed(name, "write to ", LOWER, 10, "@mail.acme.co.uk"),
    "an IP address": lambda _: Made("request from 84.115.23.77 was blocked", "84.115.23.77"),
    "an IP address of version 6": lambda _: Made("your address is 2a02:8388:1604:9f80::7", "2a02:8388:1604:9f80::7"),
}  # fmt: skip
"""Secrets that are known by what is around them, or by their whole form."""


def kinds() -> dict[str, Made]:
    """Every made-up secret by its kind."""
    headed = {name: _headed(name, *shape) for name, shape in HEADED.items()}
    return headed | {name: make(name) for name, make in FRAMED.items()}


STAY = (
    "sk-learn-contrib", "xai-explainability-toolkit", "pk_constraint_users_id", "git@github.com:acme/tool.git",
    "see projects/website for the sources", "src/projects/models/user.py", "projects/{project}/locations/{location}",
    "projects/PROJECT_ID/locations/LOCATION", "-----BEGIN " + "PRIVATE KEY-----",
    "a line like -----BEGIN RSA " + "PRIVATE KEY----- begins the file",
    "a basic understanding of bearer responsibilities", "Bearer of good tidings", "Bearer <your-token>",
    "Basic arithmetic", "org_creationdate, req_uirements", "user-friendliness", "project-management",
    "org-mode-documentation", "user-agent-stylesheet", "proj-euler-solutions",
    "task-management-systems, risk-adjusted-return-on-capital", "sk_buffer_allocation_failed", "pk-fire-brimstone",
    "hf_hub_download_with_progress", "fw_upgrade_in_progress_now", "npm_config_registry_location",
    "re_compile_pattern", "gsk_widget_set_sensitive_now", "key-value-store-implementation", "pa-ratio-of-the-company",
    "tgp_migration_helper", "csk-tokenizer-vocabulary", "gw-basic-interpreter", "jina_reranker_multilingual",
    "xai-grok-vision-models-overview", "the token is: undefined", "max_tokens=4096, top_k=40",
    "password: correct horse battery", "api_key=YOUR_API_KEY", "api_key = os.environ['MY_PROVIDER_KEY']",
    "secret_name: my-database-credentials", "token = tokenizer.next_token()", "?key=YOUR_API_KEY&alt=sse",
    "https://user:password@localhost/db", "logo@2x.png", "@app.route('/users')",
    "jane@example.com, joe@mail.example.org", "noreply@anthropic.com", "me@host.invalid",
    "claude-3-7-sonnet@20250219", "127.0.0.1:8000 and 0.0.0.0", "192.168.178.20, 10.0.0.7, 172.16.0.1",
    "a resolver such as 8.8.8.8", "version 1.2.3.4", "Chrome/120.0.0.0 Safari/537.36", "::1 and fe80::1",
    "12:34:56, 2030:01:02", "de:ad:be:ef:00:01", "chatcmpl-4f39f3af-3267-4ac1-a0cf-6aa7451877dc",
    "id 62bf2bb7-56af-4e3a-883b-83d4aad54da1", "call_c1cb687a-5838-4276-a567-d2f58ff41ce1",
    "toolu_01A09q90qw90lq917835lq9", "msg_013Zva2CMHLNnXjNJJKqJ2EF",
    "resp_68af4030baa48193b0b43b4c2a176a1a0e6967589f080e78", "fp_44709d6fcb", "call_O8vNyvRPbFe4qGiQ2Wqo5dxQ",
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku", "gpt-4o-2024-08-06",
    "us.amazon.nova-lite-v1:0", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "1f3870be274f6c49b3e31a0c6728957f", "the session cookie is set by the server", "ASIAPACIFICREGION",
    "eyJust a word. Another.", "SK-II, AC/DC, SG.1", "the account of 2030-01-02", "account 12",
    "C:\\new\\table\\users", "100 % of %s and %d", "\\u00e4\\u00f6\\u00fc", "SELECT token, secret FROM keys",
    "Authorization: required", "Cookie: a small biscuit", "x-api-key: <key>",
)  # fmt: skip
"""Texts that look like secrets at first sight and are none."""
