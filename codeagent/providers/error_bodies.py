"""What an error says, in any of the shapes and words that services, servers and gateways use.

Among it are refusals of what a model cannot do at all: be told how hard to think, take a
system prompt as such, call tools. Services have words of their own for that, and nothing else tells.
"""

from __future__ import annotations

import re

from codeagent.core.errors import ProviderRejected
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.seldom import seldom
from codeagent.providers.sse import as_list, as_object, as_text

_LONGEST_TITLE = 120
_PAGE = seldom(r"\s*<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_TITLE = seldom(r"<(title|h1)\b[^>]*>(?P<words>[^<]*\w[^<]*)</\1>", re.IGNORECASE)
_TAG = seldom(r"<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]*>", re.IGNORECASE | re.DOTALL)
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "unavailable": 503,
    "overloaded_error": 529,
}
"""The status that a service would have given an error that it reports in mid-stream."""

_WINDOW_NAMED = (
    seldom(r"(?:>|<=|less than)\s?(\d[\d,]*)"),
    seldom(r"(\d[\d,]*) maximum context", re.IGNORECASE),
    seldom(r"input length should be \[\d+, ?(\d[\d,]*)\]", re.IGNORECASE),
    seldom(
        r"(?:context (?:length|window|size|limit)|maximum (?:prompt|model|sequence) length|max_seq_len|allowed"
        r"|\blimit|cannot exceed)[^\d.;]{0,30}(\d[\d,]*)",
        re.IGNORECASE,
    ),
)
"""The ways to name it, the surest first."""
_IN_BRACKETS = seldom(r"(?:context (?:length|window|size)|max_num_tokens|allowed) \((\d[\d,]*)\)", re.IGNORECASE)
_ALONE = seldom(r"\(\d[\d,]*\)")
"""Such a number may be a code of the error's, except right behind the name of the window."""
_OF_BYTES = seldom(r"\bbytes?\b|\d ?[KMG]i?B\b", re.IGNORECASE)
_LEAST_WINDOW = 1_000
_OF_FIREWALLS = frozenset({403, 406})
"""What a web firewall answers with, among others that say less."""
LONGEST_QUOTE = 200
"""Characters of what a service said that are told."""
_FLAGGED = seldom(
    r"flagged|moderat|usage polic|content (?:policy|filter|management)|inappropriate content|guardrail", re.IGNORECASE
)
_OF_ACCOUNT = seldom(r"\b(?:account|organi[sz]ation|api key)\b", re.IGNORECASE)
BUSY = frozenset({408, 409, 425, 429, 499})
_TOO_LONG = seldom(
    r"prompt (?:is )?too long|prompt exceeds (?:the )?max|context[_ ]length"
    r"|context[_ ]?window|context[_ ]size|context limit|maximum context|maximum (?:prompt|model|sequence) length"
    r"|max_seq_len|exceeds? the (?:available|maximum|model'?s?) (?:context|number of (?:input )?tokens)"
    r"|token count\b.{0,40}\bexceeds|must have less than \d+ tokens|must be <= \d+"
    r"|reduce the length of the (?:messages|prompt)|input (?:is|length|tokens?) (?:too long|exceed)"
    r"|exceed(?:s|ed)? (?:the )?model'?s? token limit|range of input length|should not exceed max_num_tokens"
    r"|too many (?:input )?tokens|request_too_large",
    re.IGNORECASE,
)
_FULL = seldom(r"context size has been exceeded|exceed_context_size", re.IGNORECASE)
"""What llama.cpp says with a status of 500 when the window is full in the middle of a reply."""
_NEVER_FITS = seldom(r"request too large", re.IGNORECASE)
"""A single request above the tokens a minute: waiting does not help, a shorter history does."""
_ABOUT_EFFORT = seldom(
    r"effort|(?<![\w-])(?:thinking|reasoning)\b(?: (?:mode|level|budget|setting|parameter|option|control)s?)?['\"`]?"
    r" (?:is |are )?not (?:supported|available|enabled|allowed)"
    r"|not support\w*(?: (?:the|any|parameters?|params?|field|option):?){0,3} ['\"`]?"
    r"(?:thinking|reasoning)\b(?![._\w-])"
    r"|(?:unsupported|unknown|unrecognized|unexpected|invalid)[\w ]{0,30}:? ['\"`](?:thinking|reasoning)['\"`]",
    re.IGNORECASE,
)
_ABOUT_SYSTEM = seldom(
    r"\bsystem\W{0,3}(?:role|message|prompt|instruction)s?\b.{0,30}\b(?:not|un\w+)"
    r"|\brole\b.{0,30}\bnot\b.{0,20}\bsystem\b"
    r"|\b(?:role|value|variant)\W{1,3}system\b|messages\W{1,3}0\W{1,3}role\b|only .{0,30}\broles are supported",
    re.IGNORECASE,
)
_NO_DEVELOPER = seldom(r"\bdeveloper (?:instruction|message|prompt|role)s?\b.{0,30}\b(?:not|un\w+)", re.IGNORECASE)
_NO_TOOLS = seldom(
    r"(?:not|n't) support\w*(?: (?:the|any|parameters?|params?|using):?){0,3} ['\"`]?"
    r"(?:tools?|tool[ _-](?:use|calls?|calling|choice)|function[ _-]?call(?:s|ing)?)\b"
    r"|(?<![\w.-])['\"`]?(?:tools?|tool[ _-](?:use|calls?|calling)|function[ _-]?calls?(?:ing)?)['\"`]?"
    r" (?:is|are) not (?:supported|enabled|available)"
    r"|no endpoints found that support tool use",
    re.IGNORECASE,
)
_STARTED_WITHOUT = {
    "--enable-auto-tool-choice": "--enable-auto-tool-choice and --tool-call-parser with the parser of the model",
    "--jinja": "--jinja",
}
"""Options that a server wants before its models may call tools: of vLLM, and of llama.cpp."""


class WalledOff(ProviderRejected):
    """A web page refused the request: the service's, because of the key, or a firewall's, because of a text in it.

    ``amid`` is the error to tell where the service took earlier requests with the same key.
    """

    def __init__(self, refusal: ProviderRejected, service: str) -> None:
        """``refusal`` is the error to tell where it took none."""
        super().__init__(refusal.message, hint=refusal.hint, status=refusal.status, said=refusal.said)
        text = f"A firewall in front of {service} refused the request (HTTP {refusal.status}){quoted(refusal.said)}"
        hint = "Something in it looks like an attack to the firewall. Say it in other words."
        self.amid = ProviderRejected(text, hint=hint, status=refusal.status, said=refusal.said)


def told_apart(refusal: ProviderRejected, body: str, service: str) -> ProviderRejected:
    """The refusal, as one that may be a firewall's where a page came with it."""
    is_walled_off = refusal.status in _OF_FIREWALLS and is_page(body)
    return WalledOff(refusal, service) if is_walled_off else refusal


def quoted(said: str) -> str:
    """The beginning of what a service said, to stand at the end of a sentence; a full stop where it said nothing."""
    said = said.strip().rstrip(".")
    said = said if len(said) <= LONGEST_QUOTE else said[:LONGEST_QUOTE] + " …"
    return f": {said}." if said else "."


def is_flagged(said: str) -> bool:
    """Whether it is the content of the request that was found not to be allowed."""
    return _FLAGGED().search(said) is not None and _OF_ACCOUNT().search(said) is None


def is_page(text: str) -> bool:
    """Whether it begins as a web page does."""
    return _PAGE().match(text) is not None


def said_by_page(page: str) -> str:
    """The title of a web page that came in place of an answer, or its first words."""
    title = _TITLE().search(page)
    words = " ".join((title["words"] if title else _TAG().sub(" ", page)).split())
    return words if len(words) <= _LONGEST_TITLE else words[:_LONGEST_TITLE] + " …"


def error_of(body: JsonValue) -> tuple[str, str]:
    """Type or code, and message, of an error in any of the shapes that services use."""
    error = as_object(body).get("error") or body
    if isinstance(error, str):
        return "", error
    details = as_object(error)
    kind = as_text(details.get("code")) or as_text(details.get("type"))
    detail = details.get("detail")
    said = as_text(details.get("message")) or as_text(detail) or as_text(as_object(body).get("message"))
    if (field := as_text(details.get("param"))) and "effort" in field and field not in said:
        said = f"{field}: {said}"  # a value that is refused may be named without it
    return kind, said or "; ".join(filter(None, map(_misfit_in, as_list(detail))))


def _misfit_in(found: JsonValue) -> str:
    """What a server written with FastAPI says of one field of a request that it does not take."""
    place = ".".join(str(part) for part in as_list(as_object(found).get("loc")))
    said = as_text(as_object(found).get("msg"))
    return f"{place}: {said}" if place and said else said


def status_of(error: JsonObject) -> int:
    """The HTTP status that an error would have had, as far as its code, type or status tells; else 0."""
    for word in (error.get(key) for key in ("code", "status", "type")):
        if isinstance(word, int):
            return word
        text = as_text(word).lower()
        if found := int(text) if text.isdecimal() else _STATUS_OF_TYPE.get(text, 0):
            return found
    return 0


def window_named(body: JsonValue) -> int | None:
    """The window in tokens that an error names in a field of its own, as llama.cpp does; None when it has none."""
    error = as_object(as_object(body).get("error")) or as_object(body)
    size = error.get("n_ctx")
    return size if isinstance(size, int) and size >= _LEAST_WINDOW else None


def window_in(said: str) -> int | None:
    """The window in tokens that a refusal names, None when it names none."""
    if _OF_BYTES().search(said):
        return None
    rest = _ALONE().sub("", said)
    named = (*_IN_BRACKETS().findall(said), *(found for words in _WINDOW_NAMED for found in words().findall(rest)))
    sizes = (int(found.replace(",", "")) for found in named)
    return next((size for size in sizes if size >= _LEAST_WINDOW), None)


def is_busy(status: int) -> bool:
    """Whether it says that the same request may be taken later."""
    return (status in BUSY or status >= 500) and status != 501  # noqa: PLR2004


def speaks_of_length(said: str) -> bool:
    """Whether the words are about a history that is too long."""
    return _TOO_LONG().search(said) is not None


def is_too_long(status: int, said: str) -> bool:
    """Whether a refusal is about the length of the history."""
    if status in BUSY:
        return _NEVER_FITS().search(said) is not None
    return (_TOO_LONG if status < 500 else _FULL)().search(said) is not None  # noqa: PLR2004


def trouble_of(status: int) -> str:
    """What is the matter with a service that may take the request later, behind its name."""
    match status:
        case 429:
            return "is getting too many requests from this account"
        case 529 | 503:
            return "is overloaded"
        case _:
            return f"failed (HTTP {status})"


class ToolsRefused(ProviderRejected):
    """No request with tools is taken, whatever it says: this model cannot call any, or its server does not let it."""


def is_about_effort(refusal: str) -> bool:
    """Whether a model refused to be told how hard to think."""
    return _ABOUT_EFFORT().search(refusal) is not None


def is_about_system(refusal: str) -> bool:
    """Whether the role of the system prompt was refused."""
    return (_ABOUT_SYSTEM().search(refusal) or _NO_DEVELOPER().search(refusal)) is not None


def offers_developer(refusal: str) -> bool:
    """Whether such a refusal names the role that newer models of OpenAI know in place of it."""
    return "developer" in refusal and _NO_DEVELOPER().search(refusal) is None


def tools_refused(said: str, status: int, model: str, place: str) -> ToolsRefused | None:
    """The error where a service takes no tools; None where its refusal is about something else.

    ``place`` is its address.
    """
    option = next((given for name, given in _STARTED_WITHOUT.items() if name in said and "tool" in said), None)
    if option:
        text = f"The server at {place} was not started for models that call tools{quoted(said)}"
        hint = f"Start it with {option}, or choose another model with /model or --model."
    elif _NO_TOOLS().search(said):
        text = f"{model} cannot call tools, and no work can be done without them{quoted(said)}"
        hint = "Choose another model with /model or --model."
    else:
        return None
    return ToolsRefused(text, hint=hint, status=status, said=said)
