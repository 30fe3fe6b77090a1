"""The official Python client: lists what URL offers and asks for some of it, in a given era.

usage: client_mcp.py URL|COMMAND legacy|auto|2026-07-28|sse [NAME=JSON | prompt:NAME=JSON | resource:URI ..]

COMMAND is a JSON array: the program and its arguments, which speaks over stdin and stdout. Mode sse is the legacy era over
HTTP+SSE.

Prints one JSON object: {"protocol", "server", "tools", "prompts", "resources", "results"}: the names and URIs of
everything, and a result, or {"error": code}, for each request. Lists that the server does not have are empty.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client


async def main(url: str, mode: str, requests: list[str]) -> None:
    server = url
    if url.startswith("["):
        program, *arguments = json.loads(url)
        server = StdioServerParameters(command=program, args=arguments)
    if mode == "sse":
        server, mode = sse_client(url), "legacy"
    async with Client(server, mode=mode) as client:
        has = client.server_capabilities
        answer = {
            "protocol": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "tools": [tool.name for tool in await pages(client.list_tools, "tools")],
            "prompts": [],
            "resources": [],
            "results": [],
        }
        if has.prompts:
            answer["prompts"] = [prompt.name for prompt in await pages(client.list_prompts, "prompts")]
        if has.resources:
            answer["resources"] = [str(found.uri) for found in await pages(client.list_resources, "resources")]
        for request in requests:
            answer["results"].append(await ask(client, request))
        print(json.dumps(answer))


async def pages(read, member: str) -> list:
    found, cursor = [], None
    while True:
        page = await read(cursor=cursor)
        found += getattr(page, member)
        cursor = page.next_cursor
        if not cursor:
            return found


async def ask(client: Client, request: str) -> dict:
    try:
        if request.startswith("resource:"):
            result = await client.read_resource(request.removeprefix("resource:"))
        else:
            name, _, arguments = request.partition("=")
            given = json.loads(arguments or "{}")
            if name.startswith("prompt:"):
                result = await client.get_prompt(name.removeprefix("prompt:"), given)
            else:
                result = await client.call_tool(name, given)
    except MCPError as error:
        return {"error": error.code}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
