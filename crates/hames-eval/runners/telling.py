"""What the runners have in common: their arguments, two tools, and the lines they print.

A line is a JSON object: `start`, `thought`, `turn` (text, calls, usage), `result` (of a call),
`total` (usage, cost), `end`, `error`, `missing`.
"""

import argparse
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

SYSTEM = (
    "You are a coding agent in a repository, the current folder. Use bash to look, to edit files "
    "and to run tests. When the work is done, say so without a call."
)
WEATHER_PROMPT = "北京今天几度？"
MOST = 16_000


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="gpt-5-mini")
    parser.add_argument("--max-turns", type=int, default=100)
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--demo", choices=["weather"])
    asked = parser.parse_args()
    asked.prompt = WEATHER_PROMPT if asked.demo else sys.stdin.read()
    return asked


def say(kind, **fields):
    print(json.dumps({"type": kind, **fields}, ensure_ascii=False), flush=True)


def start(framework, package, model):
    try:
        say("start", framework=framework, version=version(package), model=model)
    except PackageNotFoundError:
        say("start", framework=framework, version=None, model=model)


def missing(framework, error, install):
    message = f"{framework} is not installed for {sys.executable}: {error}; {install}"
    say("missing", message=message)
    print(message, file=sys.stderr)
    sys.exit(3)


def bash(command: str) -> str:
    """Run a shell command in the repository and return its output and exit code."""
    try:
        ended = subprocess.run(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
        )
    except subprocess.TimeoutExpired:
        return "ended after 300 seconds (exit code 124)"
    text = ended.stdout.decode(errors="replace")
    if len(text) > MOST:
        text = f"{text[: MOST // 2]}\n… {len(text) - MOST} characters left out …\n{text[-MOST // 2 :]}"
    return f"{text}(exit code {ended.returncode})"


def get_weather(city: str) -> str:
    """查天气"""
    return f"{city} 25°C 晴"


def tools(asked):
    return [get_weather] if asked.demo else [bash]


def failed(text):
    """Whether an answer of `bash` is one of a command that did not succeed."""
    return "(exit code " in text and not text.endswith("(exit code 0)")
