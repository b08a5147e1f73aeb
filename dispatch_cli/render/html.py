"""Documents as a web page: one file, without scripts, readable in light and dark, on paper and on a phone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain

from dispatch_cli import __version__
from dispatch_cli.render.document import (
    Block,
    DrawnPath,
    Excerpt,
    Facts,
    Gap,
    Inline,
    Matrix,
    MatrixCell,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    cells_of,
    indented,
    legend_of,
    lines_of,
    runs_of,
    title_of,
    toned,
)
from dispatch_cli.render.printed import safe
from dispatch_cli.render.svg import DARK, IN_PAGE, LIGHT, drawn
from dispatch_cli.render.text_lines import marked_line


def _colors(names: dict[str, str]) -> str:
    return f":root {{ color-scheme: light dark; {'; '.join(f'--{name}: {color}' for name, color in names.items())} }}"


_STYLE = (
    """
ROOT
@media (prefers-color-scheme: dark) { DARK }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 100rem; padding: 1.5rem; color: var(--text); background: var(--page);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.2rem; margin: 2rem 0 .3rem } h2 { font-size: 1.05rem; margin: 1.5rem 0 .3rem }
main > h1:first-child { margin-top: 0 }
p, dl, pre, blockquote { margin: .2rem 0 } .gap { height: .8rem }
.rows { overflow-x: auto; margin: .3rem 0 } table { border-collapse: collapse; overflow-wrap: normal }
th, td { text-align: left; vertical-align: top; padding: .25rem .9rem .25rem .4rem;
  border-bottom: 1px solid var(--line) }
thead th { position: sticky; top: 0; background: var(--page); white-space: nowrap }
tbody tr:nth-child(even) { background: var(--stripe) } .right { text-align: right; font-variant-numeric: tabular-nums }
td, pre, blockquote { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
td { overflow-wrap: break-word; max-width: 40rem } td:not(.right) { min-width: 10ch }
td:first-child { white-space: nowrap }
pre { overflow-x: auto; padding: .4rem .6rem; background: var(--stripe); border-radius: 6px }
blockquote { border-left: 3px solid var(--bad); padding-left: .8rem }
dl { display: grid; grid-template-columns: fit-content(30%) 1fr; gap: .1rem 1rem }
dd { margin: 0 }
.head { font-weight: 600 } .kernel { color: var(--kernel); font-weight: 600 } .alias { color: var(--alias) }
.fallback { color: var(--fallback) } .warn { color: var(--warn) } .bad { color: var(--bad); font-weight: 600 }
.dim, .place, footer { color: var(--dim) } footer { margin-top: 2rem; font-size: .85rem }
.matrix th, .matrix td { border: 1px solid var(--line); padding: .1rem .4rem; white-space: nowrap }
.matrix thead { display: table-header-group } .matrix thead > * > * { position: static; text-align: center }
.matrix tbody th { font: 13px/1.5 ui-monospace, monospace; position: sticky; left: 0; background: var(--page) }
.matrix tbody tr { background: none } .matrix thead th { vertical-align: bottom }
.matrix thead th[colspan] { text-align: left }
.upright span { writing-mode: vertical-rl; transform: rotate(180deg) }
td.mark { text-align: center; min-width: 2.2em !important }
td.mark[class*=" "] { background: color-mix(in srgb, currentcolor 14%, transparent) } td.mark.dim { background: none }
IN_PAGE
@media (max-width: 40rem) { body { padding: .8rem }
  .list thead { display: none } .list, .list :is(tbody, tr, td) { display: block }
  .list td { border: 0; padding: .05rem .4rem } .list td:empty { display: none } .list td.right { text-align: left }
  .list td:first-child { white-space: normal; font-weight: 600 }
  .list td[data-head]:not(:first-child)::before { content: attr(data-head) ": "; color: var(--dim);
    font-family: system-ui, sans-serif }
  .list tr { border-bottom: 1px solid var(--line); padding: .3rem 0 }
  .matrix tbody th { white-space: normal; max-width: 40vw; overflow-wrap: anywhere } }
@media print { body { max-width: none; padding: 0; font-size: 10pt } td, pre, blockquote { font-size: 8pt }
  .rows, pre { overflow: visible } pre { white-space: pre-wrap } thead th { position: static }
  td:first-child { white-space: normal } tr, dl, pre { break-inside: avoid } }
""".replace("ROOT", _colors(LIGHT))
    .replace("DARK", _colors(DARK))
    .replace("IN_PAGE", IN_PAGE)
)
_TAGS = {
    ParagraphKind.PROSE: "p",
    ParagraphKind.TITLE: "h1",
    ParagraphKind.SECTION: "h2",
    ParagraphKind.CODE: "pre",
    ParagraphKind.QUOTE: "blockquote",
    ParagraphKind.ITEM: "p",
}


MOST_FLAT = 8
"""Columns of a matrix whose heads do not stand upright."""


def html(blocks: Iterable[Block | DrawnPath], title: str) -> Iterator[str]:
    """The whole page. title: what a browser shows in its tab, after what the page is about."""
    remaining = iter(blocks)
    first = next(remaining, Gap())
    if isinstance(first, Paragraph) and first.kind is ParagraphKind.TITLE:
        title = f"{''.join(run.text for run in runs_of(first.inline))} - {title}"
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
    for block in chain((first,), remaining):
        yield from _block(block)
    yield f"</main>\n<footer>dispatch-cli {__version__}</footer>\n</body>\n</html>\n"


def _block(block: Block | DrawnPath) -> Iterator[str]:
    if isinstance(block, Gap):
        yield '<div class="gap"></div>\n'
    elif isinstance(block, TableBlock):
        yield from _table(block)
    elif isinstance(block, Matrix):
        yield from _matrix(block)
    elif isinstance(block, DrawnPath):
        yield f'<div class="rows">{drawn(block)}</div>\n'
    elif isinstance(block, Facts):
        labels = (tuple(toned(run, block.tone) for run in runs_of(row.label)) for row in block.rows)
        pairs = zip(labels, block.rows, strict=True)
        rows = (f"<dt>{_inline(label)}</dt><dd>{_inline(row.inline)}</dd>\n" for label, row in pairs)
        yield f"<dl{_indent(block.indent)}>\n{''.join(rows)}</dl>\n" if block.rows else ""
    else:
        yield _paragraph(marked_line(block) if isinstance(block, Excerpt) else block)


def _paragraph(block: Paragraph) -> str:
    tag = _TAGS[block.kind]
    between = "\n" if block.kind is ParagraphKind.CODE else "<br>"
    mark = "&bull; " if block.kind is ParagraphKind.ITEM else ""
    return f"<{tag}{_indent(block.indent)}>{mark}{_inline(block.inline, between)}</{tag}>\n"


def _indent(columns: int) -> str:
    return f' style="margin-left: {columns / 2:g}em"' if columns else ""


def _inline(inline: Inline, between: str = "<br>") -> str:
    return between.join(map(_line, lines_of(inline)))


def _line(line: Sequence[Run]) -> str:
    columns, runs = indented(line)
    return "&nbsp;" * columns + "".join(map(_run, runs))


def _run(run: Run) -> str:
    escaped = _escaped(run.text).replace("/", "/<wbr>")  # a long path may be broken there
    return escaped if run.tone is Tone.PLAIN else f'<span class="{run.tone.value}">{escaped}</span>'


def _escaped(text: str) -> str:
    return escape(safe(text))


def _table(table: TableBlock) -> Iterator[str]:  # type: ignore[type-arg]
    """The rows; each cell knows its header, which stands before it where the columns have no room beside each other."""
    shown = cells_of(table)
    looks = [' class="right"' if column.right else "" for column in shown.columns]
    headers = [_escaped(column.header) for column in shown.columns]
    heads = "".join(f"<th{look}>{header}</th>" for look, header in zip(looks, headers, strict=True))
    yield f'<div class="rows"{_indent(table.indent)}><table class="list">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n'
    starts = [f'<td{look} data-head="{header}">' for look, header in zip(looks, headers, strict=True)]
    for row in shown.rows:
        cells = (f"{start}{_inline(cell)}</td>" for start, cell in zip(starts, row, strict=True))
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody></table></div>\n"


def _matrix(matrix: Matrix) -> Iterator[str]:
    """Rows and columns of marks, then the legend."""
    corner = f"<th>{_escaped(matrix.corner)}</th>" if matrix.corner else "<td></td>"
    yield '<div class="rows"><table class="matrix">\n<thead>'
    if any(head.group for head in matrix.heads):
        groups = (f'<th colspan="{count}" scope="colgroup">{_escaped(name)}</th>' for name, count in matrix.groups)
        yield f"<tr><td></td>{''.join(groups)}</tr>\n"
    look = ' class="upright"' if len(matrix.heads) > MOST_FLAT else ""
    heads = (f'<th scope="col"{look}><span>{_escaped(head.name)}</span></th>' for head in matrix.heads)
    yield f"<tr>{corner}{''.join(heads)}</tr></thead>\n<tbody>\n"
    for row in matrix.rows:
        cells = "".join(map(_cell, row.cells))
        yield f'<tr><th scope="row">{_escaped(row.label)}</th>{cells}</tr>\n'
    yield "</tbody></table></div>\n"
    yield from map(_paragraph, legend_of(matrix))


def _cell(cell: MatrixCell) -> str:
    """A cell in the colour of its first mark; what it means, or what there is to say of it, is its title."""
    if not cell.marks:
        return "<td></td>"
    tone = cell.marks[0].tone
    look = "mark" if tone is Tone.PLAIN else f"mark {tone.value}"
    text = "".join(_run(Run(mark.text, Tone.PLAIN if mark.tone is tone else mark.tone)) for mark in cell.marks)
    return f'<td class="{look}" title="{_escaped(title_of(cell))}">{text}</td>'
