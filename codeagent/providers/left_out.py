"""What a model's service refused to be sent, and what goes in its place from then on.

A history lives longer than one model: what one took, another refuses, and would
refuse in each request that follows. Such things are left out of what is sent;
the history itself keeps them for the next model. What was learnt so is kept with
the replies, so that a session that is resumed pays for no refusal again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from codeagent.core.errors import ProviderError
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
    ImageBlock,
    Message,
    OpaqueBlock,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
    UserMessage,
)
from codeagent.core.refused import TEXTS, without_texts
from codeagent.core.seldom import seldom
from codeagent.core.text import storable
from codeagent.core.values import value
from codeagent.providers.catalog import ProviderKind
from codeagent.providers.error_bodies import WalledOff
from codeagent.providers.image_sizes import beyond_number, images_in, meant, shown_now
from codeagent.providers.refused_texts import Guesses, blames_content, named, said_again, trouble_of
from codeagent.providers.sse import as_list, as_object, as_text, parse_object

_REFUSALS = frozenset({400, 404, 413, 415, 422})
_FAULTS = frozenset({500, 501})  # llama.cpp answers so to images that it cannot take
_TOO_LARGE = 413
_ABOUT_IMAGES = seldom(
    r"\bimages?\b|image_url|input_image|image/|mmproj|multi-?modal|\bvision\b|unsupported content"
    r"|content\b.{0,40}\b(?:must|should|expected)\b.{0,10}\bstring",
    re.IGNORECASE,
)
_ABOUT_ONE = seldom(
    r"too (?:large|big|small|many)|exceed|dimension|resolution|pixels|corrupt|decode|process|download|read"
    r"|base64|media[_ ]?type|mime|format|\binvalid image|\bempty",
    re.IGNORECASE,
)
_ABOUT_THINKING = seldom(
    r"thinking|signature|encrypted|reasoning|server_tool_use|input tag|(?:content|input)\b.{0,40}\btype\b"
    r"|extra inputs|additional propert|not persisted"
    r"|(?:unknown|unrecognized|unexpected|invalid) (?:field|param|item|value|variant|request argument)"
    r"|propert(?:y|ies) '[^']*' (?:is|are) (?:unsupported|not)",
    re.IGNORECASE,
)
"""What only its own service can read: thinking, and blocks, items and fields that nobody else knows."""

_ABOUT_ROLES = seldom(r"user\W+(?:role|after role|after)\W+tool\b|roles must alternate", re.IGNORECASE)
"""Mistral's service, and its chat templates in servers, want an answer before the person says something more."""

_TOLD_TOGETHER = frozenset({
    "", "type", "role", "content", "text", "id", "index", "name", "input", "data", "status", "summary", "msg", "loc",
    "thinking", "redacted_thinking", "signature", "reasoning", "encrypted_content",
})  # fmt: skip
"""Names that say nothing on their own, or stand for thinking as a whole."""
_NAME = seldom(r"[A-Za-z_][\w-]{0,39}", re.ASCII)
"""What can be a field's name: a service may quote all that it refuses, with the values."""
_SWITCHES = ("all_images", "thinking", "has_bridges")
_DIGITS = 32
_LONGEST_CORRECTION = 2_000
NO_IMAGES = "does not take images"
IMAGE_REFUSED = "the service refused it"


@value
class LeftOut:
    """What is not sent: every image or those that were refused, fields and texts that were, and the model's thoughts.

    With ``has_bridges``, a word of the model's stands between results and what the person says next.
    """

    all_images: bool = False
    images: frozenset[ImageBlock] = frozenset()
    fields: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    thinking: bool = False
    has_bridges: bool = False

    def __bool__(self) -> bool:
        return self.all_images or bool(self.images) or bool(self.fields) or bool(self.texts) or self.thinking

    def without(self, message: Message) -> Message:
        """The message as it is sent: a short note in the place of each image, and of each text that was refused."""
        message = without_texts(message, self.texts) if self.texts else message
        match message:
            case UserMessage():
                return replace(message, blocks=tuple(map(self._shown, message.blocks)))
            case ResultsMessage():
                results = tuple(
                    replace(result, blocks=tuple(map(self._shown, result.blocks))) for result in message.results
                )
                return replace(message, results=results)
            case AssistantMessage():
                if self.thinking:
                    return replace(message, blocks=_unthought(message))
                return replace(message, blocks=_without_fields(message.blocks, self.fields)) if self.fields else message

    def leaves(self, image: ImageBlock) -> bool:
        """Whether this image is not sent."""
        return self.all_images or image in self.images

    def _shown(self, block: TextBlock | ImageBlock) -> TextBlock | ImageBlock:
        if not isinstance(block, ImageBlock) or not self.leaves(block):
            return block
        why = IMAGE_REFUSED if block in self.images else f"the model {NO_IMAGES}"
        name = f"{block.name} " if block.name else ""
        return TextBlock(text=f"[image {name}left out: {why}]")


class Taken:
    """What one model's service takes, as far as its refusals have told."""

    def __init__(self, model: str) -> None:
        """``model`` is its name in the form that ``--model`` takes."""
        self.left_out = LeftOut()
        self.corrections: tuple[str, ...] = ()
        self._has_recalled = self._tells_texts = False
        self._said, self._fault, self._trouble = "", "", ("", "")
        self._model = model
        self._words = re.compile(re.escape(model.partition("/")[2] or model), re.IGNORECASE)
        self._good: set[ImageBlock] = set()
        self._accepted: tuple[Message, ...] = ()
        self._guesses = Guesses(model)
        self._round: Iterator[frozenset[str]] | None = None

    @property
    def learnt(self) -> str:
        """All that was learnt, to be kept with the next reply; empty when there is nothing."""
        return _as_json(self.left_out, self.corrections, tells_texts=self._tells_texts)

    def recall(self, messages: Sequence[Message]) -> Sequence[str]:
        """Takes up once what the model's last reply says was learnt, in another process too.

        The refusals that correct the form of the requests and are not known yet.
        """
        if self._has_recalled:
            return ()
        own = (one for one in reversed(messages) if isinstance(one, AssistantMessage) and one.model == self._model)
        last = next(own, None)
        self._has_recalled = last is not None
        if last is None or not last.learnt:
            return ()
        told = as_object(parse_object(last.learnt))
        self._tells_texts = TEXTS in told
        self.left_out = _from_json(told, self.left_out, messages)
        corrections = tuple(map(as_text, as_list(told.get("corrections"))))
        fresh = tuple(refusal for refusal in corrections if refusal not in self.corrections)
        self.corrections += fresh
        return fresh

    def note_correction(self, refusal: str) -> None:
        """Remembers a refusal that changed the form of the requests."""
        self.corrections += (storable(refusal[:_LONGEST_CORRECTION]),)

    def after(self, refusal: ProviderError, messages: Sequence[Message]) -> LeftOut:
        """What to leave out so that the refusal does not come again; what is left out now when it is about none."""
        known, status = self.left_out, refusal.status or 0
        if refusal.status is not None and status not in _REFUSALS | _FAULTS:
            return known
        said = self._words.sub("", refusal.said)
        if _ABOUT_ROLES().search(said):
            return replace(known, has_bridges=True)
        after = self._without(said, status, messages)
        self._said = refusal.message.partition(": ")[2] if after.images != known.images else self._said
        return after

    def begin(self, messages: Sequence[Message]) -> None:
        """Before a request: a refused text is sent all the same where the person says just that once more."""
        self._round = None
        if again := said_again(messages, self.left_out.texts) | self._guesses.sent_on_trial(messages):
            self.left_out = replace(self.left_out, texts=self.left_out.texts - again)

    def learns(self, refusal: ProviderError, messages: Sequence[Message], *, is_last: bool = False) -> bool:
        """Whether something is left out now so that it is worth asking once more; ``is_last``: else nobody does."""
        after = self.after(refusal, messages)
        is_poisoned = is_last and self._guesses.ends_alike(refusal, messages) and self._has_answered(messages)
        is_repeated, self._fault = refusal.said == self._fault, refusal.said
        is_blamed = self.at_firewall(refusal, messages) or blames_content(refusal, is_repeated=is_repeated)
        if after == self.left_out and (is_blamed or is_poisoned):
            self._round = self._round or self._guessed(refusal, messages)
            after = replace(after, texts=next(self._round, after.texts))
        is_other, self.left_out = after != self.left_out, after
        return is_other

    def at_firewall(self, refusal: ProviderError, messages: Sequence[Message]) -> ProviderError | None:
        """What to tell of a page that refused a request where earlier ones were taken; None of any other refusal."""
        return refusal.amid if isinstance(refusal, WalledOff) and self._has_answered(messages) else None

    def _has_answered(self, messages: Sequence[Message]) -> bool:
        own = (one for one in messages if isinstance(one, AssistantMessage) and one.model == self._model)
        return bool(self._accepted) or any(own)

    def _guessed(self, refusal: ProviderError, messages: Sequence[Message]) -> Iterator[frozenset[str]]:
        """Which texts to leave out, one set after the other, where nothing tells what a refusal is about."""
        self._trouble = trouble_of(refusal)
        return self._guesses.after(refusal.said, self.left_out.texts, messages, self._accepted)

    def _without(self, said: str, status: int, messages: Sequence[Message]) -> LeftOut:
        known = self.left_out
        is_about_images = _ABOUT_IMAGES().search(said) is not None
        every = [image for image in images_in(messages) if not known.leaves(image)]
        sent = set(every)
        if oldest := beyond_number(said, every):
            return replace(known, images=known.images | oldest)
        if sent and is_about_images and status != _TOO_LARGE and not _ABOUT_ONE().search(said):
            return replace(known, all_images=True)
        fresh = sent - self._good.union(images_in(self._accepted))
        if fresh and (is_about_images or status in _REFUSALS):
            return replace(known, images=known.images | (_refused_elsewhere(fresh, messages) or meant(said, fresh)))
        if sent and (is_about_images or status == _TOO_LARGE):
            return replace(known, images=known.images | meant(said, sent))
        if _ABOUT_THINKING().search(said) and not known.thinking and any(map(_has_thinking, messages)):
            fields = _named_in(said, messages) - known.fields
            return replace(known, fields=known.fields | fields) if fields else replace(known, thinking=True)
        return known

    def accepted(self, messages: Sequence[Message], before: LeftOut) -> str:
        """Remembers that a request went through; a sentence for the person when something was left out of it anew.

        ``before`` is what was left out before that request. The images in it are looked
        for when a refusal makes them matter, or when a history of other messages follows.
        """
        if tuple(messages[: len(self._accepted)]) != self._accepted:
            self._good.update(images_in(self._accepted))
        self._accepted, self._fault = tuple(messages), ""
        self._tells_texts = self._tells_texts or bool(self.left_out.texts)
        fresh = self.left_out.texts - before.texts
        if good := self._guesses.went_through(messages, fresh):
            return f"The service did not refuse {named(messages, good)}, so {self._model} is sent it again."
        if fresh:
            kept = f"so it is left out of what {self._model} is sent and stays in the session"
            return f"{self._trouble[0]} {named(messages, fresh)}, {kept}.{self._trouble[1]}"
        return self._news(messages, before)

    def _news(self, messages: Sequence[Message], before: LeftOut) -> str:
        now = self.left_out
        if now.all_images and not before.all_images:
            return f"{self._model} {NO_IMAGES}: the images of this session are left out of what it is sent."
        if fresh := now.images - before.images:
            names = ", ".join(sorted(image.name or "an image" for image in fresh))
            which = "an image, so it is" if len(fresh) == 1 else "images, so they are"
            why = f" It said: {self._said}" if self._said else ""
            return f"The service refused {which} left out of what {self._model} is sent: {names}.{why}"
        if held := [image for image in shown_now(messages) if image in before.images]:
            names = ", ".join(sorted(image.name or "an image" for image in held))
            return f"The service refused this before, so it is left out of what {self._model} is sent again: {names}."
        if now.thinking and not before.thinking:
            return f"The service refused earlier thinking, so it is left out of what {self._model} is sent."
        if fresh_fields := now.fields - before.fields:
            names = ", ".join(sorted(fresh_fields))
            return f"The service refused {names} of earlier replies, so it is left out of what {self._model} is sent."
        return ""


def _refused_elsewhere(images: Iterable[ImageBlock], messages: Iterable[Message]) -> frozenset[ImageBlock]:
    """Those that the service of another model refused earlier in the session."""
    told = {one.learnt for one in messages if isinstance(one, AssistantMessage) and one.learnt}
    refused = {as_text(image) for one in told for image in as_list(as_object(parse_object(one)).get("images"))}
    return frozenset(image for image in images if _digest(image) in refused)


def _has_thinking(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and _unthought(message) != message.blocks


def _unthought(message: AssistantMessage) -> tuple[AssistantBlock, ...]:
    return tuple(block for block in message.blocks if not isinstance(block, ThinkingBlock | OpaqueBlock))


def without_own(message: AssistantMessage) -> AssistantMessage:
    """The reply without what only its own service could read; its thinking is there to be shown alone."""
    blocks = (replace(block, signature="") if isinstance(block, ThinkingBlock) else block for block in message.blocks)
    return replace(message, blocks=tuple(block for block in blocks if not isinstance(block, OpaqueBlock)))


def _named_in(refusal: str, messages: Iterable[Message]) -> frozenset[str]:
    """Which fields and kinds of what the messages keep for a service its refusal names, as fields are written there."""
    names = {name for message in messages if isinstance(message, AssistantMessage) for name in _names_of(message)}
    fields = {name for name in names - _TOLD_TOGETHER if _NAME().fullmatch(name)}
    return frozenset(name for name in fields if re.search(_written(name), refusal))


def _without_fields(blocks: Iterable[AssistantBlock], names: frozenset[str]) -> tuple[AssistantBlock, ...]:
    """The blocks without the fields, parts and items of these names."""
    return tuple(kept for block in blocks if (kept := _cut(block, names)) is not None)


def _written(name: str) -> str:
    """In quotes, at the end of a path, or behind a colon."""
    return rf"(?:['\"`.\]]|: ){re.escape(name)}(?!\w)"


def _names_of(message: AssistantMessage) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, OpaqueBlock):
            yield from _names_in(parse_object(block.payload_json))
        elif isinstance(block, ThinkingBlock) and block.provider != ProviderKind.ANTHROPIC:
            yield block.signature  # in Chat Completions the name of the field that it came in


def _names_in(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        yield as_text(value.get("type"))
        yield from value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _names_in(part)


def _cut(block: AssistantBlock, names: frozenset[str]) -> AssistantBlock | None:
    """The block as it is sent; None when nothing of it is left."""
    if isinstance(block, ThinkingBlock):
        return None if block.signature in names else block
    if not isinstance(block, OpaqueBlock) or (payload := parse_object(block.payload_json)) is None:
        return block
    if _is_one(payload, names):
        return None
    left = as_object(_without(payload, names))
    if left == payload:
        return block
    is_wrapping = len(payload) == 1 and not all(left.values())  # such as the fields of a text, all of them gone
    return None if is_wrapping else OpaqueBlock(provider=block.provider, payload_json=json.dumps(left))


def _is_one(value: JsonValue, names: frozenset[str]) -> bool:
    """Whether it is of a kind with one of the names."""
    return as_text(as_object(value).get("type")) in names


def _without(value: JsonValue, names: frozenset[str]) -> JsonValue:
    """The value without what bears one of the names."""
    if isinstance(value, dict):
        return {
            key: _without(part, names) for key, part in value.items() if key not in names and not _is_one(part, names)
        }
    if isinstance(value, list):
        return [_without(part, names) for part in value if not _is_one(part, names)]
    return value


def _as_json(left_out: LeftOut, corrections: Sequence[str], *, tells_texts: bool) -> str:
    """What is left out, ``tells_texts`` says no text too, and what corrected the requests; empty for nothing."""
    told: JsonObject = {name: True for name in _SWITCHES if getattr(left_out, name)}
    if left_out.images:
        told["images"] = [*sorted(map(_digest, left_out.images))]
    if left_out.fields:
        told["fields"] = [*sorted(left_out.fields)]
    if left_out.texts or tells_texts:
        told[TEXTS] = [*sorted(left_out.texts)]
    if corrections:
        told["corrections"] = [*corrections]
    return json.dumps(told) if told else ""


def _from_json(told: JsonObject, known: LeftOut, messages: Iterable[Message]) -> LeftOut:
    """What was left out beside what is known; images are found again where the messages still hold them."""
    wanted = frozenset(map(as_text, as_list(told.get("images"))))
    images = frozenset(image for image in images_in(messages if wanted else ()) if _digest(image) in wanted)
    return LeftOut(
        all_images=known.all_images or told.get("all_images") is True,
        images=known.images | images,
        fields=known.fields | frozenset(map(as_text, as_list(told.get("fields")))),
        texts=known.texts | frozenset(map(as_text, as_list(told.get(TEXTS)))),
        thinking=known.thinking or told.get("thinking") is True,
        has_bridges=known.has_bridges or told.get("has_bridges") is True,
    )


def _digest(image: ImageBlock) -> str:
    return hashlib.sha256(image.data.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
