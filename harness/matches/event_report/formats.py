"""An event as a page, as Markdown and as CSV, with the same tables in each.

Names, messages and transcripts may be any text, so all of it is escaped. The page contains its
style sheet, script and games, and allows nothing else to be loaded or run.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from harness.figures import csv_text, duration, number

from .charts import Bar, Range, columns, ranges
from .event import Event
from .tables import ValueTable


def page(template: str, **values: Any) -> str:
    """Render a template of ``harness`` as a page that needs no other file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    report = files("harness.matches.event_report")
    style, script = ((report / name).read_text("utf-8") for name in ("page.css", "page.js"))
    return environment.get_template(template).render(
        style=Markup(style),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        **values,
    )


def as_html(event: Event) -> str:
    """Return a page that needs no other file."""
    # By the key of their table, each after its caption.
    charts = {"spreads": _histograms(event.spreads), "scores": [("", _boxes(event.scores))]}
    if event.ratings is not None and any(row[1] is not None for row in event.ratings.rows):
        charts["ratings"] = [("", _whiskers(event.ratings))]
    if event.times is not None:
        charts["times"] = _turn_charts(event.times)
    return page("matches/event_report/page.html", event=event, charts=charts)


def _histograms(sheet: ValueTable) -> list[tuple[str, Markup]]:
    """Draw the number of games by spread, for each side of a table; return each with its side."""
    edges = [row[0] for row in sheet.rows]
    zero = sum(edge < 0 for edge in edges)  # the index of the column that begins at 0
    tick_step = max(len(edges) // 5, 1)  # room for five labels or a few more
    charts = []
    for column, field in enumerate(sheet.fields[1:], start=1):
        bars = [
            Bar(
                number(row[0], 0, sign=True) if (index - zero) % tick_step == 0 else "",
                row[column],
                f"{sheet.fields[0].write(row[0])}: {row[column]:,}",
                below=row[0] < 0,
            )
            for index, row in enumerate(sheet.rows)
        ]
        title = f"{field.head}: games by spread"
        chart = columns(title, bars, lambda count: f"{count:,.0f}", zero=zero, least=1)
        charts.append((field.head, chart))
    return charts


def _turn_charts(sheet: ValueTable) -> list[tuple[str, Markup]]:
    charts = []
    for column, field in enumerate(sheet.fields[1:], start=1):
        bars = [
            Bar(str(row[0]), row[column] or 0.0, f"turn {row[0]}: {field.write(row[column])}")
            for row in sheet.rows
        ]
        title = f"{field.head}: mean time by own turn"
        charts.append((field.head, columns(title, bars, lambda ms: duration(ms) if ms else "0")))
    return charts


def _whiskers(sheet: ValueTable) -> Markup:
    shown = [
        Range(
            texts[0], row[3], row[1], row[4], f"{texts[0]}: {' ± '.join(filter(None, texts[1:3]))}"
        )
        for row, texts in zip(sheet.rows, sheet.texts(), strict=True)
    ]
    title = (
        "Ratings with 95 % intervals"
        if any(row[2] is not None for row in sheet.rows)
        else "Ratings"
    )
    return ranges(title, shown, lambda elo: number(elo, 0, sign=True))


def _boxes(sheet: ValueTable) -> Markup:
    shown = []
    for row, texts in zip(sheet.rows, sheet.texts(), strict=True):
        lowest, lower, median, upper, highest = row[4:]
        label = f"{texts[0]}: {' – '.join(texts[4:])}" if row[1] else texts[0]
        box = (lower, upper) if row[1] else None
        shown.append(Range(texts[0], lowest, median, highest, label, box))
    title = "Scores: lowest, lower quartile, median, upper quartile, highest"
    return ranges(title, shown, lambda score: number(score, 0))


# --- as text ------------------------------------------------------------------------------------

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&$])")


def as_markdown(event: Event) -> str:
    """Return the tables and transcripts as Markdown, with tables in GitHub's syntax."""
    parts = [f"# {_escaped(event.title)}", _escaped(event.summary)]
    parts.append(_markdown_table(("", ""), event.settings))
    if event.match is not None:
        parts.append(_markdown_table(("", ""), event.match.lines))
        parts.append(_markdown_table(("", *event.match.names), event.match.sides))
    for sheet in event.sheets:
        heads = [field.name or field.head for field in sheet.fields]
        parts += [f"## {_escaped(sheet.title)}", _markdown_table(heads, sheet.texts())]
        parts.append(_escaped(sheet.note))
    if event.transcripts:
        parts.append("## What went wrong")
    for transcript in event.transcripts:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", transcript.text)), default=0))
        parts += [f"### {_escaped(transcript.file)}", f"{fence}text\n{transcript.text}\n{fence}"]
    parts.append(_escaped(event.transcripts_note))
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [[_escaped(head) for head in heads], ["---", *["---:"] * (len(heads) - 1)]]
    lines += [[_escaped(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    """Escape what Markdown takes for markup."""
    return _MARKDOWN.sub(r"\\\1", text)


def as_csv(event: Event) -> str:
    """Return all tables in one: a line per value, with its table, row and column."""
    rows: list[tuple[Any, ...]] = [("table", "row", "column", "value")]
    if event.match:
        rows += [("match", *line) for line in _flat(event.match.values)]
    for sheet in event.sheets:
        heads = [field.name or field.head for field in sheet.fields]
        for row in sheet.rows:
            cells = zip(heads[1:], row[1:], strict=True)
            rows += [(sheet.key, row[0], head, cell) for head, cell in cells if cell is not None]
    return csv_text(rows)


def _flat(values: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Return the values of a match as key, column (an end, a side or empty) and value."""
    lines = []
    for key, value in values.items():
        if isinstance(value, list):
            lines += [(key, end, part) for end, part in zip(("low", "high"), value, strict=True)]
        elif isinstance(value, Mapping):
            for side, part in value.items():
                if isinstance(part, Mapping):
                    lines += [(f"{key} {code}", side, count) for code, count in part.items()]
                else:
                    lines.append((key, side, part))
        else:
            lines.append((key, "", value))
    return [line for line in lines if line[2] is not None]
