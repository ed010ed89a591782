"""Pages of the site that are generated when it is built, and links that leave `docs/`.

MkDocs calls the functions `on_…`, and mkdocstrings the class.

`WINDLASS` names the command whose `--help` becomes the reference of the commands.
"""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import posixpath
import re
import subprocess
from pathlib import Path

import griffe
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/windlass-rs/windlass"
SITE = "https://windlass-rs.github.io/windlass/"
LOG = logging.getLogger("mkdocs.hooks.windlass")

# Browsers start no worker from disk: there, search runs in a frame of the page instead. The theme
# would load a script for this from another host.
WORKER_FROM_HOST = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
WORKER = """<script>
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe"), script = document.createElement("script");
    frame.hidden = true;
    document.body.append(frame);
    this.scope = frame.contentWindow;
    const send = (target, data) =>
      setTimeout(() => target.dispatchEvent(new MessageEvent("message", { data })));
    this.scope.postMessage = data => send(this, data);
    const loaded = new Promise(resolve => script.addEventListener("load", resolve));
    this.postMessage = data => loaded.then(() => send(this.scope, data));
    script.src = url;
    frame.contentDocument.body.append(script);
  }
};
</script>"""

# Files outside `docs/` that are pages of the site.
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}
NOTEBOOKS = {
    f"examples/{path.name}": f"notebooks/{path.stem}.md"
    for path in sorted((ROOT / "examples").glob("*.ipynb"))
}
# Pages of the Python reference: title, sentence and documented names.
PYTHON = {
    "augmenters": ("Augmenters", "Augmentation methods for arrays and batches.",
                   ["ADA", "Mixup", "CMixup", "LocalMixup", "Noise", "FOMA", "CEMS", "SMOTER", "SMOGN",
                    "relevance", "Augmenter"]),
    "tables": ("Tables", "Augmentation of pandas, polars and pyarrow tables.",
               ["augment", "FittedTable", "InputError", "InputTypeError"]),
    "compare": ("Comparisons", "Test whether augmentation helps, and how similar synthetic rows are to real rows.",
                ["compare", "Comparison", "similarity"]),
    "models": ("Models", "Estimators with the interface of scikit-learn.",
               ["AugmentedRegressor", "Regressor", "distill", "AnchorRegressor", "Path"]),
    "torch": ("PyTorch", "Tensors, batches and data loaders.", ["torch"]),
    "clusters": ("Spark and Ray", "Augmentation of distributed tables.", ["spark", "ray"]),
}  # fmt: skip


class Docstrings(griffe.Extension):
    """Show defaults by the docstrings, as the code takes them from the core; no Sphinx roles."""

    def on_object(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", obj.docstring.value)

    def on_class_members(self, *, cls, **_):
        if cls.docstring and "__init__" in cls.members:
            self.defaults(cls.members["__init__"].parameters, cls.docstring)

    def on_function(self, *, func, **_):
        if func.docstring:
            self.defaults(func.parameters, func.docstring)

    def defaults(self, parameters, docstring):
        pattern = re.compile(r"^(\w+) : .*default ([^,\n]+|\(.*\))$", re.MULTILINE)
        text = dict(pattern.findall(docstring.value))
        for parameter in parameters:
            if re.match(r"_?[A-Z_]{2,}", str(parameter.default or "")):
                parameter.default = text.get(parameter.name, "None")


def on_config(config):
    """List the generated pages in the navigation."""
    sections = {
        "Commands": ["reference/commands/index.md"]
        + [f"reference/commands/{name.replace(' ', '-')}.md" for name in commands()],
        "Python": [f"reference/python/{name}.md" for name in PYTHON],
        "Notebooks": list(NOTEBOOKS.values()),
    }

    def fill(items):
        for item in items:
            for title, value in item.items() if isinstance(item, dict) else []:
                if title in sections:
                    item[title] = sections[title]
                elif isinstance(value, list):
                    fill(value)

    fill(config.nav)
    return config


def on_files(files, config):
    """Add the generated pages."""
    for source, page in PAGES.items():
        text = relink((ROOT / source).read_text(), "", posixpath.dirname(page))
        files.append(File.generated(config, page, content=text))
    for source, page in NOTEBOOKS.items():
        text, images = notebook(json.loads((ROOT / source).read_text()), Path(page).stem)
        files.append(File.generated(config, page, content=text))
        for name, content in images.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    for name, text in command_pages().items():
        files.append(File.generated(config, f"reference/commands/{name}.md", content=text))
    for name, (title, about, members) in PYTHON.items():
        text = f"# {title}\n\n{about}\n"
        text += "".join(f"\n::: windlass.{member}\n" for member in members)
        files.append(File.generated(config, f"reference/python/{name}.md", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Point links to files outside `docs/` to the repository."""
    if page.file.generated_by:
        return markdown
    folder = posixpath.dirname(page.file.src_uri)
    return relink(markdown, posixpath.join("docs", folder), folder)


def on_post_page(output, page, config):
    """Send no request to other hosts."""
    if WORKER_FROM_HOST not in output:
        LOG.warning("%s: the theme starts its search in another way", page.file.src_uri)
    return output.replace(WORKER_FROM_HOST, WORKER)


def on_post_template(output_content, template_name, config):
    """The same for pages of the theme."""
    return output_content.replace(WORKER_FROM_HOST, WORKER)


def on_post_build(config):
    """Tell GitHub Pages to serve all files as they are."""
    (Path(config.site_dir) / ".nojekyll").touch()


def relink(text, folder, page_folder):
    """Rewrite relative links of a text in `folder` for a page in `page_folder` of the site."""

    def link(match):
        target, _, anchor = match[1].partition("#")
        if target.startswith(SITE):
            # A page that is generated: repositories do not have it.
            page = target.removeprefix(SITE).replace(".html", ".md")
            target = posixpath.relpath(f"docs/{page}", folder or ".")
        if not target or re.match(r"\w+:", target):
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        page = {**PAGES, **NOTEBOOKS}.get(path)
        if path.startswith("docs/"):
            page = path.removeprefix("docs/")
        anchor = anchor and f"#{anchor}"
        if page:
            return f"]({posixpath.relpath(page, page_folder or '.')}{anchor})"
        if not (ROOT / path).exists():
            LOG.warning("%s: no such file: %s", folder or "README.md", target)
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/main/{path}{anchor})"

    return re.sub(r"\]\(([^()\s]+)\)", link, text)


def notebook(cells, name):
    """Convert a notebook to Markdown and images."""
    parts, images = [], {}
    for cell in cells["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(relink(source, "examples", "notebooks"))
        else:
            parts.append(f"```python\n{source}\n```")
        outputs = cell.get("outputs", [])
        printed = "".join("".join(output.get("text", [])) for output in outputs)
        if printed:
            parts.append(f"```text\n{printed.rstrip()}\n```")
        for data in (output["data"] for output in outputs if "data" in output):
            if "image/png" in data:
                image = f"{name}-{len(images)}.png"
                images[image] = base64.b64decode(data["image/png"])
                parts.append(f"![Plot]({image})")
            elif "text/html" in data:
                # Without pandas' own style, for that of the site.
                table = re.search(r"<table.*</table>", "".join(data["text/html"]), re.DOTALL)[0]
                parts.append(re.sub(r"<(table|tr)[^>]*>", r"<\1>", re.sub(r"\n\s*", "\n", table)))
            else:
                parts.append(f"```text\n{''.join(data['text/plain']).rstrip()}\n```")
    return "\n\n".join(parts) + "\n", images


def run_help(*words):
    """The `--help` of a command, by `WINDLASS` or a binary next to it."""
    name = words[0]
    command = Path(os.environ.get("WINDLASS", "windlass"))
    command = command.with_name(command.name.replace("windlass", name))
    done = subprocess.run([command, *words[1:], "--help"], capture_output=True, text=True)
    return done.stdout


def commands():
    """All commands with their summaries."""
    found = {}
    for program in ("windlass", "windlass-paper"):
        try:
            text = run_help(program)
        except FileNotFoundError:
            if program == "windlass":
                raise
            continue
        listed = text.split("Commands:\n")[1].split("\n\n")[0]
        listed = re.sub(r"\n {8,}", " ", listed)
        for name, about in re.findall(r"^  ([\w-]+) +(.*)$", listed, re.MULTILINE):
            if name != "help":
                found[f"{program} {name}"] = about
    return found


def command_pages():
    """A page for each command, and their index."""
    index = "# Commands\n\n| command | |\n| :-- | :-- |\n"
    pages = {}
    for name, about in commands().items():
        page = name.replace(" ", "-")
        index += f"| [`{name}`]({page}.md) | {plain(about)} |\n"
        pages[page] = command_page(name, run_help(*name.split()))
    footer = run_help("windlass").strip().split("\n\n")[-1]
    pages["index"] = f"{index}\n{plain(footer)}\n" if "Exit codes" in footer else index
    return pages


def plain(text):
    """Escape Markdown markup, except code."""
    parts = text.split("`")
    escaped = [html.escape(part, quote=False) for part in parts[::2]]
    escaped = [re.sub(r"([*_\[\]|])", r"\\\1", part) for part in escaped]
    escaped = [re.sub(r"(?<![\w-])(--[a-z][a-z-]+)", r"`\1`", part) for part in escaped]
    mixed = [f"`{part}`" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(escaped, [*mixed, ""]))


def command_page(name, text):
    """Convert the help of a command to Markdown."""
    out = f"# `{name}`\n"
    for paragraph in re.split(r"\n\n(?=\S)", text.strip()):
        first, _, rest = paragraph.partition("\n")
        if first.startswith("Usage: "):
            out += f"\n```text\n{first.removeprefix('Usage: ')}\n```\n"
        elif first.endswith(":") and re.match(r" {2,6}[-<[]", rest):
            out += f"\n## {first[:-1]}\n{options(rest)}"
        elif first.endswith(":") and re.match(r" +(\$ )?windlass", rest):
            # Long lines are wrapped by the help.
            lines = re.sub(r"\n +(?! |(\$ )?windlass|#)", " ", rest)
            out += f"\n## {first[:-1]}\n\n```sh\n{re.sub('^ +', '', lines, flags=re.M)}\n```\n"
        elif re.search(r"^ ", rest, re.MULTILINE):
            out += f"\n```text\n{paragraph}\n```\n"
        else:
            out += f"\n{plain(paragraph)}\n"
    return out


def options(text):
    """Convert a list of options, on two lines or in two columns."""
    out = ""
    for entry in re.split(r"\n(?= {2,6}[-<[])", text.rstrip()):
        head, _, body = entry.partition("\n")
        head, *about = re.split(r" {2,}", head.strip(), maxsplit=1)
        anchor = re.search(r"--([\w-]+)", head) or re.search(r"([\w-]+)", head)
        out += f"\n#### `{head}` {{ #{anchor[1].lower()} }}\n\n"
        body = "\n".join([*about, *(line.strip() for line in body.split("\n"))])
        body = re.sub(r"\n(?=- )", "\n\n", body)
        blocks = [re.sub(r"\s*\n\s*", " ", block) for block in re.split(r"\n\n+", body.strip())]
        for block in filter(None, blocks):
            if item := re.match(r"- ([^:]+)(?::\s+(.*))?$", block):
                out += f"* `{item[1]}`{': ' + plain(item[2]) if item[2] else ''}\n"
            elif values := re.match(r"\[(default|possible values): (.*)\]$", block):
                values = values[1].capitalize(), values[2].replace(", ", "`, `")
                out += f"\n{values[0]}: `{values[1]}`\n\n"
            else:
                out += f"\n{plain(block)}\n\n"
    return out
