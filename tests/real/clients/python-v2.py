"""The Python SDK 2 as a client, both eras; ../README.md states the contract.

Without --era it does what it does by itself: it tries server/discover, then initialize.
"""

import argparse
import json
import os
import sys

import anyio
from mcp import Client, Implementation, MCPError, StdioServerParameters

READ_TIMEOUT_SECONDS = 60


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?")
    parser.add_argument("--era", choices=["legacy", "modern"])
    parser.add_argument("--stdio", nargs=argparse.REMAINDER, metavar="CMD")
    arguments = parser.parse_args()
    if bool(arguments.url) == bool(arguments.stdio):
        parser.error("give a URL, or --stdio and a command")
    arguments.commands = json.load(sys.stdin)
    for command in arguments.commands:
        if command["op"] not in OPERATIONS:
            parser.error(f"unknown op {command['op']!r}")
    return arguments


def new_client(arguments: argparse.Namespace) -> Client:
    target = arguments.url
    if arguments.stdio:
        command, *rest = arguments.stdio
        target = StdioServerParameters(command=command, args=rest, env=dict(os.environ))
    return Client(
        target,
        client_info=Implementation(name="portreeve-tests-python-v2", version="1.0.0"),
        mode="legacy" if arguments.era == "legacy" else "auto",
        read_timeout_seconds=READ_TIMEOUT_SECONDS,
    )


def plain(model) -> dict | None:
    """What the peer sent, as far as the SDK's types keep it."""
    return model and model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def initialize(client: Client, _command: dict) -> dict:
    result = {
        "protocolVersion": client.protocol_version,
        "serverInfo": plain(client.server_info),
        "capabilities": plain(client.server_capabilities),
        "instructions": client.instructions,
    }
    return {"result": result}


async def list_tools(client: Client, _command: dict) -> dict:
    tools, pages, cursor = [], 0, None
    while True:
        # "refresh": a command always asks the server, whatever the last listing's ttlMs.
        page = plain(await client.list_tools(cursor=cursor, cache_mode="refresh"))
        tools += page["tools"]
        pages += 1
        cursor = page.get("nextCursor")
        if cursor is None:
            return {"result": {**page, "tools": tools}, "pages": pages}


async def call(client: Client, command: dict) -> dict:
    heard = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        fields = {"progress": progress, "total": total, "message": message}
        heard.append({key: value for key, value in fields.items() if value is not None})

    wanted = command.get("progress", False)
    result = await client.call_tool(
        command["name"],
        command.get("arguments"),
        progress_callback=on_progress if wanted else None,
    )
    return {"result": plain(result), **({"progress": heard} if wanted else {})}


OPERATIONS = {"initialize": initialize, "list": list_tools, "call": call}


def describe(error: BaseException) -> dict:
    """The code is a JSON-RPC code where the peer or the SDK gave one, else null."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return {"code": error.code, "message": error.message, "data": error.data}
    return {"code": None, "message": f"{type(error).__name__}: {error}", "data": None}


async def answer_all(arguments: argparse.Namespace) -> list[dict]:
    """One entry per command, in order; a command that fails does not stop the next."""
    results = []
    try:
        async with new_client(arguments) as client:
            if arguments.era == "modern" and client.session.discover_result is None:
                raise RuntimeError(f"the server negotiated {client.protocol_version}")
            for command in arguments.commands:
                try:
                    answer = await OPERATIONS[command["op"]](client, command)
                except Exception as error:
                    answer = {"error": describe(error)}
                results.append({"op": command["op"], **answer})
    except Exception as error:
        # No connection, or one that ended badly: what is left unanswered ends with it.
        left = arguments.commands[len(results) :]
        results += [{"op": command["op"], "error": describe(error)} for command in left]
    return results


if __name__ == "__main__":
    print(json.dumps(anyio.run(answer_all, parse_arguments())))
