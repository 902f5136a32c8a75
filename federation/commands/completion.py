"""`causeway completion`: the script by which a shell completes commands and options with the Tab key."""

import click
from click.shell_completion import get_completion_class

from federation.commands.answers import answer, json_option

SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "causeway", "_CAUSEWAY_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
@click.pass_context
def completion(context: click.Context, shell: str, as_json: bool) -> None:
    """Print a script that has a shell complete commands and options with the Tab key.

    \b
    bash:  eval "$(causeway completion bash)"       in ~/.bashrc
    zsh:   eval "$(causeway completion zsh)"        in ~/.zshrc
    fish:  causeway completion fish > ~/.config/fish/completions/causeway.fish
    """
    found = get_completion_class(shell)
    assert found is not None, shell
    script = found(context.find_root().command, {}, PROGRAM, VARIABLE).source()
    answer({"shell": shell, "script": script}, as_json, lambda: click.echo(script))
