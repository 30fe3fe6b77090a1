"""A FastMCP server whose tools do several things, as their argument `action` says."""

import enum
from typing import Literal

from fastmcp import FastMCP

mcp = FastMCP("tracker")


class Change(enum.Enum):
    """What may become of a pull request."""

    MERGE = "merge"
    CLOSE = "close_pull"
    REOPEN = "reopen"


@mcp.tool(tags={"issues"})
def issues(action: Literal["list", "delete_issue"], number: int = 0) -> str:
    """Works on issues."""
    return f"issues {action} {number}"


@mcp.tool(tags={"pulls"})
def pulls(action: Change, number: int) -> str:
    """Works on pull requests."""
    return f"pulls {action.value} {number}"


@mcp.tool(tags={"pulls"})
def reopen(number: int) -> str:
    """Opens a pull request again, as the action of that name does."""
    return f"reopen {number}"


@mcp.tool(tags={"admin"})
def wipe() -> str:
    """Deletes everything."""
    return "wiped"


@mcp.tool(tags={"wiki-pages"})
def page() -> str:
    """Reads a page."""
    return "page"


mcp.run(transport="stdio", show_banner=False)
