"""The FastMCP client: lists the tools of URL and calls some of them, in a given era.

usage: client_fastmcp.py URL legacy|auto|2026-07-28 [NAME=JSON ..]

Prints one JSON object: {"tools": [names], "results": [result, ..]}.
"""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str, mode: str, calls: list[str]) -> None:
    async with Client(url, mode=mode) as client:
        tools = [tool.name for tool in await client.list_tools()]
        results = []
        for call in calls:
            name, _, arguments = call.partition("=")
            result = await client.call_tool_mcp(name, json.loads(arguments or "{}"))
            results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        print(json.dumps({"tools": tools, "results": results}))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
