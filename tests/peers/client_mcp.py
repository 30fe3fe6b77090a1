"""The official Python client: lists the tools of URL and calls some of them, in a given era.

usage: client_mcp.py URL legacy|auto|2026-07-28 [NAME=JSON ..]

Prints one JSON object: {"protocol", "server", "tools": [names], "results": [result, ..]}.
"""

import asyncio
import json
import sys

from mcp import Client


async def main(url: str, mode: str, calls: list[str]) -> None:
    async with Client(url, mode=mode) as client:
        tools, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
        results = []
        for call in calls:
            name, _, arguments = call.partition("=")
            result = await client.call_tool(name, json.loads(arguments or "{}"))
            results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        answer = {
            "protocol": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "tools": tools,
            "results": results,
        }
        print(json.dumps(answer))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
