"""The official Python client in the legacy era: calls one tool, and goes on by itself where its connection is lost.

usage: client_resume.py URL NAME JSON

Prints {"progress": [..], "result": ..}.
"""

import asyncio
import json
import sys

from mcp import Client


async def main(url: str, name: str, given: str) -> None:
    progress = []

    async def note(step: float, _total: float | None, _message: str | None) -> None:
        progress.append(step)

    async with Client(url, mode="legacy") as client:
        result = await client.call_tool(name, json.loads(given), 60.0, note)
        result = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        print(json.dumps({"progress": progress, "result": result}))


asyncio.run(main(*sys.argv[1:]))
