"""A FastMCP server with a tool, a resource and a prompt.

usage: server_fastmcp.py stdio | server_fastmcp.py http PORT   (http serves at /mcp on 127.0.0.1)
"""

import sys

from fastmcp import Context, FastMCP

server = FastMCP("fastmcp-peer", instructions="A server of the tests.")


@server.tool
def multiply(a: int, b: int) -> int:
    """Multiply two integers."""
    return a * b


@server.tool
async def slow_steps(steps: int, context: Context) -> str:
    """Report progress for each step, then finish."""
    for step in range(steps):
        await context.report_progress(step + 1, steps)
    return f"{steps} steps"


@server.resource("peer://greeting")
def greeting() -> str:
    """A greeting."""
    return "hello from FastMCP"


@server.prompt
def summarize(text: str) -> str:
    """Ask for a summary."""
    return f"Summarize: {text}"


if sys.argv[1] == "stdio":
    server.run(transport="stdio", show_banner=False)
else:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
