"""A real client that does what it is told, line by line.

usage: client_lines.py mcp|fastmcp URL legacy|auto|2026-07-28 [TOKEN]

Reads {"call": NAME, "arguments": {..}}, {"list": true} or {"about": true} from stdin, and prints one line of JSON for
each: the result of the call or {"error": {"code", "message"}}, the tools, or how it was introduced; before that one line
when it is connected. Ends with stdin.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import fastmcp
import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def official(url: str, mode: str, token: str | None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = httpx2.Timeout(30.0, read=300.0)
    async with httpx2.AsyncClient(headers=headers, timeout=timeout) as http:
        transport = streamable_http_client(url, http_client=http)
        async with mcp.Client(transport, mode=mode, cache=None) as client:
            yield client


@asynccontextmanager
async def of_fastmcp(url: str, mode: str, token: str | None):
    async with fastmcp.Client(url, mode=mode, auth=token) as client:
        yield client


def plain(found) -> dict:
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)


async def call(client, name: str, arguments: dict) -> dict:
    # FastMCP's own `call_tool` raises for results that are errors.
    ask = getattr(client, "call_tool_mcp", None) or client.call_tool
    return plain(await ask(name, arguments))


async def tools(client) -> list:
    if isinstance(client, fastmcp.Client):
        return [plain(tool) for tool in await client.list_tools()]
    found, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        found += [plain(tool) for tool in page.tools]
        cursor = page.next_cursor
        if not cursor:
            return found


def about(client) -> dict:
    if isinstance(client, fastmcp.Client):
        introduced = client.initialize_result
        return plain(introduced) if introduced else {}
    return {
        "protocolVersion": client.protocol_version,
        "capabilities": plain(client.server_capabilities),
        "serverInfo": plain(client.server_info) if client.server_info else None,
        "instructions": client.instructions,
    }


async def answer(client, request: dict):
    try:
        if "call" in request:
            return await call(client, request["call"], request.get("arguments", {}))
        return await tools(client) if "list" in request else about(client)
    except mcp.MCPError as error:
        return {"error": {"code": error.code, "message": error.message}}


async def main(kind: str, url: str, mode: str, token: str | None = None) -> None:
    connect = official if kind == "mcp" else of_fastmcp
    async with connect(url, mode, token) as client:
        print(json.dumps({"connected": True}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await answer(client, json.loads(line))), flush=True)


asyncio.run(main(*sys.argv[1:]))
