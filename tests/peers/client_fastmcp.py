"""The FastMCP client: lists what URL offers and asks for some of it, in a given era.

usage: client_fastmcp.py URL legacy|auto|2026-07-28 [NAME=JSON | prompt:NAME=JSON | resource:URI ..]

Prints one JSON object: {"tools", "prompts", "resources", "results"}: the names and URIs of everything, and a result,
or {"error": code}, for each request. Lists that the server does not have are empty.
"""

import asyncio
import json
import sys

from fastmcp import Client
from mcp import MCPError


async def main(url: str, mode: str, requests: list[str]) -> None:
    async with Client(url, mode=mode) as client:
        answer = {
            "tools": [tool.name for tool in await client.list_tools()],
            "prompts": [prompt.name for prompt in await offered(client.list_prompts)],
            "resources": [str(found.uri) for found in await offered(client.list_resources)],
            "results": [await ask(client, request) for request in requests],
        }
        print(json.dumps(answer))


async def offered(read) -> list:
    try:
        return await read()
    except MCPError as error:
        if error.code == -32601:
            return []
        raise


async def ask(client: Client, request: str) -> dict:
    try:
        if request.startswith("resource:"):
            result = await client.read_resource_mcp(request.removeprefix("resource:"))
        else:
            name, _, arguments = request.partition("=")
            given = json.loads(arguments or "{}")
            if name.startswith("prompt:"):
                result = await client.get_prompt_mcp(name.removeprefix("prompt:"), given)
            else:
                result = await client.call_tool_mcp(name, given)
    except MCPError as error:
        return {"error": error.code}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
