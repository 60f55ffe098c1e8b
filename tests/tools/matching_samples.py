"""Small files of several languages, each with one block to replace, for the tests of edit matching."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    name: str
    content: str
    old: str
    new: str

    @property
    def result(self) -> str:
        before, after = self.content.split(self.old)
        return before + self.new + after


PYTHON = Sample(
    name="python",
    content=(
        "class Basket:\n    def __init__(self):\n        self.items = []\n\n    def add(self, item, count=1):\n"
        "        if count < 1:\n            raise ValueError(count)\n\n        for _ in range(count):\n"
        "            self.items.append(item)\n        return self\n"
    ),
    old="        if count < 1:\n            raise ValueError(count)\n\n        for _ in range(count):\n",
    new=(
        "        if count < 1 or not item:\n            raise ValueError((item, count))\n\n"
        "        for _ in range(count):\n            log(item)\n"
    ),
)
JAVASCRIPT = Sample(
    name="javascript",
    content=(
        "export class Cache {\n  constructor() {\n    this.map = new Map();\n  }\n\n  get(key) {\n"
        "    const hit = this.map.get(key);\n    if (!hit) {\n      return null;\n    }\n"
        "    return hit.value;\n  }\n}\n"
    ),
    old="    if (!hit) {\n      return null;\n    }\n",
    new="    if (!hit || hit.expired) {\n      this.map.delete(key);\n      return null;\n    }\n",
)
GO = Sample(
    name="go",
    content=(
        "package main\n\nfunc Sum(values []int) int {\n\ttotal := 0\n\tfor _, v := range values {\n\t\tif v > 0 {\n"
        "\t\t\ttotal += v\n\t\t}\n\t}\n\treturn total\n}\n"
    ),
    old="\tfor _, v := range values {\n\t\tif v > 0 {\n\t\t\ttotal += v\n\t\t}\n\t}\n",
    new="\tfor i, v := range values {\n\t\tif v > 0 {\n\t\t\ttotal += v * i\n\t\t}\n\t}\n\ttotal++\n",
)
YAML = Sample(
    name="yaml",
    content=(
        "services:\n  web:\n    image: nginx\n    ports:\n      - 80:80\n      - 443:443\n  db:\n    image: postgres\n"
        "    volumes:\n      - data:/var\nvolumes:\n  data: {}\n"
    ),
    old="    image: nginx\n    ports:\n      - 80:80\n      - 443:443\n",
    new="    image: nginx:1.27\n    ports:\n      - 8080:80\n      - 443:443\n    restart: always\n",
)
C = Sample(
    name="c",
    content=(
        "#include <stdio.h>\n\nint count(const char *s, char c)\n{\n    int n = 0;\n    while (*s) {\n"
        "        if (*s == c)\n            n++;\n        s++;\n    }\n    return n;\n}\n"
    ),
    old="    while (*s) {\n        if (*s == c)\n            n++;\n        s++;\n    }\n",
    new="    while (*s) {\n        if (*s == c && n < MAX)\n            n++;\n        ++s;\n    }\n",
)
INI = Sample(
    name="ini",
    content="[core]\nlevel = 3\nmode = fast\n\n[net]\nhost = a.example\nport = 80\n; the end\n",
    old="host = a.example\nport = 80\n",
    new="host = b.example\nport = 8080\ntls = yes\n",
)
MAKEFILE = Sample(
    name="makefile",
    content="all: build test\n\nbuild:\n\tcc -o app app.c\n\tstrip app\n\ntest:\n\t./app --check\n",
    old="\tcc -o app app.c\n\tstrip app\n",
    new="\tcc -O2 -o app app.c\n\tstrip app\n\tls -l app\n",
)
MARKDOWN = Sample(
    name="markdown",
    content="# Title\n\nSome text with **bold** words.\n\n- one\n  - one a\n  - one b\n- two\n\nThe `end`.\n",
    old="- one\n  - one a\n  - one b\n- two\n",
    new="- one\n  - one a\n  - one c\n- two\n- three\n",
)
MINIFIED = Sample(
    name="json",
    content='{"a":{"b":[1,2,3],"c":null},"d":"x y","e":[{"f":1},{"f":2}]}\n',
    old='"b":[1,2,3],"c":null',
    new='"b":[1,2,3,4],"c":{}',
)

SAMPLES = (PYTHON, JAVASCRIPT, GO, YAML, C, INI, MAKEFILE, MARKDOWN, MINIFIED)
INDENTED = (PYTHON, JAVASCRIPT, GO, YAML, C, MAKEFILE)
BLOCKS = (*INDENTED, INI, MARKDOWN)
