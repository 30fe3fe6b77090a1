"""The official Python client with a person behind it: calls one tool and answers what it is asked on the way.

usage: client_confirm.py URL legacy|2026-07-28 yes|no|decline|cancel|none NAME=JSON

With `none` the client declares that it answers no questions. Prints one JSON object: {"asked", "result"}: the messages of the
questions, and the result or {"asked", "error": code}.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError
from mcp_types import ElicitResult

ANSWERS = {
    "yes": ElicitResult(action="accept", content={"confirmed": True}),
    "no": ElicitResult(action="accept", content={"confirmed": False}),
    "decline": ElicitResult(action="decline"),
    "cancel": ElicitResult(action="cancel"),
}


async def main(url: str, mode: str, answer: str, request: str) -> None:
    asked = []

    async def person(_context, params) -> ElicitResult:
        asked.append(params.message)
        return ANSWERS[answer]

    name, _, arguments = request.partition("=")
    callback = None if answer == "none" else person
    async with Client(url, mode=mode, elicitation_callback=callback) as client:
        try:
            result = await client.call_tool(name, json.loads(arguments or "{}"))
        except MCPError as error:
            print(json.dumps({"asked": asked, "error": error.code}))
            return
        dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        print(json.dumps({"asked": asked, "result": dumped}))


asyncio.run(main(*sys.argv[1:]))
