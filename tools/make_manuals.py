#!/usr/bin/env python3
"""Man pages and shell completions from what `sotto help` prints: make_manuals.py SOTTO OUTDIR

The program's own help is the only source, so that a page cannot tell of flags that are gone.
Writes OUTDIR/man/sotto.1, sotto-COMMAND.1 and OUTDIR/completions/{sotto.bash,_sotto,sotto.fish}.
"""

import os
import pathlib
import re
import subprocess
import sys

COMMAND = re.compile(r"^  ([a-z]+) +(\S.*)$")
OPTION = re.compile(r"^ {2,8}(-\S.*?)(?: {2,}(\S.*))?$")
CONTINUATION = re.compile(r"^ {20,}(\S.*)$")
FLAG = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")


class Option:
    def __init__(self, spelling, text):
        self.spelling = spelling  # "-m, --model NAME|PATH"
        self.text = text

    def flags(self):
        """Its spellings, without the name of its value."""
        head = re.split(r" (?=[A-Z\[{<])", self.spelling)[0]
        return FLAG.findall(head)

    def takes_value(self):
        return bool(re.search(r" [A-Z\[{<]", self.spelling))


def run(sotto, *arguments):
    environment = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    return subprocess.run([sotto, *arguments], capture_output=True, text=True, check=True, env=environment).stdout


def commands_of(text):
    body = text.split("commands:", 1)[1]
    return [match.groups() for match in map(COMMAND.match, body.splitlines()) if match]


def parts_of(text):
    """The help as a list of str (lines as they are) and Option."""
    parts = []
    for line in text.rstrip().splitlines():
        option, more = OPTION.match(line), CONTINUATION.match(line)
        if option:
            parts.append(Option(option.group(1), option.group(2) or ""))
        elif more and parts and isinstance(parts[-1], Option):
            parts[-1].text = f"{parts[-1].text} {more.group(1)}".strip()
        else:
            parts.append(line)
    return parts


# Man pages. groff_man(7): a backslash is \e, a leading dot or quote is kept by \&, '-' is \-.


def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))


def man_page(name, version, summary, text, see_also):
    lines = [f'.TH "{name.upper()}" 1 "" "sotto {version}" "User commands"', ".SH NAME",
             f"{roff(name)} \\- {roff(summary)}", ".SH DESCRIPTION"]
    in_block = False

    def block(on):
        nonlocal in_block
        if on != in_block:
            lines.append(".nf" if on else ".fi")
            in_block = on

    for part in parts_of(text):
        if isinstance(part, Option):
            block(False)
            lines += [".TP", f".B {roff(part.spelling)}", roff(part.text) or "\\&"]
        elif re.match(r"^[A-Z][\w ,()-]*:$", part):
            block(False)
            lines.append(f'.SS "{roff(part[:-1])}"')
        elif part:
            block(True)
            lines.append(roff(part))
        elif in_block:
            lines.append(".sp")
    block(False)
    lines += [".SH SEE ALSO", roff(", ".join(f"{page}(1)" for page in see_also if page != name))]
    return "\n".join(lines) + "\n"


# Completions.


def quote(text):
    return "'" + text.replace("'", r"'\''") + "'"


def bash(commands):
    cases = "\n".join(
        f"    {name}) words={quote(' '.join(flag for option in options for flag in option.flags()))} ;;"
        for name, _, options in commands)
    names = " ".join(name for name, _, _ in commands)
    return f"""# bash completion for sotto
_sotto() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "{names} help" -- "$current")
    return
  fi
  case $previous in
    -m|--model) words=$(sotto list --filter installed -q 2>/dev/null) ;;
    *) case ${{COMP_WORDS[1]}} in
    help) words="{names}" ;;
{cases}
    esac ;;
  esac
  if [[ $current == -* || $previous == -m || $previous == --model || ${{COMP_WORDS[1]}} == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -F _sotto sotto
"""


def zsh(commands):
    def spec(option):
        text = option.text.replace("[", "(").replace("]", ")").replace(":", " ")
        value = ":value:_files" if option.takes_value() else ""
        return [quote(f"{flag}[{text}]{value}") for flag in option.flags()]

    listed = "\n".join(f"    {quote(f'{name}:{summary}')}" for name, summary, _ in commands)
    cases = "\n".join(
        f"    {name}) _arguments " + " ".join(word for option in options for word in spec(option)) + " '*:file:_files' ;;"
        for name, _, options in commands)
    return f"""#compdef sotto
_sotto() {{
  local -a commands
  commands=(
{listed}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $command in
{cases}
  esac
}}
_sotto "$@"
"""


def fish(commands):
    lines = ["# fish completion for sotto"]
    for name, summary, options in commands:
        lines.append(f"complete -c sotto -n __fish_use_subcommand -f -a {name} -d {quote(summary)}")
        for option in options:
            words = []
            for flag in option.flags():
                kind = "-l" if flag.startswith("--") else "-s" if len(flag) == 2 else "-o"
                words.append(f"{kind} {flag.lstrip('-')}")
            required = " -r" if option.takes_value() else ""
            lines.append(f"complete -c sotto -n '__fish_seen_subcommand_from {name}' {' '.join(words)}{required}"
                         f" -d {quote(option.text)}")
    return "\n".join(lines) + "\n"


def main():
    sotto, out = sys.argv[1], pathlib.Path(sys.argv[2])
    (out / "man").mkdir(parents=True, exist_ok=True)
    (out / "completions").mkdir(exist_ok=True)
    version = run(sotto, "version").split()[-1]
    top = run(sotto, "help")
    commands, pages = [], ["sotto"]
    for name, summary in commands_of(top):
        text = run(sotto, "help", name)
        options = [part for part in parts_of(text) if isinstance(part, Option) and part.flags()]
        commands.append((name, summary, options))
        pages.append(f"sotto-{name}")
        (out / "man" / f"sotto-{name}.1").write_text(man_page(f"sotto-{name}", version, summary, text, ["sotto"]))
    (out / "man" / "sotto.1").write_text(
        man_page("sotto", version, top.splitlines()[0].removeprefix("sotto: "), "\n".join(top.splitlines()[2:]), pages))
    (out / "completions" / "sotto.bash").write_text(bash(commands))
    (out / "completions" / "_sotto").write_text(zsh(commands))
    (out / "completions" / "sotto.fish").write_text(fish(commands))


if __name__ == "__main__":
    main()
