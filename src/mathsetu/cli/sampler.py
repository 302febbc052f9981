"""``mathsetu sampler``: the built-in multilingual collection."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from mathsetu.cli import VerbGroup
from mathsetu.cli.output import json_option, print_json, print_table, say
from mathsetu.cli.targets import begins, check_target
from mathsetu.collections import sampler


@click.group("sampler", cls=VerbGroup, invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show the content of the sampler or one of its posts, or export its files."""
    if context.invoked_subcommand is not None:
        return
    posts = list(sampler.posts())
    queries = list(sampler.queries())
    by_language = Counter(post.language for post in posts)
    asked = Counter(query.language for query in queries)
    if as_json:
        print_json(
            {
                "topics": len({post.thread_id for post in posts}),
                "posts": by_language,
                "queries": asked,
                "judgments": sum(1 for _ in sampler.judgments()),
            }
        )
        return
    rows = [(language, by_language[language], asked[language]) for language in by_language]
    rows.append(("all", sum(by_language.values()), sum(asked.values())))
    print_table(("language", "posts", "queries"), rows)


@command.command("show")
@click.argument("post_id")
@json_option
def show(post_id: str, as_json: bool) -> None:
    """Show one post, for example gaussian-integral.hi."""
    for post in sampler.posts():
        if post.id == post_id:
            if as_json:
                print_json(post)
            else:
                say(f"{post.title}\n\n{post.body}", lines=True)
            return
    topics = sorted({post.thread_id for post in sampler.posts()})
    raise click.UsageError(f"no post {post_id!r}; topics: {', '.join(topics)}")


@command.command("export")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
def export(folder: Path, as_json: bool) -> None:
    """Write posts.jsonl, queries.jsonl and judgments.txt into FOLDER."""
    for name in sampler.FILES:
        about = ", and is not of the sampler"
        check_target(folder / name, own=begins(sampler.has_line), about=about)
    written = [str(path) for path in sampler.export(folder)]
    if as_json:
        print_json({"written": written})
    else:
        for path in written:
            say(path)
